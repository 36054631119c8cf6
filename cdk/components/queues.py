"""The SQS queues: one per priority of the short lane, intake, checks, notices, bulk, and dead-letter queues."""

import json

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.function import Function
from cdk.components.queue import Queue, WorkQueue
from cdk.settings import Settings

PRIORITIES = ("high", "normal", "low")

WORKER_TIMEOUT = Duration.minutes(15)
INTAKE_TIMEOUT = Duration.seconds(30)
MONITOR_TIMEOUT = Duration.seconds(55)
NOTIFIER_TIMEOUT = Duration.seconds(30)
BULK_TIMEOUT = Duration.seconds(60)
# The visibility timeout redelivers a message whose consumer crashed before it claimed the execution. After the claim,
# the sweep of expired leases detects a crash. Lambda requires at least the consumer's timeout. It recommends six times
# that for consumers that are throttled; here a throttled message is redelivered MAX_RECEIVES times instead.
WORKER_VISIBILITY = Duration.minutes(16)
INTAKE_VISIBILITY = CHECKS_VISIBILITY = NOTICES_VISIBILITY = BULK_VISIBILITY = Duration.minutes(3)
# Consumers dead-letter an unreadable message at once. All other failures are outages of AWS: consumers back off, and
# this many receives outlast an outage of hours.
MAX_RECEIVES = 100


class Queues(Construct):
    """All queues are encrypted and accept TLS only. A dead-letter queue keeps its messages 14 days for an operator."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        # One function consumes all three queues of the short lane, so their dead-letter queues need distinct variables.
        self.short = {
            priority: self._work_queue(
                priority, WORKER_VISIBILITY, dead_letter_variable=f"{priority.upper()}_DEAD_LETTER_QUEUE_URL"
            )
            for priority in PRIORITIES
        }
        self.intake = self._work_queue("intake", INTAKE_VISIBILITY)
        self._accept_events(self.intake.queue.resource)
        self.checks = self._work_queue("checks", CHECKS_VISIBILITY)
        self.notices = self._work_queue("notices", NOTICES_VISIBILITY)
        self.bulk = self._work_queue("bulk", BULK_VISIBILITY)
        readers = ("planner", "settler", *(("admission", "observer") if settings.long.enabled else ()))
        self.dead_letters_of = {name: self._dead_letters(name) for name in readers}
        for queue in self.dead_letters_of.values():
            acknowledge(
                queue.resource,
                "AwsSolutions-SQS3",
                "This is the dead-letter queue of a stream consumer or an event rule, which refers to it.",
            )

    @property
    def work(self) -> dict[str, WorkQueue]:
        """The queues of requested work, which can have a backlog, by name."""
        return {**self.short, "intake": self.intake}

    @property
    def all_work(self) -> dict[str, WorkQueue]:
        """Every queue except dead-letter queues, by name."""
        return {**self.work, "checks": self.checks, "notices": self.notices, "bulk": self.bulk}

    @property
    def dead_letters(self) -> dict[str, Queue]:
        """Every dead-letter queue, by the name of its source queue or stream consumer."""
        return {
            **{name: pair.dead_letters for name, pair in self.all_work.items()},
            **self.dead_letters_of,
        }

    @property
    def internal_arns(self) -> list[str]:
        """Every queue that only Punctual's functions use: all but the intake queue."""
        work = [pair.queue for name, pair in self.all_work.items() if name != "intake"]
        return [queue.resource.queue_arn for queue in (*work, *self.dead_letters.values())]

    def grant_enqueue(self, function: Function) -> None:
        """Allow sending to the three queues of the short lane."""
        for pair in self.short.values():
            pair.queue.grant(function, "SendMessage")

    def grant_lengths(self, function: Function) -> None:
        """Allow reading the number of messages in the three queues of the short lane."""
        for pair in self.short.values():
            pair.queue.grant(function, "GetQueueAttributes")

    def grant_backlog(self, function: Function) -> None:
        """Allow reading the number of messages in every queue that can have a backlog."""
        for pair in self.work.values():
            pair.queue.grant(function, "GetQueueAttributes")

    def grant_depths(self, function: Function) -> None:
        """Allow reading the number of messages in every queue that can have a backlog and every dead-letter queue."""
        self.grant_backlog(function)
        dead_letters = [queue.resource for queue in self.dead_letters.values()]
        function.allow("sqs:GetQueueAttributes", on=[queue.queue_arn for queue in dead_letters])
        function.add_environment({"DEAD_LETTER_QUEUE_URLS": json.dumps([queue.queue_url for queue in dead_letters])})

    def _work_queue(
        self, name: str, visibility_timeout: Duration, *, dead_letter_variable: str = "DEAD_LETTER_QUEUE_URL"
    ) -> WorkQueue:
        dead_letters = self._dead_letters(name, dead_letter_variable)
        queue = sqs.Queue(
            self,
            name.title(),
            visibility_timeout=visibility_timeout,
            retention_period=Duration.days(14),
            dead_letter_queue=sqs.DeadLetterQueue(queue=dead_letters.resource, max_receive_count=MAX_RECEIVES),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        return WorkQueue(Queue(queue, f"{name.upper()}_QUEUE_URL"), dead_letters)

    def _accept_events(self, intake: sqs.Queue) -> None:
        """Let EventBridge rules of this account send messages, so that an event can start a queue job."""
        rules = Stack.of(self).format_arn(service="events", region="*", resource="rule", resource_name="*")
        intake.add_to_resource_policy(
            iam.PolicyStatement(
                sid="RulesOfThisAccountMaySend",
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[intake.queue_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": Stack.of(self).account},
                    "ArnLike": {"aws:SourceArn": rules},
                },
            )
        )

    def _dead_letters(self, name: str, variable: str = "DEAD_LETTER_QUEUE_URL") -> Queue:
        resource = sqs.Queue(
            self,
            f"{name.title()}DeadLetters",
            retention_period=Duration.days(14),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        return Queue(resource, variable)
