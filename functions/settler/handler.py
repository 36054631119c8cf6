"""Stream records of executions that ended, or of long executions that are asked to stop → the settle stages."""

from __future__ import annotations

from typing import Any

import punctual.runtime.lambdas.cold_start  # noqa: F401
from punctual.aws.clients import sqs
from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.sqs.dead_letters import SqsDeadLetters
from punctual.aws.sqs.notice_queue import SqsNotices
from punctual.domain import instant
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.queue_flow import FlowCounter
from punctual.domain.triggers import EXECUTIONS, Effect, effect_of
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import SettlerSettings
from punctual.runtime.lambdas.streams import Change, StreamLag, changes_in, process_each, process_together
from punctual.stages.plan.finish_job import JobFinisher
from punctual.stages.plan.upstreams import UpstreamLookup
from punctual.stages.settle.after_execution import Settler
from punctual.stages.settle.count import EndCounter
from punctual.stages.settle.wake_dependants import DependantWaker

settings = SettlerSettings.from_env()
jobs, executions = wiring.jobs(settings), wiring.executions(settings)
flow = FlowCounter()
waker = DependantWaker(
    lookup=UpstreamLookup(jobs=jobs, executions=executions),
    executions=wiring.held_executions(settings),
    dependants=wiring.dependants(settings),
    clock=instant.now,
)
settler = Settler(
    jobs=jobs,
    executions=wiring.long_executions(settings),
    parts=wiring.parts(settings),
    runs=wiring.runs_if_any(settings),
    containers=wiring.containers_if_any(settings),
    notices=SqsNotices(settings.notices_queue_url, sqs),
    gatekeeper=wiring.gatekeeper(settings),
    finisher=JobFinisher(jobs=jobs, executions=executions, clock=instant.now),
    waker=waker,
    flow=flow,
    clock=instant.now,
)
counter = EndCounter(statistics=wiring.counted_statistics(settings), clock=instant.now)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
lag = StreamLag()
flows = wiring.flows(settings)


@function
def handler(event: dict[str, Any], _context: Any) -> None:
    lag.record(event)
    ends = process_each(changes_in(event), _act, dead_letters, logger.warning)
    flow.flush(flows.add, instant.now(), logger.warning)
    process_together([one for one in ends if one], counter.count, dead_letters, logger.warning)


def _act(change: Change) -> tuple[Change, Execution] | None:
    """Follow up on the change. Returns the execution that has ended, if any."""
    effect = effect_of("settler", EXECUTIONS, change.old, change.new)
    if effect is None:
        return None
    execution = item_to_execution(change.new or {})
    if effect is Effect.STOP_CONTAINERS:
        settler.stop_requested(execution)
        return None
    if effect is Effect.FOLLOW_UP:
        settler.execution_ended(execution)
    return change, execution
