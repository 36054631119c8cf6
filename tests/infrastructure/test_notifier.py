"""What the notifier may do for the destinations that jobs name."""

import dataclasses
from pathlib import Path

import pytest
from aws_cdk import App

from cdk.settings import PROD
from cdk.stack import PunctualStack
from tests.infrastructure.deployed import Deployed, readable

SENDER = "punctual@example.com"


def test_a_stage_with_a_sender_may_send_email_from_this_address_only(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, settings=dataclasses.replace(PROD, email_sender=SENDER))
    deployed = Deployed.of(app)
    allowed = deployed.permissions("NotifierFunctionRole")
    identity = "arn:AWS::Partition:ses:AWS::Region:AWS::AccountId:identity"
    assert {one for one in allowed if one[0].startswith("ses:")} == {
        ("ses:SendEmail", f"{identity}/{SENDER}"),
        ("ses:SendEmail", f"{identity}/example.com"),
    }
    conditions = deployed.conditions("NotifierFunctionRole", "ses:SendEmail")
    assert conditions == [{"StringEquals": {"ses:FromAddress": SENDER}}]
    assert {deployed.environment(name)["EMAIL_SENDER"] for name in ("api", "notifier")} == {SENDER}


def test_a_stage_without_a_sender_may_send_no_email(prod: Deployed) -> None:
    assert prod.environment("api")["EMAIL_SENDER"] == ""
    assert not [one for one in prod.permissions("NotifierFunctionRole") if one[0].startswith("ses:")]


def test_the_notifier_may_publish_to_the_topics_of_the_stage_only(prod: Deployed) -> None:
    topics = {resource for action, resource in prod.permissions("NotifierFunctionRole") if action == "sns:Publish"}
    assert topics == {"TopicsPage", "TopicsNotice"}


def test_the_role_that_the_policy_of_another_topic_has_to_allow_is_an_output(prod: Deployed) -> None:
    assert readable(prod.template["Outputs"]["NotifierRoleArn"]["Value"]) == "NotifierFunctionRole.Arn"


def test_an_invalid_sender_is_rejected() -> None:
    with pytest.raises(ValueError, match="email_sender: 'nobody' is not an e-mail address"):
        dataclasses.replace(PROD, email_sender="nobody")
