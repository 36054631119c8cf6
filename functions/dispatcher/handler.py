"""The tick of one shard → the dispatch stage."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from punctual.aws.clients import sqs
from punctual.aws.lanes import SqsLanes
from punctual.domain import instant
from punctual.runtime import adapters
from punctual.runtime.function import function, logger
from punctual.runtime.settings import DispatcherSettings
from punctual.stages.dispatch import Dispatcher

settings = DispatcherSettings.from_env()
dispatcher = Dispatcher(
    executions=adapters.executions(settings),
    timers=adapters.timers(settings),
    lanes=SqsLanes(settings.queue_urls, sqs),
    doors=adapters.doors(settings),
    clock=instant.now,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    sweep = dispatcher.tick(int(event.get("shard", 0)))
    report = {**asdict(sweep), "behind": sweep.behind.total_seconds()}
    logger.info("swept", extra=report)
    return report
