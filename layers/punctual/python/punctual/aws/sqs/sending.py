"""Sending messages to a queue: in batches of ten, each with its delay."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from botocore.exceptions import ClientError

from punctual.domain.executions.horizon import MAX_SQS_DELAY

BATCH_SIZE = 10


def send_all(sqs: Any, queue_url: str, messages: Iterable[Mapping[str, Any]]) -> None:
    """Send all ``messages`` in batches. Raises if SQS rejects any of them; earlier batches stay sent.

    ``ValueError`` is a permanent fault of the sender. ``ClientError`` is a transient fault of AWS: the caller retries.
    """
    remaining = iter(messages)
    while batch := list(islice(remaining, BATCH_SIZE)):
        entries = [{"Id": str(number), **message} for number, message in enumerate(batch)]
        rejected = sqs.send_message_batch(QueueUrl=queue_url, Entries=entries).get("Failed", [])
        if rejected:
            message = f"SQS rejected {len(rejected)} of {len(batch)} messages: {rejected[0].get('Message')}"
            if any(entry["SenderFault"] for entry in rejected):
                raise ValueError(message)
            raise ClientError({"Error": {"Code": rejected[0]["Code"], "Message": message}}, "SendMessageBatch")


def seconds_until(instant: datetime, now: datetime) -> int:
    """The delay with which a message does not arrive before ``instant``, capped at the maximum of SQS. Rounds up."""
    return math.ceil(min(max(instant - now, timedelta()), MAX_SQS_DELAY) / timedelta(seconds=1))
