"""The hour's tick → the reconcile stage."""

from __future__ import annotations

import random
import time
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from punctual.domain import instant
from punctual.runtime import adapters, long_lane
from punctual.runtime.function import function, logger
from punctual.runtime.settings import ReconcilerSettings
from punctual.stages.reconcile import GRACE, Reconciler

settings = ReconcilerSettings.from_env()
parts = long_lane.parts(settings)
reconciler = Reconciler(
    executions=adapters.long_executions(settings),
    parts=parts,
    slots=parts,
    machines=long_lane.state_machine(settings),
    containers=long_lane.containers(settings),
    callbacks=long_lane.callbacks(),
    clock=instant.now,
    sleep=time.sleep,
    uniform=random.uniform,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """``grace_seconds`` in the event is for whoever knows that nothing is under way, as after a restart."""
    grace = event.get("grace_seconds")
    repairs = asdict(reconciler.reconcile(grace=GRACE if grace is None else timedelta(seconds=grace)))
    logger.info("reconciled", extra=repairs)
    return repairs
