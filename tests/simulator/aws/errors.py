"""Errors of the modelled services, as boto3 raises them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from botocore.exceptions import ClientError

THROTTLED = "ThrottlingException"
RETRIED_CODES = frozenset({THROTTLED, "ProvisionedThroughputExceededException", "InternalServerError"})
"""Codes after which botocore repeats a request."""


class ServiceError(Exception):
    """An error response of a service. The client converts it to a ``ClientError``; a hook may raise it, too."""

    def __init__(self, code: str, message: str, **fields: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.fields = code, message, fields

    def response(self) -> dict[str, Any]:
        return {"Error": {"Code": self.code, "Message": self.message}, **self.fields}


class ConnectionLost(Exception):
    """Raised by a hook: the request is lost (before the call), or its response (after the call took effect)."""


def invalid(message: str) -> ServiceError:
    return ServiceError("ValidationException", message)


def conflict(transaction: Sequence[Any] | None) -> ServiceError:
    """The error of a write whose item a transaction is changing: of a plain write, or of a transaction."""
    if transaction is None:
        return ServiceError("TransactionConflictException", "Transaction is ongoing for the item")
    reasons = [{"Code": "TransactionConflict"}, *({"Code": "None"} for _ in transaction[1:])]
    message = "Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]"
    return ServiceError("TransactionCanceledException", message, CancellationReasons=reasons)


@cache
def error_class(code: str) -> type[ClientError]:
    """The exception class of an error code: the same class for raising and for ``client.exceptions``."""
    return type(code, (ClientError,), {})


class ErrorClasses:
    """The attribute ``exceptions`` of a client."""

    def __getattr__(self, code: str) -> type[ClientError]:
        if code.startswith("_"):
            raise AttributeError(code)
        return error_class(code)
