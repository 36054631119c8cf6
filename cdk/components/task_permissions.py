"""What tasks may do on AWS, in both lanes: the statements of the stage, except with what Punctual stores."""

from aws_cdk import aws_iam as iam

from cdk.components.queues import Queues
from cdk.components.results import Results
from cdk.components.tables import Tables
from cdk.settings import Settings


def grant_task_permissions(
    role: iam.Role, *, settings: Settings, tables: Tables, results: Results, queues: Queues
) -> None:
    """Allow what the stage's statements allow. Whatever they allow, deny Punctual's own tables, results and queues.

    The intake queue is not denied: a task may send messages to queue jobs, as any producer.
    """
    for statement in settings.tasks.statements:
        statement.add_to(role)
    bucket = results.bucket
    denied = {
        "dynamodb:*": [one for arn in tables.arns for one in (arn, f"{arn}/*")],
        "s3:*": [bucket.bucket_arn, bucket.arn_for_objects("*")],
        "sqs:*": queues.internal_arns,
    }
    for action, arns in denied.items():
        role.add_to_policy(iam.PolicyStatement(effect=iam.Effect.DENY, actions=[action], resources=arns))
