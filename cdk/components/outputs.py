"""The outputs of the stack: names and addresses of the deployed resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import CfnOutput

if TYPE_CHECKING:
    from cdk.stack import PunctualStack


def publish(stack: PunctualStack) -> None:
    """Add an output for the API, the user pool, each table, queue, topic, function and log group, and the long lane."""
    queues, functions = stack.queues, stack.functions
    outputs = {
        "ApiUrl": stack.api.http.api_endpoint,
        "ApiId": stack.api.http.api_id,
        "ConsoleUrl": f"{stack.api.http.api_endpoint}/console",
        "ConsoleClientId": stack.api.console_client.user_pool_client_id,
        "UserPoolId": stack.identity.pool.user_pool_id,
        "UserPoolClientId": stack.identity.client.user_pool_client_id,
        "JobsTable": stack.tables.jobs.resource.table_name,
        "RevisionsTable": stack.tables.revisions.resource.table_name,
        "ExecutionsTable": stack.tables.executions.resource.table_name,
        "PartsTable": stack.tables.parts.resource.table_name,
        "TimersTable": stack.tables.timers.resource.table_name,
        "GatesTable": stack.tables.gates.resource.table_name,
        "LogsTable": stack.tables.logs.resource.table_name,
        "StatisticsTable": stack.tables.statistics.resource.table_name,
        "SignalsTable": stack.tables.signals.resource.table_name,
        "OperationsTable": stack.tables.operations.resource.table_name,
        "IdempotencyTable": stack.tables.idempotency.resource.table_name,
        "ResultsBucket": stack.results.bucket.bucket_name,
        **{f"{name.title()}QueueUrl": pair.queue.resource.queue_url for name, pair in queues.all_work.items()},
        **{
            f"{name.title()}DeadLetterQueueUrl": queue.resource.queue_url for name, queue in queues.dead_letters.items()
        },
        "PageTopicArn": stack.topics.page.topic_arn,
        "NoticeTopicArn": stack.topics.notice.topic_arn,
        "NotifierRoleArn": stack.notifier.function.role.role_arn,
        "Dashboard": stack.dashboard.name,
        **(stack.long_lane.outputs if stack.long_lane else {}),
        **{f"{name.title()}Function": function.resource.function_name for name, function in functions.items()},
        **{f"{name.title()}LogGroup": function.log_group.log_group_name for name, function in functions.items()},
    }
    for name, value in outputs.items():
        CfnOutput(stack, name, value=value)
