"""Work orders → the work stage."""

from __future__ import annotations

import random
import time
import uuid
from typing import Any

from punctual.aws.clients import dynamodb, s3, sqs
from punctual.aws.dynamodb.queue_flows import DynamoFlows
from punctual.aws.dynamodb.table import Table
from punctual.aws.s3.results import S3Results
from punctual.aws.sqs.work_queues import SqsDeadLetters
from punctual.domain import instant
from punctual.domain.errors import Unreadable
from punctual.domain.executions.work_order import read_work_order
from punctual.domain.forecasts.queue_flow import Tally
from punctual.domain.lane import Priority
from punctual.runtime.lambdas import log, wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import WorkerSettings
from punctual.runtime.tasks.registry import Catalog
from punctual.runtime.tasks.runner import TaskRunner
from punctual.stages.run.work import Worker

SETTLING_SECONDS = 15
"""Kept back from the function's own time, to settle what was stopped."""
FIRST_REDELIVERY, LAST_REDELIVERY = 5, 600
"""Seconds. When AWS itself is in trouble, a message comes back this soon, and then less and less often."""

settings = WorkerSettings.from_env()
executions = wiring.executions(settings)
flows = DynamoFlows(Table(settings.signals_table, dynamodb()))
flow = Tally()
worker = Worker(
    executions=executions,
    results=S3Results(settings.results_bucket, s3),
    runner=TaskRunner(executions, Catalog(), instant.now, logger),
    clock=instant.now,
    sleep=time.sleep,
    uniform=random.uniform,
    worker_id=f"lambda-{uuid.uuid4().hex[:12]}",
    flow=flow,
    gatekeeper=wiring.gatekeeper(settings),
)


@function
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    failures = [record for record in event["Records"] if not _carry_out(record, context)]
    flow.tell(flows.add, instant.now(), logger.warning)
    return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in failures]}


def _carry_out(record: dict[str, Any], context: Any) -> bool:
    """Whether the message is done with."""
    try:
        order = read_work_order(record["body"])
    except Unreadable as error:
        _bury(record, str(error))
        return True
    with log.about(job_id=order.job_id, execution_id=order.execution_id, attempt=order.attempt):
        try:
            ending = worker.work(order, lambda: context.get_remaining_time_in_millis() / 1000 - SETTLING_SECONDS)
            logger.info(str(ending))
            return True
        except Exception:
            logger.exception("the order could not be carried out")
            _return_soon(record)
            return False


def _bury(record: dict[str, Any], reason: str) -> None:
    logger.warning("buried a message", extra={"reason": reason})
    dead_letter_queue = settings.dead_letter_queue_urls[_priority(record)]
    SqsDeadLetters(dead_letter_queue, sqs).bury(record["body"], reason)


def _return_soon(record: dict[str, Any]) -> None:
    received = int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))
    sqs().change_message_visibility(
        QueueUrl=settings.queue_urls[_priority(record)],
        ReceiptHandle=record["receiptHandle"],
        VisibilityTimeout=min(FIRST_REDELIVERY * 2 ** min(received - 1, 10), LAST_REDELIVERY),
    )


def _priority(record: dict[str, Any]) -> Priority:
    """Which queue a message came from: an ARN and a URL of one queue end in the same name."""
    name = record["eventSourceARN"].rpartition(":")[2]
    return next(priority for priority, url in settings.queue_urls.items() if url.rpartition("/")[2] == name)
