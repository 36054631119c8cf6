"""The bucket for results that are too large for their execution's record, and for checkpoints."""

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.function import Function
from cdk.settings import Settings


class Results(Construct):
    """Private, over TLS only; a result leaves together with the record that points to it."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(
                    expiration=Duration.days(settings.retention_days),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
            ],
            removal_policy=RemovalPolicy.RETAIN if settings.keep_data else RemovalPolicy.DESTROY,
        )
        acknowledge(
            self.bucket,
            "AwsSolutions-S1",
            "Only this stack's functions come here, never a container or a person: each access is in their own "
            "logs, with the execution it served. Whoever needs an audit of the bucket itself turns on CloudTrail "
            "data events.",
        )

    def allow(self, function: Function, *actions: str) -> None:
        """Let `function` do `actions` with every object, and with nothing else of the bucket."""
        function.allow(*actions, on=[self.bucket.arn_for_objects("*")])
        bucket = Stack.of(self).get_logical_id(self.bucket.node.default_child)
        acknowledge(
            function.role,
            f"AwsSolutions-IAM5[Resource::<{bucket}.Arn>/*]",
            "A result or a checkpoint is named after its execution, so its key is not known when the stack is "
            "deployed.",
        )
