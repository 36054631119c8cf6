"""Notices that AWS refused a call because there were too many, whoever made it and whatever became of the error.

It looks at an answer after botocore's own retries: what was refused at first and then done is no refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

CODES = frozenset(
    {
        *("Throttling", "ThrottlingException", "ThrottledException", "ThrottlingError"),
        *("RequestThrottled", "RequestThrottledException", "RequestLimitExceeded", "TooManyRequestsException"),
        *("ProvisionedThroughputExceeded", "ProvisionedThroughputExceededException"),
        *("BandwidthLimitExceeded", "SlowDown", "KmsThrottled"),
    }
)

_noticed = False


def watch(client: Any) -> None:
    """Look at the answer to every call of ``client``."""
    client.meta.events.register("after-call", _look)


def take() -> bool:
    """Whether any call was refused since this was asked last."""
    global _noticed
    noticed, _noticed = _noticed, False
    return noticed


def _look(parsed: Mapping[str, Any], **_: Any) -> None:
    global _noticed
    if not CODES.isdisjoint(_codes(parsed)):
        _noticed = True


def _codes(parsed: Mapping[str, Any]) -> Iterator[str | None]:
    """Of the call, of what stopped a transaction, of messages that a queue did not take."""
    if "Error" in parsed:
        yield parsed["Error"].get("Code")
        for reason in parsed.get("CancellationReasons", ()):
            yield reason.get("Code")
    for message in parsed.get("Failed", ()):
        yield message.get("Code")
