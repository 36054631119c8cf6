"""Sending messages to a queue: ten at a time, and each at its time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from botocore.exceptions import ClientError

from punctual.domain.executions.horizon import LONGEST_DELAY

BATCH = 10


def send_all(sqs: Any, queue_url: str, messages: Iterable[Mapping[str, Any]]) -> None:
    """Raises when any was refused: ``ValueError`` if the sender is at fault, which is for ever, else ``ClientError``,
    as all of AWS's own trouble is: whoever meets that comes again."""
    remaining = iter(messages)
    while batch := list(islice(remaining, BATCH)):
        entries = [{"Id": str(number), **message} for number, message in enumerate(batch)]
        refused = sqs.send_message_batch(QueueUrl=queue_url, Entries=entries).get("Failed", [])
        if refused:
            words = f"{len(refused)} of {len(batch)} messages were refused: {refused[0].get('Message')}"
            if any(one["SenderFault"] for one in refused):
                raise ValueError(words)
            raise ClientError({"Error": {"Code": refused[0]["Code"], "Message": words}}, "SendMessageBatch")


def seconds_until(instant: datetime, now: datetime) -> int:
    """How long a queue has to hold a message back so that it does not come before ``instant``, if it can so long."""
    return math.ceil(min(max(instant - now, timedelta()), LONGEST_DELAY) / timedelta(seconds=1))
