"""Task state changes of ECS → the observe stage."""

from __future__ import annotations

import random
from typing import Any

from punctual.aws.clients import s3
from punctual.aws.s3.results import S3Results
from punctual.domain import instant
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function
from punctual.runtime.lambdas.settings import ObserverSettings
from punctual.stages.long_lane.end_part import PartEnder
from punctual.stages.long_lane.execution_sync import ExecutionSync
from punctual.stages.long_lane.observe import Observer

settings = ObserverSettings.from_env()
parts = wiring.parts(settings)
callbacks = wiring.callbacks()
observer = Observer(
    parts=parts,
    sync=ExecutionSync(wiring.long_executions(settings), parts),
    callbacks=callbacks,
    containers=wiring.containers(settings),
    ender=PartEnder(parts, S3Results(settings.results_bucket, s3), callbacks, instant.now, random.uniform),
    clock=instant.now,
)


@function
def handler(event: dict[str, Any], _context: Any) -> None:
    task = event["detail"]
    if task.get("lastStatus") == "RUNNING":
        observer.on_running(task)
    elif task.get("lastStatus") == "STOPPED":
        observer.on_stopped(task)
