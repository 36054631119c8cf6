"""Receive: handle the messages of the notice queue, and decide which of them are delivered again.

- An AWS error is transient: the message is delivered again after the visibility timeout of the queue.
- A destination that does not accept a notice now gets it again, by exponential backoff, for about four hours.
- Any other error is permanent: the message goes to the dead-letter queue at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import NotDelivered
from punctual.domain.notices.digest_window import read_notice_message
from punctual.domain.notices.notice import Notice
from punctual.domain.redelivery import redelivery_delay

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from punctual.ports.dead_letters import DeadLetters
    from punctual.stages.watch.notify import Notifier, NotifyResult

MAX_DELIVERIES = 20
"""Deliveries of a message for a destination that does not accept it: 4 hours with the delays below."""
MIN_DELAY, MAX_DELAY = timedelta(seconds=65), timedelta(seconds=900)
"""Bounds of the backoff. Longer than ``PUBLICATION_LEASE``, after which a publication can be repeated."""


@dataclass(frozen=True, kw_only=True)
class Reception:
    """The result of handling a message, and whether it is delivered again."""

    result: NotifyResult | None = None
    notice_id: str | None = None
    problem: str | None = None
    """Why the message led to no result, for the log."""
    delay: timedelta | None = None
    """The time until the next delivery. ``None`` leaves it to the visibility timeout, if ``is_done`` is false."""

    @property
    def is_done(self) -> bool:
        """Whether the message can be deleted."""
        return self.delay is None and not (self.result and self.result.needs_redelivery)


@dataclass(frozen=True)
class NoticeReceiver:
    notifier: Notifier
    dead_letters: DeadLetters
    is_of_aws: Callable[[Exception], bool]
    """Whether an error is a fault of AWS."""

    def receive(self, body: str, deliveries: int, now: datetime) -> Reception:
        """Handle one message, which has been delivered ``deliveries`` times. Idempotent. Raises errors of AWS."""
        try:
            return self._notify(body, now)
        except Exception as error:
            if self.is_of_aws(error):
                raise
            reason = f"{type(error).__name__}: {error}"
            if isinstance(error, NotDelivered) and deliveries < MAX_DELIVERIES:
                delay = redelivery_delay(deliveries, MIN_DELAY, MAX_DELAY)
                return Reception(problem=f"notice not delivered, will be tried again: {reason}", delay=delay)
            self.dead_letters.dead_letter(body, reason)
            return Reception(problem=f"moved a message to the dead-letter queue: {reason}")

    def _notify(self, body: str, now: datetime) -> Reception:
        message = read_notice_message(body)
        if isinstance(message, Notice):
            return Reception(result=self.notifier.notify(message, now), notice_id=message.id)
        return Reception(result=self.notifier.end_window(message, now), notice_id=message.summary_id)
