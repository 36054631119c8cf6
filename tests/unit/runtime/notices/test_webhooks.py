"""Sending a notice to a webhook: statuses, time limits, and what an error says about the address."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from punctual.domain.errors import NotDelivered, Undeliverable
from punctual.domain.jobs.destination import Webhook, WebhookFormat
from punctual.runtime.notices import webhooks
from tests.unit.domain.notices.failed_execution import NOTICE

HOOK = Webhook("https://127.0.0.1/services/credential", None, WebhookFormat.SLACK)


def post() -> None:
    webhooks.post(NOTICE, HOOK, lambda: datetime.now(UTC))


def test_an_address_that_is_not_public_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HTTP_CALL_NETWORKS", raising=False)
    with pytest.raises(Undeliverable, match="which is not a public address"):
        post()


def test_an_error_of_the_connection_names_the_host_and_not_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(f"no route to {HOOK.url}")

    monkeypatch.setattr(webhooks, "public_request", refuse)
    with pytest.raises(NotDelivered) as error:
        post()
    assert str(error.value) == "no response of 127.0.0.1: OSError"
    assert error.value.__suppress_context__


def test_a_receiver_that_keeps_the_connection_open_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(webhooks, "public_request", lambda *_, **__: time.sleep(60))
    with pytest.raises(NotDelivered, match="did not respond within"):
        post()
