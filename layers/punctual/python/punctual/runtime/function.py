"""What every Lambda of Punctual has: a logger, and the meter's reading after each invocation."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from aws_lambda_powertools import Logger

from punctual.aws import meter

Handler = Callable[[dict[str, Any], Any], Any]

logger = Logger()


def function(handler: Handler) -> Handler:
    """Wraps a handler."""
    if not meter.ENABLED:
        return handler

    @wraps(handler)
    def metered(event: dict[str, Any], context: Any) -> Any:
        try:
            return handler(event, context)
        finally:
            logger.info("meter", extra={"meter": meter.take()})

    return metered
