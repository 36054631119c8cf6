"""alarms, notifier ─▶ topics ─▶ subscribers: `page` for urgent alerts, `notice` for all others."""

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk.addresses import read_address
from cdk.components.function import Function
from cdk.names import alarm_arns
from cdk.settings import Settings

USE_KEY = ("kms:Decrypt", "kms:GenerateDataKey")
"""What a publisher to an encrypted topic needs."""


class Topics(Construct):
    """Encrypted, TLS only. This stack's alarms may publish, and principals with an IAM permission."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._key = self._encryption_key()
        self.page = self._topic("page", settings.alerts.page)
        self.notice = self._topic("notice", settings.alerts.notice)

    def grant_publish(self, function: Function) -> None:
        """Allow publishing to both topics, and pass their ARNs."""
        for variable, topic in (("PAGE_TOPIC_ARN", self.page), ("NOTICE_TOPIC_ARN", self.notice)):
            function.allow("sns:Publish", on=[topic.topic_arn])
            function.add_environment({variable: topic.topic_arn})
        function.allow(*USE_KEY, on=[self._key.key_arn])

    def _encryption_key(self) -> kms.Key:
        """A key of its own, for a dollar a month: alarms cannot publish to a topic with the key that AWS manages."""
        key = kms.Key(
            self,
            "Key",
            description="Encrypts the alerts of Punctual",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,  # messages are not kept
        )
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsMayPublish",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=list(USE_KEY),
                resources=["*"],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )
        return key

    def _topic(self, name: str, addresses: tuple[str, ...]) -> sns.Topic:
        topic = sns.Topic(
            self,
            name.title(),
            display_name=f"{Stack.of(self).stack_name} {name}",
            enforce_ssl=True,
            master_key=self._key,
        )
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsMayPublish",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={
                    "ArnLike": {"aws:SourceArn": alarm_arns(self)},
                    "StringEquals": {"aws:SourceAccount": Stack.of(self).account},
                },
            )
        )
        for text in addresses:
            address = read_address(f"alerts.{name}", text)
            # The construct id is the address, so that reordering the list needs no new confirmation.
            sns.Subscription(
                topic,
                text,
                topic=topic,
                protocol=sns.SubscriptionProtocol[address.protocol.upper()],
                endpoint=address.endpoint,
            )
        return topic
