"""Stream records of executions that ended, or of long ones that are to end → the settle stage."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import dynamodb, sqs
from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.queue_flows import DynamoFlows
from punctual.aws.dynamodb.table import Table
from punctual.aws.sqs.notice_queue import SqsNotices
from punctual.aws.sqs.work_queues import SqsDeadLetters
from punctual.domain import instant
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.queue_flow import LONG, Tally
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, Status
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import SettlerSettings
from punctual.runtime.lambdas.streams import Change, Lag, changes_in, each
from punctual.stages.plan.upstreams import Lookup, Waker
from punctual.stages.settle.after_execution import Settler
from punctual.stages.settle.finish_job import Finish

settings = SettlerSettings.from_env()
jobs, executions = wiring.jobs(settings), wiring.executions(settings)
settler = Settler(
    jobs=jobs,
    executions=executions,
    parts=wiring.parts(settings),
    runs=wiring.runs(settings),
    containers=wiring.containers(settings),
    notices=SqsNotices(settings.notices_queue_url, sqs),
    gatekeeper=wiring.gatekeeper(settings),
    finish=Finish(jobs=jobs, executions=executions, clock=instant.now),
    clock=instant.now,
)
waker = Waker(
    lookup=Lookup(jobs=jobs, executions=executions),
    executions=wiring.held_executions(settings),
    dependants=wiring.dependants(settings),
    clock=instant.now,
)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
lag = Lag()


flows = DynamoFlows(Table(settings.signals_table, dynamodb()))
flow = Tally()


@function
def handler(event: dict[str, Any], _context: Any) -> None:
    lag.look(event)
    each(changes_in(event), _moved, dead_letters, logger.warning)
    flow.tell(flows.add, instant.now(), logger.warning)


def _moved(change: Change) -> None:
    execution = item_to_execution(change.new or {})
    if execution.status in FINAL:
        _ended(execution)
    elif "cancel_at" not in (change.old or {}):
        settler.asked_to_stop(execution)


def _ended(execution: Execution) -> None:
    settler.execution_ended(execution)
    waker.execution_ended(execution)
    if execution.lane is Lane.LONG and execution.started_at and execution.ended_at:
        flow.started(LONG, execution.released_at, execution.started_at)
        succeeded = execution.status is Status.SUCCEEDED
        flow.ended(LONG, execution.ended_at - execution.started_at, succeeded=succeeded)
