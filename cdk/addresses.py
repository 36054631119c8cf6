"""Addresses of topic subscribers, as written in the settings."""

import re
from dataclasses import dataclass

_FORMS = {
    "email": re.compile(r"mailto:([^@\s?]+@[^@\s?]+)"),
    "https": re.compile(r"(https://[^\s/]+\S*)"),
    # Standard queues only: a standard topic cannot deliver to a FIFO queue.
    "sqs": re.compile(r"(arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,80})"),
}
_WANTED = (
    "use mailto:someone@example.com, https://example.com/hook, or the ARN of a standard SQS queue, "
    "arn:aws:sqs:eu-west-1:123456789012:alerts"
)


@dataclass(frozen=True)
class Address:
    protocol: str
    """The SNS subscription protocol."""
    endpoint: str


def read_address(setting: str, text: str) -> Address:
    """Parse an address. Raises `ValueError` with the name of the setting and the accepted forms if it is invalid."""
    for protocol, form in _FORMS.items():
        if found := form.fullmatch(text):
            return Address(protocol, found[1])
    raise ValueError(f"{setting}: {text!r} is not a valid address; {_WANTED}")
