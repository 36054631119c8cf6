"""Stream records → the plan and forward stages."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import scheduler, sqs, states
from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.job_item import item_to_job
from punctual.aws.dynamodb.timers import item_to_timer
from punctual.aws.sqs.deadline_checks import SqsChecks
from punctual.aws.sqs.work_queues import SqsDeadLetters, SqsLanes
from punctual.aws.step_functions.long_runs import LongStateMachine
from punctual.domain import instant
from punctual.domain.errors import PunctualError
from punctual.domain.executions.execution import Execution
from punctual.domain.status import Status
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import PlannerSettings
from punctual.runtime.lambdas.streams import Change, Lag, changes_in, each
from punctual.stages.dispatch.send import Forwarder
from punctual.stages.plan.plan import Planner
from punctual.stages.plan.upstreams import HoldBack, Lookup
from punctual.stages.settle.finish_job import Finish

settings = PlannerSettings.from_env()
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
lag = Lag()
jobs, executions, timers = wiring.jobs(settings), wiring.executions(settings), wiring.timers(settings)
gatekeeper = wiring.gatekeeper(settings)
machines = LongStateMachine(
    arn=settings.state_machine_arn,
    schedule_group=settings.schedule_group,
    schedule_role_arn=settings.schedule_role_arn,
    states=states,
    scheduler=scheduler,
)
upstreams = HoldBack(
    lookup=Lookup(jobs=jobs, executions=executions),
    executions=wiring.held_executions(settings),
    dependants=wiring.dependants(settings),
    timers=timers,
    clock=instant.now,
)
planner = Planner(
    jobs=jobs,
    executions=executions,
    timers=timers,
    machines=machines,
    gatekeeper=gatekeeper,
    upstreams=upstreams,
    finish=Finish(jobs=jobs, executions=executions, clock=instant.now),
    clock=instant.now,
)
forwarder = Forwarder(
    plan=planner,
    jobs=jobs,
    executions=executions,
    lanes=SqsLanes(settings.queue_urls, sqs),
    machines=machines,
    checks=SqsChecks(settings.checks_queue_url, sqs),
    gatekeeper=gatekeeper,
    upstreams=upstreams,
    clock=instant.now,
)

WHAT_MOVES = ("status", "queued_at", "retry_at", "attempt", "revision", "run_arn", "restarts", "cancel_at")


@function
def handler(event: dict[str, Any], _context: Any) -> None:
    lag.look(event)
    changes = list(changes_in(event))
    _each(changes, settings.jobs_table, _job_changed)
    _each(changes, settings.timers_table, _timer_removed)
    _executions_ready([change for change in changes if change.table == settings.executions_table])


def _each(changes: list[Change], table: str, act: Any) -> list[Any]:
    return each((change for change in changes if change.table == table), act, dead_letters, logger.warning)


def _job_changed(change: Change) -> None:
    if _means_something(change):
        planner.job_changed(item_to_job(change.new or {}), item_to_job(change.old) if change.old else None)


def _means_something(change: Change) -> bool:
    old, new = change.old or {}, change.new or {}
    return any(old.get(name) != new.get(name) for name in ("revision", "state"))


def _timer_removed(change: Change) -> None:
    if change.old is not None:
        forwarder.timer_expired(item_to_timer(change.old))


def _executions_ready(changes: list[Change]) -> None:
    """All of a batch at once, for few large requests; one by one when something among them is rotten."""
    changes = [change for change in changes if _has_moved(change)]
    try:
        _send_on(changes)
    except (PunctualError, ValueError, TypeError, KeyError, AssertionError):
        each(changes, lambda change: _send_on([change]), dead_letters, logger.warning)


def _send_on(changes: list[Change]) -> None:
    executions = [(item_to_execution(change.new or {}), change) for change in changes]
    forwarder.asked_to_stop(execution for execution, _ in executions if execution.status is Status.RUNNING)
    ready: dict[str, list[Execution]] = {}
    for execution, change in executions:
        if execution.status is not Status.RUNNING:
            ready.setdefault(_how(change), []).append(execution)
    forwarder.executions_ready(**ready)


def _how(change: Change) -> str:
    """How it has become ready: as the planner asks it."""
    old, new = change.old or {}, change.new or {}
    if old.get("revision") != new.get("revision"):
        return "planned"
    return "came_due" if old["status"] == Status.SCHEDULED else "again"


def _has_moved(change: Change) -> bool:
    """A look at its deadline changes an execution that waits, too: that is no reason to send it on its way again."""
    old, new = change.old or {}, change.new or {}
    return any(old.get(name) != new.get(name) for name in WHAT_MOVES)
