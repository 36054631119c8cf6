"""The requests that deliver notices to webhooks."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace
from datetime import UTC, datetime

from punctual.domain.jobs.destination import Email, Topic, Webhook, WebhookFormat
from punctual.domain.jobs.notify_rule import Event, Notify
from punctual.domain.notices.notice import addressed, read_notice
from punctual.domain.notices.webhook_request import webhook_request
from tests.unit.domain.notices.failed_execution import NOTICE

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
URL, SECRET = "https://example.com/hook", "0123456789abcdef"


def test_the_body_is_the_notice_and_the_signature_covers_it_with_the_time() -> None:
    request = webhook_request(NOTICE, Webhook(URL, SECRET), NOW)
    assert read_notice(request.body.decode()) == NOTICE
    assert request.headers["Idempotency-Key"] == NOTICE.id
    timestamp, _, v1 = request.headers["Punctual-Signature"].partition(",v1=")
    signed = timestamp.removeprefix("t=").encode() + b"." + request.body
    assert timestamp == f"t={int(NOW.timestamp())}"
    assert v1 == hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()


def test_slack_gets_text_in_which_nothing_is_a_mention() -> None:
    notice = replace(NOTICE, text="load failed\n<!channel> & <https://evil.example|click>")
    request = webhook_request(notice, Webhook(URL, None, WebhookFormat.SLACK), NOW)
    escaped = "load failed\n&lt;!channel&gt; &amp; &lt;https://evil.example|click&gt;"
    assert json.loads(request.body) == {"text": escaped}
    assert "Punctual-Signature" not in request.headers


def test_teams_gets_an_adaptive_card_with_the_title_and_the_lines() -> None:
    notice = replace(NOTICE, title="load failed", text="load failed\n\nCause: no rows\nTask: echo")
    message = json.loads(webhook_request(notice, Webhook(URL, None, WebhookFormat.TEAMS), NOW).body)
    [attachment] = message["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert (message["type"], card["type"], card["version"]) == ("message", "AdaptiveCard", "1.4")
    assert [block["text"] for block in card["body"]] == ["load failed", "Cause: no rows", "Task: echo"]


def test_each_destination_gets_a_notice_of_its_own() -> None:
    rule = Notify(frozenset(Event), (Topic.NOTICE, Topic.PAGE, Email("a@b.c")))
    copies = addressed(NOTICE, rule)
    assert [(one.id, one.to) for one in copies] == [
        (NOTICE.id, "notice"),
        (f"{NOTICE.id}#page", "page"),
        (f"{NOTICE.id}#email:a@b.c", "email:a@b.c"),
    ]
    alone = addressed(NOTICE, Notify(frozenset(Event), (Topic.PAGE,)))
    assert [one.id for one in alone] == [NOTICE.id]
