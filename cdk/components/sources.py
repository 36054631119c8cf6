"""Event sources of functions: a table's stream or a queue, with the permissions to read exactly that."""

import json
from collections.abc import Sequence
from typing import Any

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cdk.components.function import Function
from cdk.components.queue import Queue, WorkQueue
from cdk.components.table import Table

# A stream keeps records for 24 hours. Lambda retries a failing record for 23 hours, so that an outage loses nothing,
# and then moves it to the dead-letter queue, which keeps it for 14 days.
STREAM_RECORD_AGE_SECONDS = 23 * 3600
RETRY_UNTIL_TOO_OLD = -1


def read_stream(
    scope: Construct,
    construct_id: str,
    *,
    function: Function,
    table: Table,
    dead_letters: Queue,
    side_by_side: int,
    matching: Sequence[dict[str, Any]],
) -> None:
    """Invoke `function` with the changes of `table` that match any of `matching`, in order per key.

    Lambda processes up to `side_by_side` batches of one shard concurrently. The function and the event source mapping
    may send to `dead_letters`.
    """
    stream = table.resource.table_stream_arn
    assert stream, f"{table.resource.node.path} has no stream"
    function.allow(
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
        on=[stream],
    )
    dead_letters.grant(function, "SendMessage")
    lambda_.CfnEventSourceMapping(
        scope,
        construct_id,
        function_name=function.invoked.function_arn,
        event_source_arn=stream,
        starting_position="TRIM_HORIZON",
        batch_size=100,
        parallelization_factor=side_by_side,
        bisect_batch_on_function_error=True,
        maximum_record_age_in_seconds=STREAM_RECORD_AGE_SECONDS,
        maximum_retry_attempts=RETRY_UNTIL_TOO_OLD,
        function_response_types=["ReportBatchItemFailures"],
        filter_criteria=_filter_criteria(matching),
        destination_config=lambda_.CfnEventSourceMapping.DestinationConfigProperty(
            on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(destination=dead_letters.resource.queue_arn)
        ),
    )


def read_queue(
    scope: Construct,
    construct_id: str,
    *,
    function: Function,
    queue: WorkQueue,
    batch_size: int,
    concurrency: int,
) -> None:
    """Invoke `function` with the messages of `queue`, in at most `concurrency` instances at once.

    The function may also send to the dead-letter queue, where it puts unreadable messages.
    """
    arn = queue.queue.resource.queue_arn
    function.allow(
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ReceiveMessage",
        on=[arn],
    )
    queue.dead_letters.grant(function, "SendMessage")
    lambda_.CfnEventSourceMapping(
        scope,
        construct_id,
        function_name=function.invoked.function_arn,
        event_source_arn=arn,
        batch_size=batch_size,
        function_response_types=["ReportBatchItemFailures"],
        scaling_config=lambda_.CfnEventSourceMapping.ScalingConfigProperty(maximum_concurrency=concurrency),
    )


def _filter_criteria(matching: Sequence[dict[str, Any]]) -> lambda_.CfnEventSourceMapping.FilterCriteriaProperty:
    patterns = [lambda_.CfnEventSourceMapping.FilterProperty(pattern=json.dumps(one)) for one in matching]
    return lambda_.CfnEventSourceMapping.FilterCriteriaProperty(filters=patterns)
