"""The topics: publishers, subscribers, and validation of addresses."""

import dataclasses
from pathlib import Path

import pytest
from aws_cdk import App

from cdk.settings import PROD
from cdk.stack import PunctualStack
from cdk.validation import validate
from tests.infrastructure.deployed import Deployed, readable

TOPICS = ("TopicsPage", "TopicsNotice")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_rejects_plain_http_and_accepts_messages_of_the_alarms_of_this_stack(
    prod: Deployed, topic: str
) -> None:
    policy = prod.one("AWS::SNS::TopicPolicy", f"{topic}Policy")
    assert [readable(one) for one in policy["Topics"]] == [topic]
    denial, permission = policy["PolicyDocument"]["Statement"]
    assert (denial["Effect"], denial["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert (permission["Effect"], permission["Action"]) == ("Allow", "sns:Publish")
    assert permission["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    alarms = readable(permission["Condition"]["ArnLike"]["aws:SourceArn"])
    assert alarms == "arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:Punctual-prod-*"
    assert permission["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_every_alarm_name_has_the_prefix_that_the_topics_accept(prod: Deployed) -> None:
    assert all(alarm["AlarmName"].startswith("Punctual-prod-") for alarm in prod.all("AWS::CloudWatch::Alarm").values())


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_encrypted_with_a_key_that_alarms_and_the_notifier_may_use(prod: Deployed, topic: str) -> None:
    assert readable(prod.one("AWS::SNS::Topic", topic)["KmsMasterKeyId"]) == "TopicsKey.Arn"
    (key,) = prod.all("AWS::KMS::Key").values()
    assert key["EnableKeyRotation"]
    alarms = key["KeyPolicy"]["Statement"][-1]
    assert alarms["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert alarms["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert alarms["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    allowed = {action for action, resource in prod.permissions("NotifierFunctionRole") if resource == "TopicsKey.Arn"}
    assert allowed == {"kms:Decrypt", "kms:GenerateDataKey"}


def test_the_notifier_publishes_to_both_topics(prod: Deployed) -> None:
    environment = prod.environment("notifier")
    assert environment["PAGE_TOPIC_ARN"] == "TopicsPage"
    assert environment["NOTICE_TOPIC_ARN"] == "TopicsNotice"


def test_the_default_settings_have_no_subscribers(prod: Deployed, local: Deployed) -> None:
    for stack in (prod, local):
        assert not stack.all("AWS::SNS::Subscription")


def test_the_addresses_in_the_settings_are_subscribed(tmp_path: Path) -> None:
    queue = "arn:aws:sqs:eu-west-1:123456789012:alerts"
    alerts = dataclasses.replace(
        PROD.alerts,
        page=("https://example.com/hook?key=1", "mailto:on-call@example.com"),
        notice=("mailto:on-call@example.com", queue),
    )
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, settings=dataclasses.replace(PROD, alerts=alerts))
    validate(app)
    subscriptions = Deployed.of(app).all("AWS::SNS::Subscription").values()
    assert {(readable(one["TopicArn"]), one["Protocol"], one["Endpoint"]) for one in subscriptions} == {
        ("TopicsPage", "https", "https://example.com/hook?key=1"),
        ("TopicsPage", "email", "on-call@example.com"),
        ("TopicsNotice", "email", "on-call@example.com"),
        ("TopicsNotice", "sqs", queue),
    }


@pytest.mark.parametrize(
    "address",
    [
        "on-call@example.com",
        "mailto:nobody",
        "mailto:a@example.com?subject=x",
        "mailto:a@example.com,b@example.com",
        "http://example.com/hook",
        "https://",
        "arn:aws:sqs:eu-west-1:123456789012:alerts.fifo",
        "arn:aws:sns:eu-west-1:123456789012:alerts",
        "https://sqs.eu-west-1.amazonaws.com/1 2",
        "",
    ],
)
@pytest.mark.parametrize("setting", ["page", "notice"])
def test_an_invalid_address_is_rejected_with_the_setting_and_valid_examples(setting: str, address: str) -> None:
    with pytest.raises(ValueError, match=rf"^alerts\.{setting}: .*mailto:.*https://.*arn:aws:sqs:") as rejection:
        dataclasses.replace(PROD.alerts, **{setting: ("mailto:a@example.com", address)})
    assert repr(address) in str(rejection.value)


def test_a_duplicate_address_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"alerts\.page: 'mailto:a@example.com' is listed twice"):
        dataclasses.replace(PROD.alerts, page=("mailto:a@example.com", "mailto:a@example.com"))
