"""An SQS queue as functions see it: permissions, and the environment variable that holds its URL."""

from dataclasses import dataclass

from aws_cdk import aws_sqs as sqs

from cdk.components.function import Function


@dataclass(frozen=True)
class Queue:
    resource: sqs.Queue
    variable: str
    """The environment variable that holds the URL."""

    def grant(self, function: Function, *actions: str) -> None:
        """Allow `actions`, such as `SendMessage`, and pass the queue's URL to the function."""
        function.allow(*(f"sqs:{action}" for action in actions), on=[self.resource.queue_arn])
        function.add_environment({self.variable: self.resource.queue_url})


@dataclass(frozen=True)
class WorkQueue:
    """A queue with its dead-letter queue."""

    queue: Queue
    dead_letters: Queue
