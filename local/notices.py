"""Shows notices and alarms as they arrive: a queue of its own, subscribed to both topics while the command runs."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from local.aws import client

WAIT_SECONDS = 1
COLOURS = {"page": "red", "notice": "yellow"}


def follow(stack: dict[str, Any]) -> None:
    """Print each message that is published to a topic, until interrupted."""
    console = Console(highlight=False)
    clients = client("sqs", stack["endpoint_url"]), client("sns", stack["endpoint_url"])
    with suppress(KeyboardInterrupt), subscribed(*clients, stack["topics"]) as queue:
        console.print("Waiting for notices and alarms. Stop with Ctrl-C.", style="dim")
        while True:
            for topic, message in arrived(clients[0], queue, WAIT_SECONDS):
                _print(console, topic, message)


@contextmanager
def subscribed(sqs: Any, sns: Any, topics: dict[str, str]) -> Iterator[str]:
    """Subscribe a new queue to `topics`, and yield its URL. Both the queue and its subscriptions are removed again."""
    queue = sqs.create_queue(QueueName=f"punctual-notices-{os.getpid()}")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    subscriptions = [
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, ReturnSubscriptionArn=True)["SubscriptionArn"]
        for topic in topics.values()
    ]
    try:
        yield queue
    finally:
        for subscription in subscriptions:
            sns.unsubscribe(SubscriptionArn=subscription)
        sqs.delete_queue(QueueUrl=queue)


def arrived(sqs: Any, queue: str, wait_seconds: int) -> Iterator[tuple[str, str]]:
    """Receive the messages that have arrived: the topic of each, and its text for people."""
    for received in sqs.receive_message(
        QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=wait_seconds, MessageAttributeNames=["All"]
    ).get("Messages", []):
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=received["ReceiptHandle"])
        envelope = json.loads(received["Body"])
        yield ("page" if "page" in envelope["TopicArn"].lower() else "notice"), _text(envelope["Message"])


def _text(message: str) -> str:
    """The text of a notice. An alarm becomes its name, state, reason and description."""
    fields = json.loads(message)
    if "AlarmName" not in fields:
        return str(fields["text"])
    lines = [fields.get("NewStateReason"), fields.get("AlarmDescription")]
    return "\n".join([f"{fields['AlarmName']}: {fields['NewStateValue']}", "", *filter(None, lines)])


def _print(console: Console, topic: str, text: str) -> None:
    title, _, details = text.partition("\n")
    console.print(Rule(Text(topic, style=COLOURS[topic]), align="left", style="dim"))
    console.print(Text(title, style=f"bold {COLOURS[topic]}"), soft_wrap=True)
    console.print(Text(details.strip()), soft_wrap=True)
