"""Stream records of parts, and the minute's tick → the follow, admit and watch stages."""

from __future__ import annotations

import json
import secrets
from typing import Any

from punctual.aws.clients import sqs
from punctual.aws.dynamodb.part_item import item_to_part
from punctual.aws.sqs.work_queues import SqsDeadLetters
from punctual.domain import instant
from punctual.domain.long_lane.assignment import assignment_of
from punctual.domain.long_lane.container_death import IMPOSSIBLE
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import AdmissionSettings
from punctual.runtime.lambdas.streams import Change, Lag, changes_in, each
from punctual.stages.long_lane.admit import Admission
from punctual.stages.long_lane.execution_sync import Follower
from punctual.stages.long_lane.lease_watch import Watch

RUNNER_COMMAND = ["python", "-m", "punctual.runtime.container.main"]
SETTLING_SECONDS = 60
"""Beyond a task's own time-out, which its runner keeps: for the container to come up and to say how it ended."""
SILENCE_SECONDS = 300
"""Longer than any container takes to come up. One that falls silent later is found sooner, by its lease."""

settings = AdmissionSettings.from_env()
task_definitions: dict[str, str] = json.loads(settings.task_definitions)
parts = wiring.parts(settings)
containers, callbacks = wiring.containers(settings), wiring.callbacks()
follower = Follower(wiring.long_executions(settings), parts)
watch = Watch(parts, containers, callbacks, instant.now)
admission = Admission(
    slots=parts,
    containers=containers,
    limits=LaneLimits(
        tasks=settings.long_tasks, cpu=settings.long_vcpus * 1024, starts_per_second=settings.long_starts_per_second
    ),
    clock=instant.now,
    new_key=lambda: secrets.token_urlsafe(24),
)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
lag = Lag()


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    lag.look(event)
    changed = each(changes_in(event), _part, dead_letters, logger.warning)
    for part in changed:
        if part.status is Status.STARTING and part.ticket:
            _send_grant(part)
    follower.parts_changed(changed)
    lapsed = watch.tick() if event.get("do") == "tick" else []
    report = {
        "granted": _names(admission.admit(part for part in changed if part.status is Status.WAITING)),
        "asked_to_leave": _names(admission.make_room()),
        "lapsed": _names(lapsed),
    }
    if any(report.values()):
        logger.info("admission", extra=report)
    return report


def _send_grant(part: Part) -> None:
    """Coming again changes nothing. One that can never be carried out fails there, and holds up nobody here."""
    assert part.ticket is not None
    if part.image in task_definitions:
        callbacks.succeed(part.ticket, grant(part))
    else:
        callbacks.fail(part.ticket, IMPOSSIBLE, f"the image {part.image!r} is no longer among the stack's settings")


def grant(part: Part) -> dict[str, Any]:
    """What a state machine needs to start a container for ``part``."""
    seconds = part.timeout_seconds + SETTLING_SECONDS
    start_at = part.start_at or instant.now()
    return {
        "attempt": part.attempt,
        "task_definition": task_definitions[part.image],
        "capacity": [{"CapacityProvider": "FARGATE_SPOT" if part.spot else "FARGATE", "Weight": 1}],
        "cpu": str(part.cpu),
        "memory": str(part.memory_mb),
        "command": list(part.command) if part.image else RUNNER_COMMAND,
        "order": assignment_of(part).to_text(),
        "start_at": instant.to_text(start_at),
        "timeout_seconds": seconds + SILENCE_SECONDS,
        # an own image does not beat
        "heartbeat_seconds": max(SILENCE_SECONDS, 3 * settings.heartbeat_seconds)
        if part.reports
        else seconds + SILENCE_SECONDS - 1,
    }


def _part(change: Change) -> Part:
    return item_to_part(change.new or {})


def _names(some: list[Part]) -> list[str]:
    return [f"{part.execution_id}/{part.name}" for part in some]
