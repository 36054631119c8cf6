"""Lambda handler of the dispatcher: one of the ticks of a minute."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import punctual.runtime.lambdas.cold_start  # noqa: F401
from punctual.aws.clients import sqs
from punctual.aws.sqs.work_queues import SqsWorkQueues
from punctual.domain import instant
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import DispatcherSettings
from punctual.stages.dispatch.start_checks import StartChecks
from punctual.stages.dispatch.sweep import Dispatcher

settings = DispatcherSettings.from_env()
executions = wiring.executions(settings)
work_queues = SqsWorkQueues(settings.queue_urls, sqs)
dispatcher = Dispatcher(
    executions=executions,
    timers=wiring.timers(settings),
    work_queues=work_queues,
    gatekeeper=wiring.gatekeeper(settings),
    start_checks=StartChecks(executions, wiring.jobs(settings), work_queues, instant.now),
    shards=wiring.shards(settings),
    clock=instant.now,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    sweep = dispatcher.tick(int(event.get("shard", 0)), int(event.get("shards", settings.timer_shards)))
    report = {**asdict(sweep), "behind": sweep.behind.total_seconds()}
    logger.info("swept", extra=report)
    return report
