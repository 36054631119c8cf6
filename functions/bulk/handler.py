"""Messages of the bulk queue → the process stage: each has one bulk operation continued."""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.aws.clients import sqs
from punctual.aws.sqs.dead_letters import SqsDeadLetters
from punctual.domain import instant
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import BulkSettings
from punctual.stages.api.cancel import Cancel
from punctual.stages.api.dependencies import DependencyChecker
from punctual.stages.api.edit import Edit
from punctual.stages.api.find import Finder
from punctual.stages.api.job_state import JobStateChanger
from punctual.stages.api.rerun import Rerun
from punctual.stages.api.submission import JobBuilder
from punctual.stages.operations.act import Actor
from punctual.stages.operations.process import OperationProcessor
from punctual.stages.plan.upstreams import UpstreamLookup

settings = BulkSettings.from_env()
jobs, executions, catalog = wiring.jobs(settings), wiring.executions(settings), wiring.catalog()
find = Finder(jobs=jobs, executions=executions)
builder = JobBuilder(tasks=catalog, images=settings.images, max_cpu=settings.cpu)
actor = Actor(
    find=find,
    job_state=JobStateChanger(jobs=jobs, executions=executions, clock=instant.now, find=find),
    edit=Edit(
        jobs=jobs,
        revisions=wiring.revisions(settings),
        builder=builder,
        executions=executions,
        dependencies=DependencyChecker(jobs=jobs, clock=instant.now),
        clock=instant.now,
        find=find,
    ),
    rerun=Rerun(
        jobs=jobs,
        executions=executions,
        gates=wiring.gates(settings),
        tasks=catalog,
        builder=builder,
        clock=instant.now,
        find=find,
        upstreams=UpstreamLookup(jobs=jobs, executions=executions),
    ),
    cancel=Cancel(find=find, gatekeeper=wiring.gatekeeper(settings), clock=instant.now),
)
processor = OperationProcessor(
    operations=wiring.operations(settings),
    queue=wiring.operation_queue(settings),
    actor=actor,
    clock=instant.now,
    is_of_aws=lambda error: isinstance(error, ClientError | BotoCoreError),
    warn=logger.exception,
)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    failures = [record["messageId"] for record in event["Records"] if not _is_done(record)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failures]}


def _is_done(record: dict[str, Any]) -> bool:
    """Continue one operation; ``False`` requests the redelivery of the message."""
    try:
        operation_id = _operation_id(record["body"])
        if operation_id is not None:
            outcome = processor.process(operation_id)
            logger.info(str(outcome), extra={"operation_id": operation_id})
        return True
    except Exception:
        logger.exception("operation not continued, will be repeated", extra={"message_id": record["messageId"]})
        return False


def _operation_id(body: str) -> str | None:
    """Parse a message. An unreadable one goes to the dead-letter queue at once: retrying cannot help."""
    try:
        return str(json.loads(body)["operation_id"])
    except (ValueError, KeyError, TypeError) as error:
        logger.warning(f"moved a message to the dead-letter queue: {type(error).__name__}: {error}")
        dead_letters.dead_letter(body, f"not a message about an operation: {type(error).__name__}: {error}")
        return None
