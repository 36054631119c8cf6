"""The topics on which people listen. Subscribers filter by the attributes: owner, job, job_id and event."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from punctual.aws.dynamodb.items import dumped
from punctual.domain.jobs.notify_rule import Topic
from punctual.domain.notices.notice import Notice

LONGEST_SUBJECT = 99
LONGEST_ATTRIBUTE = 256


@dataclass(frozen=True)
class SnsTopics:
    arns: Mapping[Topic, str]
    sns: Callable[[], Any]

    def publish(self, notice: Notice) -> None:
        """Readable text to an email address; to everything else JSON, which has that text too."""
        attributes = {
            "owner": notice.owner,
            "job": notice.job_name,
            "job_id": notice.job_id,
            "event": str(notice.event),
        }
        self.sns().publish(
            TopicArn=self.arns[notice.to],
            Subject=subject(notice.title),
            MessageStructure="json",
            Message=dumped({"default": notice.to_body(), "email": notice.text}),
            MessageAttributes={
                name: {"DataType": "String", "StringValue": attribute(value)} for name, value in attributes.items()
            },
        )


def subject(title: str) -> str:
    """``title`` as SNS takes it: one line of ASCII, shorter than 100 characters, and never empty."""
    letters = (one for one in unicodedata.normalize("NFKD", _one_line(title)) if not unicodedata.combining(one))
    plain = "".join(letters).encode("ascii", "replace").decode()
    return (plain if len(plain) <= LONGEST_SUBJECT else f"{plain[: LONGEST_SUBJECT - 3]}...") or "Punctual"


def attribute(value: str) -> str:
    """``value`` as a message attribute: one line, and never empty."""
    return _one_line(value)[:LONGEST_ATTRIBUTE] or "-"


def _one_line(text: str) -> str:
    """Without line breaks and control characters; what XML cannot carry is among those."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
