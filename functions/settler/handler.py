"""Stream records of executions that ended, or of long ones that are to end → the settle stage."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import dynamodb, sqs
from punctual.aws.execution_item import item_to_execution
from punctual.aws.flows import DynamoFlows
from punctual.aws.lanes import SqsDeadLetters
from punctual.aws.notice_queue import SqsNotices
from punctual.aws.table import Table
from punctual.domain import instant
from punctual.domain.execution import Execution
from punctual.domain.flow import LONG, Tally
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, Status
from punctual.runtime import adapters, long_lane
from punctual.runtime.function import function, logger
from punctual.runtime.settings import SettlerSettings
from punctual.runtime.streams import Change, Lag, changes_in, each
from punctual.stages.depend import Lookup, Waker
from punctual.stages.finish import Finish
from punctual.stages.settle import Settler

settings = SettlerSettings.from_env()
jobs, executions = adapters.jobs(settings), adapters.executions(settings)
settler = Settler(
    jobs=jobs,
    executions=executions,
    parts=long_lane.parts(settings),
    runs=long_lane.runs(settings),
    containers=long_lane.containers(settings),
    notices=SqsNotices(settings.notices_queue_url, sqs),
    doors=adapters.doors(settings),
    finish=Finish(jobs=jobs, executions=executions, clock=instant.now),
    clock=instant.now,
)
waker = Waker(
    lookup=Lookup(jobs=jobs, executions=executions),
    executions=adapters.held_executions(settings),
    dependants=adapters.dependants(settings),
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
