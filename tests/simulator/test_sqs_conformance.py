"""The model of SQS answers like moto: the same random operations, with a clock that stands still between them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
import time_machine
from moto import mock_aws

from tests.simulator.aws.account import Account

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
DEPTHS = [f"ApproximateNumberOfMessages{state}" for state in ("", "NotVisible", "Delayed")]
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/"
MAX_RECEIVES = 2


@pytest.fixture
def traveller(monkeypatch: pytest.MonkeyPatch) -> Iterator[time_machine.Traveller]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with time_machine.travel(START, tick=False) as traveller, mock_aws():
        yield traveller


class Consumer:
    """A client of one implementation, with the receipt handles of the last messages that it received, by body."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.handles: dict[str, str] = {}
        client.create_queue(QueueName="dead")
        policy = {"deadLetterTargetArn": "arn:aws:sqs:us-east-1:123456789012:dead", "maxReceiveCount": MAX_RECEIVES}
        attributes = {"VisibilityTimeout": "30", "RedrivePolicy": json.dumps(policy)}
        client.create_queue(QueueName="work", Attributes=attributes)

    def send(self, body: str, delay: int) -> Any:
        entry = {"Id": "0", "MessageBody": body, "DelaySeconds": delay, "MessageGroupId": "owner"}
        answer = self.client.send_message_batch(QueueUrl=f"{QUEUE}work", Entries=[entry])
        return [one["Id"] for one in answer["Successful"]], answer.get("Failed", [])

    def receive(self) -> Any:
        """Receive all visible messages: which of them a smaller number would return is undefined."""
        answer = self.client.receive_message(
            QueueUrl=f"{QUEUE}work", MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
        )
        messages = answer.get("Messages", [])
        self.handles = {message["Body"]: message["ReceiptHandle"] for message in messages}
        names = ("ApproximateReceiveCount", "SentTimestamp", "ApproximateFirstReceiveTimestamp", "MessageGroupId")
        return sorted((one["Body"], [one["Attributes"][name] for name in names]) for one in messages)

    def delete(self, body: str) -> None:
        self.client.delete_message(QueueUrl=f"{QUEUE}work", ReceiptHandle=self.handles.pop(body))

    def extend(self, body: str, seconds: int) -> None:
        self.client.change_message_visibility(
            QueueUrl=f"{QUEUE}work", ReceiptHandle=self.handles[body], VisibilityTimeout=seconds
        )

    def depths(self) -> list[Any]:
        queues = ("work", "dead")
        return [
            self.client.get_queue_attributes(QueueUrl=f"{QUEUE}{queue}", AttributeNames=DEPTHS)["Attributes"]
            for queue in queues
        ]


@pytest.mark.parametrize("seed", range(2))
def test_the_model_answers_like_moto(traveller: time_machine.Traveller, seed: int) -> None:
    rng = random.Random(seed)
    model = Consumer(Account(lambda: datetime.now(UTC)).client("sqs"))
    moto = Consumer(boto3.client("sqs"))
    received_at = START
    for number in range(60):
        calls: list[tuple[str, list[Any]]] = [("send", [f"m{number}", rng.choice([0, 0, 3, 20])]), ("receive", [])]
        if model.handles:
            body = rng.choice(sorted(model.handles))
            calls.append(("delete", [body]))
            if datetime.now(UTC) - received_at < timedelta(seconds=5):  # surely in flight: moto does not check that
                calls.append(("extend", [body, rng.choice([5, 20])]))
        operation, arguments = rng.choice(calls)
        ours, theirs = (getattr(one, operation)(*arguments) for one in (model, moto))
        assert ours == theirs, (number, operation, arguments)
        assert model.depths() == moto.depths(), (number, operation, arguments)
        received_at = datetime.now(UTC) if operation == "receive" else received_at
        traveller.shift(timedelta(seconds=rng.choice([0.1, 1.3, 9.7, 31.9])))
