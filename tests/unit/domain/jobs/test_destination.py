"""Destinations of notices: their forms, what is refused, and what answers and messages show of a secret."""

from __future__ import annotations

from typing import Any

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.jobs.destination import Email, SnsTopic, Topic, Webhook, WebhookFormat, parse_destinations

ARN = "arn:aws:sns:eu-central-1:123456789012:orders"
URL = "https://example.com/hooks/4711?x=1"
SLACK_URL = "https://hooks.slack.com/services/T0/B0/token"
SECRET = "0123456789abcdef-secret"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("page", (Topic.PAGE,)),
        ({"sns": ARN}, (SnsTopic(ARN),)),
        ({"email": "a.b+c@example.com"}, (Email("a.b+c@example.com"),)),
        ({"webhook": {"url": URL, "secret": SECRET}}, (Webhook(URL, SECRET),)),
        ({"webhook": {"url": SLACK_URL, "format": "slack"}}, (Webhook(SLACK_URL, None, WebhookFormat.SLACK),)),
        (["notice", {"sns": ARN}], (Topic.NOTICE, SnsTopic(ARN))),
    ],
)
def test_a_destination_or_a_list_of_them_is_read_and_stored(value: Any, expected: tuple[Any, ...]) -> None:
    found = parse_destinations("to", value)
    assert found == expected
    assert parse_destinations("to", [one.to_stored() for one in found]) == expected


@pytest.mark.parametrize(
    ("value", "field", "message"),
    [
        ("pages", "to", "'pages' is not one of notice, page, and not of the form"),
        (7, "to", "'7' is not one of"),
        ([], "to", "must have 1 to 5 destinations, but has 0"),
        (["notice"] * 6, "to", "but has 6"),
        (["notice", "notice"], "to.1", "is listed twice"),
        ({}, "to", "must have exactly one of sns, email, webhook, but has: none"),
        ({"sms": "+49"}, "to", "but has: sms"),
        ({"sns": ARN, "email": "a@b.c"}, "to", "but has: sns, email"),
        ({"sns": f"{ARN}.fifo"}, "to.sns", "must be the ARN of a standard topic"),
        ({"sns": "arn:aws:sqs:eu-central-1:123456789012:orders"}, "to.sns", "must be the ARN"),
        ({"email": "a@b.c, d@e.f"}, "to.email", "must be one e-mail address"),
        ({"email": "a@b.c\nBcc: d@e.f"}, "to.email", "must be one e-mail address"),
        ({"webhook": URL}, "to.webhook", "must be an object"),
        ({"webhook": {"url": URL}}, "to.webhook.secret", "is required"),
        ({"webhook": {"url": URL, "secret": "short"}}, "to.webhook.secret", "must be text of 16 to 256"),
        ({"webhook": {"url": URL, "secret": "…"}}, "to.webhook.secret", "give the secret again"),
        ({"webhook": {"secret": SECRET}}, "to.webhook.url", "is required"),
        ({"webhook": {"url": "http://example.com", "secret": SECRET}}, "to.webhook.url", "must be an https:// address"),
        ({"webhook": {"url": "https://", "secret": SECRET}}, "to.webhook.url", "must be an https:// address"),
        ({"webhook": {"url": "https://x:y", "secret": SECRET}}, "to.webhook.url", "must be an https:// address"),
        ({"webhook": {"url": "https://u:p@x.org", "secret": SECRET}}, "to.webhook.url", "must have no user name"),
        ({"webhook": {"url": "https://x.org/\r\nA: b", "secret": SECRET}}, "to.webhook.url", "must be ASCII"),
        ({"webhook": {"url": "https://x.org/…", "secret": SECRET}}, "to.webhook.url", "give the whole address again"),
        ({"webhook": {"url": URL, "format": "xml"}}, "to.webhook.format", "'xml' is not one of json, slack, teams"),
        ({"webhook": {"url": URL, "secrets": SECRET}}, "to.webhook.secrets", "is not a known field"),
        (["notice", {"webhook": {"url": URL}}], "to.1.webhook.secret", "is required"),
    ],
)
def test_another_form_is_refused_with_its_field(value: Any, field: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_destinations("to", value)
    assert refused.value.field == field
    assert message in refused.value.message
    assert SECRET not in refused.value.message


def test_answers_show_neither_a_secret_nor_the_address_of_a_slack_or_teams_webhook() -> None:
    assert Webhook(URL, SECRET).to_spec() == {"webhook": {"url": URL, "secret": "…", "format": "json"}}
    slack = Webhook(SLACK_URL, None, WebhookFormat.SLACK)
    assert slack.to_spec() == {"webhook": {"url": "https://hooks.slack.com/…", "format": "slack"}}


def test_the_key_of_a_webhook_contains_nothing_of_its_address() -> None:
    key = Webhook(SLACK_URL, SECRET).key
    assert "slack" not in key
    assert key == Webhook(SLACK_URL).key != Webhook(f"{SLACK_URL}2").key
