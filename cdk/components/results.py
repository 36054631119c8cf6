"""The S3 bucket for checkpoints, and for results that are too large for their execution's record."""

from aws_cdk import CfnElement, Duration, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.function import Function
from cdk.settings import Settings


class Results(Construct):
    """Private and over TLS only. An object expires after the same retention as the record that points to it."""

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
            removal_policy=settings.removal_policy,
        )
        acknowledge(
            self.bucket,
            "AwsSolutions-S1",
            "Only this stack's functions access the bucket, never a container or a user. They log each access with "
            "its execution. For an audit of the bucket itself, turn on CloudTrail data events.",
        )

    def grant(self, function: Function, *actions: str) -> None:
        """Allow `actions`, such as `GetObject`, on every object, but none on the bucket, and pass the bucket's name."""
        function.allow(*(f"s3:{action}" for action in actions), on=[self.bucket.arn_for_objects("*")])
        function.add_environment({"RESULTS_BUCKET": self.bucket.bucket_name})
        acknowledge(
            function.role,
            f"AwsSolutions-IAM5[Resource::<{self._logical_id}.Arn>/*]",
            "A result or a checkpoint is named after its execution, so its key is not known at deployment.",
        )

    @property
    def _logical_id(self) -> str:
        resource = self.bucket.node.default_child
        assert isinstance(resource, CfnElement)
        return Stack.of(self).get_logical_id(resource)
