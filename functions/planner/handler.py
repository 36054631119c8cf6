"""Stream records → the plan stage."""

from __future__ import annotations

from typing import Any

from punctual.aws.checks import SqsChecks
from punctual.aws.clients import scheduler, sqs, states
from punctual.aws.execution_item import item_to_execution
from punctual.aws.job_item import item_to_job
from punctual.aws.lanes import SqsDeadLetters, SqsLanes
from punctual.aws.state_machines import LongStateMachine
from punctual.aws.timers import item_to_timer
from punctual.domain import instant
from punctual.domain.errors import PunctualError
from punctual.domain.execution import Execution
from punctual.runtime import adapters
from punctual.runtime.function import function, logger
from punctual.runtime.settings import PlannerSettings
from punctual.runtime.streams import Change, changes_in, each
from punctual.stages.depend import Gatekeeper, Lookup
from punctual.stages.plan import Planner

settings = PlannerSettings.from_env()
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
jobs, executions, timers = adapters.jobs(settings), adapters.executions(settings), adapters.timers(settings)
planner = Planner(
    jobs=jobs,
    executions=executions,
    timers=timers,
    lanes=SqsLanes(settings.queue_urls, sqs),
    machines=LongStateMachine(
        arn=settings.state_machine_arn,
        schedule_group=settings.schedule_group,
        schedule_role_arn=settings.schedule_role_arn,
        states=states,
        scheduler=scheduler,
    ),
    checks=SqsChecks(settings.checks_queue_url, sqs),
    upstreams=Gatekeeper(
        lookup=Lookup(jobs=jobs, executions=executions),
        executions=executions,
        dependants=adapters.dependants(settings),
        timers=timers,
        clock=instant.now,
    ),
    clock=instant.now,
)

WHAT_MOVES = ("status", "queued_at", "retry_at", "attempt", "revision", "conductor", "restarts")


@function
def handler(event: dict[str, Any], _context: Any) -> None:
    changes = list(changes_in(event))
    _each(changes, settings.jobs_table, _job_changed)
    _each(changes, settings.timers_table, _timer_removed)
    _executions_ready([change for change in changes if change.table == settings.executions_table])


def _each(changes: list[Change], table: str, act: Any) -> list[Any]:
    return each((change for change in changes if change.table == table), act, dead_letters, logger.warning)


def _job_changed(change: Change) -> None:
    if _means_something(change):
        planner.job_changed(item_to_job(change.new or {}))


def _means_something(change: Change) -> bool:
    old, new = change.old or {}, change.new or {}
    return any(old.get(name) != new.get(name) for name in ("revision", "state"))


def _timer_removed(change: Change) -> None:
    if change.old is not None:
        planner.timer_expired(item_to_timer(change.old))


def _executions_ready(changes: list[Change]) -> None:
    """All of a batch at once, for few large requests; one by one when something among them is rotten."""
    changes = [change for change in changes if _has_moved(change)]
    ready = each(changes, _execution, dead_letters, logger.warning)
    try:
        planner.executions_ready(ready)
    except (PunctualError, ValueError, TypeError, KeyError, AssertionError):
        each(
            changes,
            lambda change: planner.executions_ready([_execution(change)]),
            dead_letters,
            logger.warning,
        )


def _has_moved(change: Change) -> bool:
    """A look at its deadline changes an execution that waits, too: that is no reason to send it on its way again."""
    old, new = change.old or {}, change.new or {}
    return any(old.get(name) != new.get(name) for name in WHAT_MOVES)


def _execution(change: Change) -> Execution:
    return item_to_execution(change.new or {})
