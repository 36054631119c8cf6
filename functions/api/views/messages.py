"""Convert sent messages to the response model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from answers.messages import SentMessage, SentMessages

from punctual.stages.api import send_messages


def messages_view(sent: Sequence[send_messages.SentMessage]) -> SentMessages:
    items = [SentMessage(**asdict(one)) for one in sent]
    return SentMessages(items=items, failed=sum(one.reason is not None for one in sent))
