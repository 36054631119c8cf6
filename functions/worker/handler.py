"""Lambda handler of the worker: carries out the work orders of an SQS batch."""

from __future__ import annotations

import random
import time
import uuid
from typing import Any

import punctual.runtime.lambdas.cold_start  # noqa: F401
from punctual.aws.clients import s3, sqs, sts
from punctual.aws.s3.results import S3Results
from punctual.aws.task_credentials import TaskCredentials
from punctual.domain import instant
from punctual.domain.errors import Unreadable
from punctual.domain.executions.execution_log import LogChunk
from punctual.domain.executions.work_order import read_work_order
from punctual.domain.forecasts.queue_flow import FlowCounter
from punctual.domain.lane import Priority
from punctual.runtime.lambdas import log, wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import WorkerSettings
from punctual.runtime.tasks.runner import TaskRunner
from punctual.stages.run.work import Worker, delay_of_failed_order

RESERVED_SECONDS = 15
"""Reserved from the function's own time limit, to store the decision on a task that was stopped."""

settings = WorkerSettings.from_env()


def _store_log(execution_id: str, chunk: LogChunk) -> None:
    wiring.execution_logs(settings).store(execution_id, chunk)  # imported with the first line of a task


worker_id = f"lambda-{uuid.uuid4().hex[:12]}"
credentials = TaskCredentials(settings.task_role_arn, worker_id, sts(), instant.now)
executions = wiring.executions(settings)
results = S3Results(settings.results_bucket, s3)
flows = wiring.flows(settings)
flow = FlowCounter()
worker = Worker(
    executions=executions,
    results=results,
    runner=TaskRunner(executions, results, wiring.catalog(), instant.now, logger, _store_log),
    clock=instant.now,
    sleep=time.sleep,
    uniform=random.uniform,
    worker_id=worker_id,
    flow=flow,
    gatekeeper=wiring.gatekeeper(settings),
)


@function
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    failures = [record for record in event["Records"] if not _carry_out(record, context)]
    flow.flush(flows.add, instant.now(), logger.warning)
    return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in failures]}


def _carry_out(record: dict[str, Any], context: Any) -> bool:
    """Carry out the order of one message and return whether the message can be deleted."""
    try:
        order = read_work_order(record["body"])
    except Unreadable as error:
        _dead_letter(record, str(error))
        return True
    with log.about(execution_id=order.execution_id, attempt=order.attempt):
        try:
            credentials.renew()
            outcome = worker.work(order, lambda: context.get_remaining_time_in_millis() / 1000 - RESERVED_SECONDS)
            logger.info(str(outcome))
            return True
        except Exception:
            logger.exception("work order failed; the message is delivered again")
            _delay_redelivery(record)
            return False


def _dead_letter(record: dict[str, Any], reason: str) -> None:
    from punctual.aws.sqs.dead_letters import SqsDeadLetters  # rarely needed

    logger.warning("message moved to the dead-letter queue", extra={"reason": reason})
    dead_letter_queue = settings.dead_letter_queue_urls[_priority(record)]
    SqsDeadLetters(dead_letter_queue, sqs).dead_letter(record["body"], reason)


def _delay_redelivery(record: dict[str, Any]) -> None:
    """Set the visibility timeout of a failed message by exponential backoff."""
    received = int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))
    sqs().change_message_visibility(
        QueueUrl=settings.queue_urls[_priority(record)],
        ReceiptHandle=record["receiptHandle"],
        VisibilityTimeout=int(delay_of_failed_order(received).total_seconds()),
    )


def _priority(record: dict[str, Any]) -> Priority:
    """Return the priority of the queue that a message came from: its ARN and its URL end in the same name."""
    name = record["eventSourceARN"].rpartition(":")[2]
    return next(priority for priority, url in settings.queue_urls.items() if url.rpartition("/")[2] == name)
