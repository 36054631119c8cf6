"""What every Lambda of Punctual has: a logger, and after each invocation word of refusals, and the meter's reading."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from punctual.aws import call_meter, throttling
from punctual.domain.metrics import Metric
from punctual.runtime.lambdas import log
from punctual.runtime.lambdas.alarm_metric import Figure

Handler = Callable[[dict[str, Any], Any], Any]

logger = log.start()


def function(handler: Handler) -> Handler:
    """Wraps a handler. What it returns or raises stays as it is."""
    throttles = Figure(Metric.THROTTLES, pause=timedelta(seconds=1))

    @wraps(handler)
    def watched(event: dict[str, Any], context: Any) -> Any:
        try:
            return handler(event, context)
        finally:
            if throttling.take():
                throttles.tell(1)
            if call_meter.ENABLED:
                logger.info("meter", extra={"meter": call_meter.take()})

    return watched
