"""E-mail through SES, from the sender of the stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from punctual.aws.sns.topics import subject
from punctual.domain.errors import Undeliverable
from punctual.domain.notices.notice import Notice

TRANSIENT = frozenset(
    {"TooManyRequestsException", "LimitExceededException", "InternalServiceErrorException", "ServiceUnavailable"}
)


@dataclass(frozen=True)
class SesMail:
    sender: str | None
    """``None`` if the stage sends no e-mail."""
    ses: Callable[[], Any]

    def send(self, notice: Notice, address: str) -> None:
        """Raises ``Undeliverable`` if SES rejects the message or the stage has no sender."""
        if not self.sender:
            raise Undeliverable(f"{address}: the stage has no email_sender any more")
        try:
            self.ses().send_email(
                FromEmailAddress=self.sender,
                Destination={"ToAddresses": [address]},
                Content={"Simple": {"Subject": _text(subject(notice.title)), "Body": {"Text": _text(notice.text)}}},
            )
        except ClientError as error:
            failure = error.response["Error"]
            if failure["Code"] in TRANSIENT:
                raise
            raise Undeliverable(f"{address}: {failure['Code']}: {failure.get('Message', '')}") from error


def _text(text: str) -> dict[str, str]:
    return {"Data": text, "Charset": "UTF-8"}
