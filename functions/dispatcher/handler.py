"""The tick of one shard → the dispatch stage."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from punctual.aws.clients import client
from punctual.aws.executions import DynamoExecutions
from punctual.aws.lanes import SqsLanes
from punctual.aws.table import Table
from punctual.aws.timers import DynamoTimers
from punctual.domain import instant
from punctual.runtime.function import function, logger
from punctual.runtime.settings import DispatcherSettings
from punctual.stages.dispatch import Dispatcher

settings = DispatcherSettings.from_env()
dynamodb = client("dynamodb")
dispatcher = Dispatcher(
    executions=DynamoExecutions(Table(settings.executions_table, dynamodb), settings.timer_shards, settings.retention),
    timers=DynamoTimers(Table(settings.timers_table, dynamodb), settings.timer_shards),
    lanes=SqsLanes(settings.queue_urls, client("sqs")),
    clock=instant.now,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    sweep = dispatcher.tick(int(event.get("shard", 0)))
    report = {**asdict(sweep), "behind": sweep.behind.total_seconds()}
    logger.info("swept", extra=report)
    return report
