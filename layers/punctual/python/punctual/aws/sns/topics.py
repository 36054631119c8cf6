"""The SNS topics for notices. Subscribers can filter by message attributes: owner, job, job_id, event and tags."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from punctual.aws.dynamodb.items import to_json
from punctual.domain.errors import Undeliverable
from punctual.domain.notices.notice import Notice

PERMANENT = frozenset({"AuthorizationError", "AccessDenied", "NotFound", "InvalidParameter", "EndpointDisabled"})
"""Errors of a topic that publishing again does not remove."""

MAX_SUBJECT_LENGTH = 99
MAX_ATTRIBUTE_LENGTH = 256


@dataclass(frozen=True)
class SnsTopics:
    arns: Mapping[str, str]
    """The stage's own topics, by name."""
    sns: Callable[[], Any]
    sns_in: Callable[[str], Any]
    """The client of a Region, for a topic that a job names."""

    def publish(self, notice: Notice) -> None:
        """Publish to a topic of the stage."""
        _publish(self.sns(), notice, self.arns[notice.to])

    def publish_elsewhere(self, notice: Notice, arn: str) -> None:
        """Publish to a topic that a job names. Raises ``Undeliverable`` if its policy or its account refuses that."""
        try:
            _publish(self.sns_in(arn.split(":")[3]), notice, arn)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code not in PERMANENT:
                raise
            raise Undeliverable(f"{arn}: {code}: the policy of the topic must allow the notifier to publish") from error


def _publish(sns: Any, notice: Notice, arn: str) -> None:
    """Send plain text to email subscriptions, and JSON that includes this text to all other protocols."""
    attributes = {
        "owner": notice.owner,
        "job": notice.job_name,
        "job_id": notice.job_id,
        "event": str(notice.event),
    }
    sns.publish(
        TopicArn=arn,
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
