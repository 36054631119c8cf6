"""alarms, notifier ─▶ topics ─▶ subscribers: `page` for urgent alerts, `notice` for all others."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk.addresses import read_address
from cdk.components.function import Function
from cdk.names import alarm_arns
from cdk.settings import Settings


class Topics(Construct):
    """TLS only. This stack's alarms may publish, and principals with an IAM permission."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.page = self._topic("page", settings.alerts.page)
        self.notice = self._topic("notice", settings.alerts.notice)

    def grant_publish(self, function: Function) -> None:
        """Allow publishing to both topics, and pass their ARNs."""
        for variable, topic in (("PAGE_TOPIC_ARN", self.page), ("NOTICE_TOPIC_ARN", self.notice)):
            function.allow("sns:Publish", on=[topic.topic_arn])
            function.add_environment({variable: topic.topic_arn})

    def _topic(self, name: str, addresses: tuple[str, ...]) -> sns.Topic:
        # No KMS key: alarms cannot publish to a topic encrypted with the AWS managed key. A customer managed key has a
        # monthly charge, and would protect only names and figures that SNS then sends by email.
        topic = sns.Topic(self, name.title(), display_name=f"{Stack.of(self).stack_name} {name}", enforce_ssl=True)
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
