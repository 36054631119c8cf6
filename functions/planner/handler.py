"""Stream records → the plan and send stages, routed by the table of triggers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import punctual.runtime.lambdas.cold_start  # noqa: F401
from punctual.aws.clients import sqs
from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.job_item import item_to_job
from punctual.aws.dynamodb.timers import item_to_timer
from punctual.aws.failures import is_temporary
from punctual.aws.sqs.dead_letters import SqsDeadLetters
from punctual.aws.sqs.deadline_checks import SqsChecks
from punctual.aws.sqs.work_queues import SqsWorkQueues
from punctual.domain import instant
from punctual.domain.executions.execution import Execution
from punctual.domain.triggers import EXECUTIONS, JOBS, SENDING, TIMERS, Effect, effect_of
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import PlannerSettings
from punctual.runtime.lambdas.streams import Change, StreamLag, changes_in, process_each
from punctual.stages.dispatch.send import ExecutionSender
from punctual.stages.plan.expire_revisions import RevisionExpirer
from punctual.stages.plan.finish_job import JobFinisher
from punctual.stages.plan.plan import Planner
from punctual.stages.plan.planned_executions import PlannedExecutions
from punctual.stages.plan.upstreams import UpstreamGuard, UpstreamLookup

settings = PlannerSettings.from_env()
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
lag = StreamLag()
jobs, executions, timers = wiring.jobs(settings), wiring.executions(settings), wiring.timers(settings)
gatekeeper = wiring.gatekeeper(settings)
machines = wiring.state_machine_if_any(settings)
upstream_guard = UpstreamGuard(
    lookup=UpstreamLookup(jobs=jobs, executions=executions),
    executions=wiring.held_executions(settings),
    dependants=wiring.dependants(settings),
    timers=timers,
    clock=instant.now,
)
misfire_records = wiring.misfires(settings)
planned = PlannedExecutions(
    executions=executions,
    misfire_records=misfire_records,
    timers=timers,
    machines=machines,
    upstream_guard=upstream_guard,
    clock=instant.now,
)
planner = Planner(
    jobs=jobs,
    executions=executions,
    misfire_records=misfire_records,
    planned=planned,
    gatekeeper=gatekeeper,
    finisher=JobFinisher(jobs=jobs, executions=executions, clock=instant.now),
    clock=instant.now,
)
revision_expirer = RevisionExpirer(wiring.revisions(settings))
sender = ExecutionSender(
    planner=planner,
    planned=planned,
    jobs=jobs,
    executions=executions,
    work_queues=SqsWorkQueues(settings.queue_urls, sqs),
    machines=machines,
    checks=SqsChecks(settings.checks_queue_url, sqs),
    upstream_guard=upstream_guard,
    clock=instant.now,
)

TABLES = {settings.jobs_table: JOBS, settings.executions_table: EXECUTIONS, settings.timers_table: TIMERS}

OF_JOBS = (Effect.PLAN_JOB, Effect.EXPIRE_REVISIONS)


@function
def handler(event: dict[str, Any], _context: Any) -> None:
    lag.record(event)
    changes = [(_effect(change), change) for change in changes_in(event)]
    _process([change for effect, change in changes if effect is Effect.PLAN_JOB], _plan_job)
    _process([change for effect, change in changes if effect in OF_JOBS], _expire_revisions)
    _process([change for effect, change in changes if effect is Effect.CHECK_TIMER], _check_timer)
    _send([change for effect, change in changes if effect in SENDING])


def _effect(change: Change) -> Effect | None:
    return effect_of("planner", TABLES.get(change.table, ""), change.old, change.new)


def _process(changes: list[Change], act: Callable[[Change], None]) -> None:
    process_each(changes, act, dead_letters, logger.warning)


def _plan_job(change: Change) -> None:
    planner.job_changed(item_to_job(change.new or {}), item_to_job(change.old) if change.old else None)


def _expire_revisions(change: Change) -> None:
    item = change.new or {}
    if "expires_at" in item:
        revision_expirer.job_ended(item_to_job(item), item["expires_at"])


def _check_timer(change: Change) -> None:
    if change.old is not None:
        sender.timer_expired(item_to_timer(change.old))


def _send(changes: list[Change]) -> None:
    """Send a whole batch in few large requests; record by record if one of them cannot be processed."""
    try:
        _send_batch(changes)
    except Exception as error:
        if is_temporary(error):
            raise
        _process(changes, lambda change: _send_batch([change]))


def _send_batch(changes: list[Change]) -> None:
    by_effect: dict[Effect, list[Execution]] = {}
    for change in changes:
        if effect := _effect(change):
            by_effect.setdefault(effect, []).append(item_to_execution(change.new or {}))
    sender.stop_requested(by_effect.pop(Effect.SCHEDULE_REVOCATION, ()))
    sender.executions_ready(by_effect)
