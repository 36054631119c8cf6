"""alarms, notifier ─▶ topics ─▶ people: `page` for what cannot wait, `notice` for the rest."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk.addresses import read_address
from cdk.names import alarm_arns
from cdk.settings import Settings


class Topics(Construct):
    """Over TLS only; this stack's alarms may publish, and whoever has a permission of their own."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.page = self._topic("page", settings.alerts.page)
        self.notice = self._topic("notice", settings.alerts.notice)

    @property
    def arns(self) -> list[str]:
        return [self.page.topic_arn, self.notice.topic_arn]

    def _topic(self, name: str, addresses: tuple[str, ...]) -> sns.Topic:
        # Without a key of KMS: alarms cannot publish with the one that AWS manages, and one of our own would be paid
        # by the month to hide the names and figures that are then sent by email.
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
            # Named after the address: one that moves in the list is not confirmed anew.
            sns.Subscription(
                topic,
                text,
                topic=topic,
                protocol=sns.SubscriptionProtocol[address.protocol.upper()],
                endpoint=address.endpoint,
            )
        return topic
