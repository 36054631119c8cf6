"""Deliver notices to webhooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import urllib3

from punctual.domain.errors import Fatal, NotDelivered, Undeliverable
from punctual.domain.jobs.destination import Webhook
from punctual.domain.notices.webhook_request import webhook_request
from punctual.runtime.tasks.public_request import public_request
from punctual.runtime.tasks.time_limit import TimeLimitReached, time_limit

if TYPE_CHECKING:
    from datetime import datetime

    from punctual.domain.notices.notice import Notice

TIMEOUT_SECONDS = 5.0
TRANSIENT_STATUSES = frozenset({408, 425, 429})


def post(notice: Notice, webhook: Webhook, clock: Callable[[], datetime]) -> None:
    """Send the notice. Raises ``NotDelivered`` or ``Undeliverable``; neither message has the path of the address."""
    request = webhook_request(notice, webhook, clock())
    try:
        # a limit for the whole request: a receiver that sends a byte every few seconds would never time out
        with time_limit(TIMEOUT_SECONDS):
            response = public_request(
                "POST", request.url, headers=request.headers, body=request.body, timeout_seconds=TIMEOUT_SECONDS
            )
            response.close()
    except TimeLimitReached:
        raise NotDelivered(f"{webhook.host} did not respond within {TIMEOUT_SECONDS:g} seconds") from None
    except Fatal as error:
        raise Undeliverable(str(error)) from None
    except (urllib3.exceptions.HTTPError, OSError, UnicodeError) as error:
        raise NotDelivered(f"no response of {webhook.host}: {type(error).__name__}") from None
    _check(response.status, webhook)


def _check(status: int, webhook: Webhook) -> None:
    if 200 <= status < 300:
        return
    message = f"{webhook.host} answered with the HTTP status {status}"
    if status in TRANSIENT_STATUSES or status >= 500:
        raise NotDelivered(message)
    remedy = "; redirects are not followed" if status < 400 else ""
    raise Undeliverable(message + remedy)
