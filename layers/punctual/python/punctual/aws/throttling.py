"""Detect calls that AWS throttled, independent of the caller and of how the caller handles the error.

Responses are inspected after botocore's own retries: a call that succeeds on a retry does not count as throttled.
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

_throttled = False


def instrument(client: Any) -> None:
    """Inspect the response to every call of ``client``."""
    client.meta.events.register("after-call", _inspect)


def check_and_reset() -> bool:
    """Return whether any call was throttled since the last check."""
    global _throttled
    throttled, _throttled = _throttled, False
    return throttled


def _inspect(parsed: Mapping[str, Any], **_: Any) -> None:
    global _throttled
    if not CODES.isdisjoint(_codes(parsed)):
        _throttled = True


def _codes(parsed: Mapping[str, Any]) -> Iterator[str | None]:
    """Error codes of the call, of a cancelled transaction, and of messages rejected by ``SendMessageBatch``."""
    if "Error" in parsed:
        yield parsed["Error"].get("Code")
        for reason in parsed.get("CancellationReasons", ()):
            yield reason.get("Code")
    for message in parsed.get("Failed", ()):
        yield message.get("Code")
