"""Which failures of AWS requests a repetition can overcome."""

from __future__ import annotations

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

PERMANENT = frozenset(
    {
        "ValidationException",
        "ValidationError",
        "SerializationException",
        "ItemCollectionSizeLimitExceededException",
        "InvalidParameterValue",
        "InvalidParameterValueException",
        "InvalidMessageContents",
        "InvalidName",
        "InvalidExecutionInput",
    }
)
"""Error codes of requests that AWS can never process. An operator can add a missing permission or resource."""


def is_temporary(error: Exception) -> bool:
    """Whether the failure comes from AWS, and the same request may succeed later."""
    if isinstance(error, ClientError):
        return str(error.response["Error"]["Code"]) not in PERMANENT
    return isinstance(error, BotoCoreError) and not isinstance(error, ParamValidationError)
