"""A figure for an alarm that is told when something happens, not by the monitor's minute.

Nothing is imported for it, and nothing asked of AWS, until there is something to tell.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from punctual.domain import instant
from punctual.domain.metrics import Metric


class Figure:
    """Told at most once in ``pause`` by one process, and at nobody's risk: it never raises, and does not take long."""

    def __init__(self, metric: Metric, pause: timedelta = timedelta()) -> None:
        self._metric, self._pause = metric, pause
        self._tried_at: datetime | None = None

    def tell(self, value: float) -> None:
        now = instant.now()
        if self._tried_at is not None and timedelta() <= now - self._tried_at < self._pause:
            return
        self._tried_at = now
        try:
            from punctual.aws.clients import hasty_cloudwatch
            from punctual.aws.cloudwatch.metrics import CloudWatchMetrics

            CloudWatchMetrics(hasty_cloudwatch).publish({self._metric: value}, now)
        except Exception as error:
            words = f"{self._metric} could not be told: {type(error).__name__}: {error}"
            logging.getLogger("punctual").warning(words)
