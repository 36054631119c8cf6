"""The SNS topics for notices. Subscribers can filter by message attributes: owner, job, job_id, event and tags."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import to_json
from punctual.domain.jobs.notify_rule import Topic
from punctual.domain.notices.notice import Notice

MAX_SUBJECT_LENGTH = 99
MAX_ATTRIBUTE_LENGTH = 256


@dataclass(frozen=True)
class SnsTopics:
    arns: Mapping[Topic, str]
    sns: Callable[[], Any]
    api_url: str
    """The address of the API, for the link to the execution."""

    def publish(self, notice: Notice) -> None:
        """Send plain text to email subscriptions, and JSON that includes this text to all other protocols."""
        link = f"{self.api_url}/executions/{notice.execution_id}"
        notice = replace(notice, text=f"{notice.text}\nLink: {link}", facts={**notice.facts, "link": link})
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
            Message=to_json({"default": notice.to_body(), "email": notice.text}),
            MessageAttributes={
                name: {"DataType": "String", "StringValue": attribute(value)} for name, value in attributes.items()
            }
            | _tags_attribute(notice),
        )


def subject(title: str) -> str:
    """Convert ``title`` to a valid SNS subject: one line of ASCII, shorter than 100 characters, not empty."""
    letters = (char for char in unicodedata.normalize("NFKD", _one_line(title)) if not unicodedata.combining(char))
    plain = "".join(letters).encode("ascii", "replace").decode()
    return (plain if len(plain) <= MAX_SUBJECT_LENGTH else f"{plain[: MAX_SUBJECT_LENGTH - 3]}...") or "Punctual"


def attribute(value: str) -> str:
    """Convert ``value`` to a valid message attribute: one line, at most 256 characters, not empty."""
    return _one_line(value)[:MAX_ATTRIBUTE_LENGTH] or "-"


def _tags_attribute(notice: Notice) -> dict[str, Any]:
    """An array such as ``["dataset:orders"]``, which a filter policy matches by element."""
    tags = [f"{key}:{value}" for key, value in notice.tags.items()]
    return {"tags": {"DataType": "String.Array", "StringValue": to_json(tags)}} if tags else {}


def _one_line(text: str) -> str:
    """Replace line breaks and control characters, which include all characters invalid in XML, by single spaces."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


if TYPE_CHECKING:
    from punctual.ports.notices import Topics

    _topics: type[Topics] = SnsTopics
