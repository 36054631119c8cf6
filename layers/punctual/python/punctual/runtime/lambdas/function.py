"""The wrapper of every Lambda handler: configures logging, and reports throttling and call counts."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from punctual.aws import call_meter, throttling
from punctual.domain.metrics import Metric
from punctual.runtime.lambdas import cold_start, log
from punctual.runtime.lambdas.alarm_metric import AlarmMetric

Handler = Callable[[dict[str, Any], Any], Any]

logger = log.configure()


def function(handler: Handler) -> Handler:
    """Wrap a handler, which ends its module. Its return value and its exceptions pass through unchanged."""
    cold_start.end()
    throttles = AlarmMetric(Metric.THROTTLES, interval=timedelta(seconds=1))

    @wraps(handler)
    def wrapper(event: dict[str, Any], context: Any) -> Any:
        started = time.monotonic()
        with log.sampled():
            try:
                return handler(event, context)
            finally:
                seconds = round(time.monotonic() - started, 3)
                logger.debug("invocation", extra={"records": len(event.get("Records", ())), "seconds": seconds})
                if throttling.check_and_reset():
                    throttles.publish(1)
                if call_meter.ENABLED:
                    logger.info("meter", extra={"meter": call_meter.drain()})

    return wrapper
