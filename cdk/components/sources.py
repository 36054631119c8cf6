"""What wakes a function: a table's stream or a queue, with the permissions to read just that."""

import json
from collections.abc import Sequence
from typing import Any

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from cdk.components.function import Function

# A stream forgets after 24 hours. An hour before that, what could not be processed goes to the
# dead-letter queue, where it waits for 14 days. Until then it is tried again: an outage loses nothing.
STREAM_RECORD_AGE_SECONDS = 23 * 3600
TRY_UNTIL_TOO_OLD = -1


def read_stream(
    scope: Construct,
    construct_id: str,
    *,
    function: Function,
    table: dynamodb.TableV2,
    dead_letters: sqs.Queue,
    side_by_side: int,
    matching: Sequence[dict[str, Any]],
) -> None:
    """Hand the changes of `table` that match any of `matching` to `function`, in order per key.

    `side_by_side` batches of one shard are handed over at once.
    """
    stream = table.table_stream_arn
    assert stream, f"{table.node.path} has no stream"
    function.allow(
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
        on=[stream],
    )
    function.allow("sqs:SendMessage", on=[dead_letters.queue_arn])
    lambda_.CfnEventSourceMapping(
        scope,
        construct_id,
        function_name=function.resource.function_arn,
        event_source_arn=stream,
        starting_position="TRIM_HORIZON",
        batch_size=100,
        parallelization_factor=side_by_side,
        bisect_batch_on_function_error=True,
        maximum_record_age_in_seconds=STREAM_RECORD_AGE_SECONDS,
        maximum_retry_attempts=TRY_UNTIL_TOO_OLD,
        function_response_types=["ReportBatchItemFailures"],
        filter_criteria=_only(matching),
        destination_config=lambda_.CfnEventSourceMapping.DestinationConfigProperty(
            on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(destination=dead_letters.queue_arn)
        ),
    )


def read_queue(
    scope: Construct,
    construct_id: str,
    *,
    function: Function,
    queue: sqs.Queue,
    batch_size: int,
    concurrency: int,
) -> None:
    """Hand the messages of `queue` to at most `concurrency` instances of `function`."""
    function.allow(
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ReceiveMessage",
        on=[queue.queue_arn],
    )
    lambda_.CfnEventSourceMapping(
        scope,
        construct_id,
        function_name=function.resource.function_arn,
        event_source_arn=queue.queue_arn,
        batch_size=batch_size,
        function_response_types=["ReportBatchItemFailures"],
        scaling_config=lambda_.CfnEventSourceMapping.ScalingConfigProperty(maximum_concurrency=concurrency),
    )


def _only(matching: Sequence[dict[str, Any]]) -> lambda_.CfnEventSourceMapping.FilterCriteriaProperty:
    patterns = [lambda_.CfnEventSourceMapping.FilterProperty(pattern=json.dumps(one)) for one in matching]
    return lambda_.CfnEventSourceMapping.FilterCriteriaProperty(filters=patterns)
