"""The queue of notices: what is to be told, and when a window of them ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from punctual.aws.sqs.sending import seconds_until, send_all
from punctual.aws.sqs.work_queues import group_id
from punctual.domain.notices.digest_window import DigestWindow
from punctual.domain.notices.notice import Notice


@dataclass(frozen=True)
class SqsNotices:
    queue_url: str
    sqs: Callable[[], Any]

    def send(self, notices: Iterable[Notice]) -> None:
        """Raises when any was refused: ``ClientError`` for trouble that passes. Again is fine: each is told once."""
        # the owner as message group: one whose jobs all fail does not hold up the others
        messages = ({"MessageBody": one.to_body(), "MessageGroupId": group_id(one.owner)} for one in notices)
        send_all(self.sqs(), self.queue_url, messages)

    def end_later(self, window: DigestWindow, now: datetime) -> None:
        """Hold the message back until the window ends, or a fraction of a second longer."""
        self.sqs().send_message(
            QueueUrl=self.queue_url,
            MessageBody=window.to_body(),
            DelaySeconds=seconds_until(window.until, now),
        )
