"""The queue of the notifier: notices to publish, and ends of digest windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.aws.sqs.sending import seconds_until, send_all
from punctual.aws.sqs.work_queues import group_id
from punctual.domain.notices.digest_window import DigestWindow
from punctual.domain.notices.notice import Notice


@dataclass(frozen=True)
class SqsNotices:
    queue_url: str
    sqs: Callable[[], Any]

    def send(self, notices: Iterable[Notice]) -> None:
        """Raises if SQS rejects any message, ``ClientError`` for a transient fault.

        Sending a notice twice is harmless: the notifier publishes it once.
        """
        # the owner as message group: SQS fair queues keep an owner with many failing jobs from delaying the others
        messages = ({"MessageBody": notice.to_body(), "MessageGroupId": group_id(notice.owner)} for notice in notices)
        send_all(self.sqs(), self.queue_url, messages)

    def schedule_end(self, window: DigestWindow, now: datetime) -> None:
        """Delay the message until the window ends, rounded up to a whole second."""
        self.sqs().send_message(
            QueueUrl=self.queue_url,
            MessageBody=window.to_body(),
            DelaySeconds=seconds_until(window.until, now),
        )


if TYPE_CHECKING:
    from punctual.ports.notices import Notices, WindowEnds

    _notices: type[Notices] = SqsNotices
    _window_ends: type[WindowEnds] = SqsNotices
