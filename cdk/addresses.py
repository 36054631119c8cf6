"""Where the messages of a topic go, as the settings give it: a person's address or a program's."""

import re
from dataclasses import dataclass

_FORMS = {
    "email": re.compile(r"mailto:([^@\s?]+@[^@\s?]+)"),
    "https": re.compile(r"(https://[^\s/]+\S*)"),
    # Standard queues only: this kind of topic cannot send to a FIFO queue.
    "sqs": re.compile(r"(arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,80})"),
}
_WANTED = (
    "use mailto:someone@example.com, https://example.com/hook, or the ARN of a standard SQS queue, "
    "arn:aws:sqs:eu-west-1:123456789012:alerts"
)


@dataclass(frozen=True)
class Address:
    protocol: str
    """As SNS calls it."""
    endpoint: str


def read_address(setting: str, text: str) -> Address:
    """Raises `ValueError` that names the setting, and what would do, for a text that is no address."""
    for protocol, form in _FORMS.items():
        if found := form.fullmatch(text):
            return Address(protocol, found[1])
    raise ValueError(f"{setting}: {text!r} is no address; {_WANTED}")
