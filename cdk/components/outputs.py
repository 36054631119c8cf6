"""The stack's outputs: how to reach what was deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import CfnOutput

if TYPE_CHECKING:
    from cdk.stack import PunctualStack


FUNCTIONS = (
    *("api", "planner", "dispatcher", "worker", "settler", "intake"),
    *("conductor", "reporter", "admission", "reconciler"),
)


def publish(stack: PunctualStack) -> None:
    """Name the API, the users, every table, queue, function and log group, and the pieces of the long lane."""
    queues = stack.queues
    work = {**queues.short, "intake": queues.intake}
    functions = {name: getattr(stack, name).function for name in FUNCTIONS}
    outputs = {
        "ApiUrl": stack.api.http.api_endpoint,
        "ApiId": stack.api.http.api_id,
        "UserPoolId": stack.identity.pool.user_pool_id,
        "UserPoolClientId": stack.identity.client.user_pool_client_id,
        "JobsTable": stack.tables.jobs.table_name,
        "ExecutionsTable": stack.tables.executions.table_name,
        "PartsTable": stack.tables.parts.table_name,
        "TimersTable": stack.tables.timers.table_name,
        "IdempotencyTable": stack.tables.idempotency.table_name,
        "ResultsBucket": stack.results.bucket.bucket_name,
        **{f"{name.title()}QueueUrl": pair.queue.queue_url for name, pair in work.items()},
        **{f"{name.title()}DeadLetterQueueUrl": pair.dead_letters.queue_url for name, pair in work.items()},
        "PlannerDeadLetterQueueUrl": queues.planner_dead_letters.queue_url,
        "SettlerDeadLetterQueueUrl": queues.settler_dead_letters.queue_url,
        "AdmissionDeadLetterQueueUrl": queues.admission_dead_letters.queue_url,
        "Cluster": stack.cluster.name,
        "StateMachineArn": stack.state_machine.resource.state_machine_arn,
        "ScheduleGroup": stack.schedules.name,
        "RunnerLogGroup": stack.runner.log_group.log_group_name,
        **{f"{name.title()}Function": function.resource.function_name for name, function in functions.items()},
        **{f"{name.title()}LogGroup": function.log_group.log_group_name for name, function in functions.items()},
    }
    for name, value in outputs.items():
        CfnOutput(stack, name, value=value)
