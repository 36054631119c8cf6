"""The queue of notices: what is to be told, and when a window of them ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NoReturn

from botocore.exceptions import ClientError

from punctual.aws.lanes import BATCH, group_id
from punctual.domain.horizon import LONGEST_DELAY
from punctual.domain.notice import Notice
from punctual.domain.notice_window import Window


@dataclass(frozen=True)
class SqsNotices:
    queue_url: str
    sqs: Callable[[], Any]

    def send(self, notices: Iterable[Notice]) -> None:
        """Raises when any was refused: ``ClientError`` for trouble that passes. Again is fine: each is told once."""
        remaining = iter(notices)
        while batch := list(islice(remaining, BATCH)):
            # the owner as message group: one whose jobs all fail does not hold up the others
            entries = [
                {"Id": str(n), "MessageBody": notice.to_body(), "MessageGroupId": group_id(notice.owner)}
                for n, notice in enumerate(batch)
            ]
            answer = self.sqs().send_message_batch(QueueUrl=self.queue_url, Entries=entries)
            if refused := answer.get("Failed"):
                _complain(refused, len(batch))

    def end_later(self, window: Window, now: datetime) -> None:
        """Hold the message back until the window ends, or a fraction of a second longer."""
        remaining = min(max(window.until - now, timedelta()), LONGEST_DELAY)
        self.sqs().send_message(
            QueueUrl=self.queue_url,
            MessageBody=window.to_body(),
            DelaySeconds=math.ceil(remaining / timedelta(seconds=1)),
        )


def _complain(refused: list[dict[str, Any]], sent: int) -> NoReturn:
    """A sender's fault is for ever; all else is AWS's trouble, and whoever meets that comes again."""
    words = f"{len(refused)} of {sent} notices were refused: {refused[0].get('Message')}"
    if any(one["SenderFault"] for one in refused):
        raise ValueError(words)
    raise ClientError({"Error": {"Code": refused[0]["Code"], "Message": words}}, "SendMessageBatch")
