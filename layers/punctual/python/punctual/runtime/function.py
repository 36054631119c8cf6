"""What every Lambda of Punctual has: a logger, and the meter's reading after each invocation."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from punctual.aws import meter
from punctual.runtime import log

Handler = Callable[[dict[str, Any], Any], Any]

logger = log.start()


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
