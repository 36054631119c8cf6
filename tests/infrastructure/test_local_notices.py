"""The notices and alarms that `make notices` shows."""

import json

import boto3
import pytest
from moto import mock_aws

from local.notices import arrived, subscribed

ALARM = {
    "AlarmName": "Punctual-DeadLetters",
    "NewStateValue": "ALARM",
    "NewStateReason": "Threshold Crossed",
    "AlarmDescription": "A message could not be processed. docs/operations.md#deadletters",
}


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@mock_aws
def test_messages_of_both_topics_are_shown_with_their_text_while_the_command_runs() -> None:
    sqs, sns = boto3.client("sqs"), boto3.client("sns")
    topics = {
        name: sns.create_topic(Name=f"Punctual-Topics{name.title()}-1")["TopicArn"] for name in ("page", "notice")
    }
    with subscribed(sqs, sns, topics) as queue:
        sns.publish(TopicArn=topics["page"], Message=json.dumps(ALARM))
        sns.publish(TopicArn=topics["notice"], Message=json.dumps({"text": "orders failed\n\nCause: no rows"}))
        found = dict(arrived(sqs, queue, 0))
    assert found["notice"] == "orders failed\n\nCause: no rows"
    assert found["page"].splitlines()[0] == "Punctual-DeadLetters: ALARM"
    assert "docs/operations.md#deadletters" in found["page"]
    assert sns.list_subscriptions()["Subscriptions"] == []
    assert "QueueUrls" not in sqs.list_queues()
