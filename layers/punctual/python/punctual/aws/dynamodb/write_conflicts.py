"""Repeat writes that conflict with a transaction in progress, which botocore does not."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from botocore.exceptions import ClientError

R = TypeVar("R")

CONFLICT_BACKOFFS = (0.02, 0.05, 0.1, 0.2, 0.4)
"""The longest pauses, in seconds, before a write that conflicted with a transaction is repeated."""


def write(operation: Callable[..., R], **request: Any) -> R:
    """Make a write. If it conflicts with a transaction, repeat it with backoff and jitter.

    A conflicting write was not applied. The error of the last try propagates.
    """
    for backoff in CONFLICT_BACKOFFS:
        try:
            return operation(**request)
        except ClientError as error:
            if not _is_conflict(error):
                raise
            time.sleep(random.uniform(0, backoff))
    return operation(**request)


def _is_conflict(error: ClientError) -> bool:
    """Whether a write was refused only because a transaction on the same item was in progress."""
    reasons = cancellation_reasons(error)
    if reasons:
        return "TransactionConflict" in reasons and "ConditionalCheckFailed" not in reasons
    return str(error.response["Error"]["Code"]) == "TransactionConflictException"


def cancellation_reasons(error: ClientError) -> list[str]:
    """Why each write of a cancelled transaction was refused; empty for any other error."""
    found: Any = error.response.get("CancellationReasons", [])
    return [reason.get("Code", "None") for reason in found]
