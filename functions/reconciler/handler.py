"""The tick of every half hour → the reconcile stage."""

from __future__ import annotations

import random
import time
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from punctual.domain import instant
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import ReconcilerSettings
from punctual.stages.long_lane.reconcile import GRACE, Reconciler

settings = ReconcilerSettings.from_env()
parts = wiring.parts(settings)
reconciler = Reconciler(
    executions=wiring.long_executions(settings),
    parts=parts,
    slots=parts,
    machines=wiring.state_machine(settings),
    containers=wiring.containers(settings),
    callbacks=wiring.callbacks(),
    clock=instant.now,
    sleep=time.sleep,
    uniform=random.uniform,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """``grace_seconds`` in the event replaces the grace, for a caller that knows that no change is in flight, as after
    a restart of the local stack."""
    grace = event.get("grace_seconds")
    repairs = asdict(reconciler.reconcile(grace=GRACE if grace is None else timedelta(seconds=grace)))
    logger.info("reconciled", extra=repairs)
    return repairs
