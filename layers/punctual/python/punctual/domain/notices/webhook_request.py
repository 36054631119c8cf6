"""The request that delivers a notice to a webhook."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from punctual.domain.jobs.destination import Webhook, WebhookFormat
from punctual.domain.notices.notice import Notice

SIGNATURE = "Punctual-Signature"


@dataclass(frozen=True)
class WebhookRequest:
    url: str
    body: bytes
    headers: Mapping[str, str]


def webhook_request(notice: Notice, webhook: Webhook, now: datetime) -> WebhookRequest:
    """Build the request. All deliveries of a notice have the same ``Idempotency-Key``."""
    body = _BODIES[webhook.format](notice).encode(errors="replace")
    headers = {"Content-Type": "application/json", "User-Agent": "Punctual", "Idempotency-Key": notice.id}
    if webhook.secret is not None:
        headers[SIGNATURE] = signature(webhook.secret, body, int(now.timestamp()))
    return WebhookRequest(webhook.url, body, headers)


def signature(secret: str, body: bytes, timestamp: int) -> str:
    """Sign ``<timestamp>.<body>`` with HMAC-SHA256. The receiver recomputes it and rejects an old timestamp."""
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"


def _slack(notice: Notice) -> str:
    """Text in which Slack recognizes no mention and no link."""
    text = notice.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return json.dumps({"text": text})


def _teams(notice: Notice) -> str:
    block: dict[str, Any] = {"type": "TextBlock", "wrap": True}
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            {**block, "size": "Medium", "weight": "Bolder", "text": notice.title},
            *({**block, "spacing": "Small", "text": line} for line in notice.text.splitlines()[1:] if line),
        ],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return json.dumps({"type": "message", "attachments": [attachment]})


_BODIES: Mapping[WebhookFormat, Callable[[Notice], str]] = {
    WebhookFormat.JSON: Notice.to_body,
    WebhookFormat.SLACK: _slack,
    WebhookFormat.TEAMS: _teams,
}
