"""CloudWatch metrics: those with an alarm are sent with ``PutMetricData``, all others are written to the log.

In the embedded metric format (EMF), a metric is one JSON object per log line, which CloudWatch extracts when it ingests
the log: no request is made, and dimensions cost nothing to send. The lines are built here without Powertools, because
importing its Metrics would lengthen every cold start.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from punctual.domain.instant import to_epoch_ms
from punctual.domain.metrics import Metric, namespace

MAX_METRICS_PER_REQUEST = 1000
NO_DIMENSIONS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class CloudWatchMetrics:
    cloudwatch: Callable[[], Any]
    stage: str
    zeros: bool = True
    """Whether zeros are sent. A metric costs money in each hour in which it has a value, and an alarm on AWS treats no
    value as zero. The emulator evaluates an alarm only when a value arrives."""

    def publish(self, values: Mapping[Metric, float], now: datetime) -> None:
        """Send ``values`` without dimensions. Skips infinite and NaN values.

        Not idempotent: publishing a value again adds a second data point.
        """
        data = [
            {"MetricName": str(name), "Timestamp": now, "Value": float(value)}
            for name, value in values.items()
            if math.isfinite(value) and (value or self.zeros)
        ]
        for start in range(0, len(data), MAX_METRICS_PER_REQUEST):
            batch = data[start : start + MAX_METRICS_PER_REQUEST]
            self.cloudwatch().put_metric_data(Namespace=namespace(self.stage), MetricData=batch)

    def lines(self, details: Iterable[tuple[Mapping[str, float], Mapping[str, str]]], now: datetime) -> Iterator[str]:
        """Format values with their dimensions as log lines in the embedded metric format."""
        for values, dimensions in details:
            kept = {name: value for name, value in values.items() if value or self.zeros}
            if kept:
                yield emf(self.stage, kept, now, dimensions)


def emf(stage: str, values: Mapping[str, float], now: datetime, dimensions: Mapping[str, str] = NO_DIMENSIONS) -> str:
    """Format up to 100 ``values`` as a log line in the embedded metric format. Skips infinite and NaN values."""
    finite = {str(name): value for name, value in values.items() if math.isfinite(value)}
    directive = {
        "Namespace": namespace(stage),
        "Dimensions": [list(dimensions)],
        "Metrics": [{"Name": name} for name in finite],
    }
    metadata = {"Timestamp": to_epoch_ms(now), "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": metadata, **dimensions, **finite})
