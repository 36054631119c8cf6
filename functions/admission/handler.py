"""Stream records of parts, and the tick of every minute → the admission round."""

from __future__ import annotations

import json
import random
import secrets
from typing import Any

from punctual.aws.clients import sqs
from punctual.aws.dynamodb.part_item import item_to_part
from punctual.aws.sqs.dead_letters import SqsDeadLetters
from punctual.domain import instant
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import Part
from punctual.domain.triggers import PARTS, Effect, effect_of
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import AdmissionSettings
from punctual.runtime.lambdas.streams import Change, StreamLag, changes_in, process_each
from punctual.stages.long_lane.admission_round import AdmissionRound
from punctual.stages.long_lane.admit import Admission
from punctual.stages.long_lane.execution_sync import ExecutionSync
from punctual.stages.long_lane.grant import GrantSender
from punctual.stages.long_lane.lease_watch import LeaseWatch

settings = AdmissionSettings.from_env()
task_definitions: dict[str, str] = json.loads(settings.task_definitions)
parts = wiring.parts(settings)
containers, callbacks = wiring.containers(settings), wiring.callbacks()
execution_sync = ExecutionSync(wiring.long_executions(settings), parts)
admission_round = AdmissionRound(
    grants=GrantSender(callbacks, task_definitions, settings.heartbeat_seconds, instant.now),
    executions=execution_sync,
    leases=LeaseWatch(parts, containers, callbacks, parts, instant.now, random.uniform),
    admission=Admission(
        slots=parts,
        containers=containers,
        limits=LaneLimits(
            tasks=settings.long_tasks, cpu=settings.cpu, starts_per_second=settings.long_starts_per_second
        ),
        clock=instant.now,
        new_key=lambda: secrets.token_urlsafe(24),
    ),
)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
lag = StreamLag()


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    lag.record(event)
    changed = process_each(changes_in(event), _changed_part, dead_letters, logger.warning)
    done = admission_round.run([part for part in changed if part is not None], is_tick=event.get("do") == "tick")
    report = {
        "granted": _names(done.granted),
        "preempted": _names(done.preempted),
        "expired": _names(done.expired),
    }
    if any(report.values()):
        logger.info("admission", extra=report)
    return report


def _changed_part(change: Change) -> Part | None:
    if effect_of("admission", PARTS, change.old, change.new) is Effect.ADMIT:
        return item_to_part(change.new or {})
    return None


def _names(some: list[Part]) -> list[str]:
    return [f"{part.execution_id}/{part.name}" for part in some]
