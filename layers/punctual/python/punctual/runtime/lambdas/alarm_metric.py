"""A metric with an alarm that is published when an event occurs, not by the monitor once a minute.

The CloudWatch client is imported and created only when there is a value to publish.
"""

from __future__ import annotations

import logging
import os
from datetime import datetime, timedelta

from punctual.domain import instant
from punctual.domain.metrics import Metric


class AlarmMetric:
    """Publishes at most once per ``interval`` and process. Best effort: it never raises, and its timeouts are short."""

    def __init__(self, metric: Metric, interval: timedelta = timedelta()) -> None:
        self._metric, self._interval = metric, interval
        self._tried_at: datetime | None = None

    def publish(self, value: float) -> None:
        now = instant.now()
        if self._tried_at is not None and timedelta() <= now - self._tried_at < self._interval:
            return
        self._tried_at = now
        try:
            from punctual.aws.clients import best_effort_cloudwatch
            from punctual.aws.cloudwatch.metrics import CloudWatchMetrics

            CloudWatchMetrics(best_effort_cloudwatch, os.environ["PUNCTUAL_STAGE"]).publish({self._metric: value}, now)
        except Exception as error:
            message = f"cannot publish metric {self._metric}: {type(error).__name__}: {error}"
            logging.getLogger("punctual").warning(message)
