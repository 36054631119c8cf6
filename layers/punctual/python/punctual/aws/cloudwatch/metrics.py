"""CloudWatch metrics: those with an alarm are sent with ``PutMetricData``, all others are written to the log.

In the embedded metric format (EMF), a metric is one JSON object per log line, which CloudWatch extracts when it ingests
the log: no request is made, and dimensions cost nothing to send. The lines are built here without Powertools, because
importing its Metrics would lengthen every cold start.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
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

    def publish(self, values: Mapping[Metric, float], now: datetime) -> None:
        """Send ``values`` without dimensions, zeros included. Skips infinite and NaN values.

        Not idempotent: publishing a value again adds a second data point.
        """
        data = [
            {"MetricName": str(name), "Timestamp": now, "Value": float(value)}
            for name, value in values.items()
            if math.isfinite(value)
        ]
        for start in range(0, len(data), MAX_METRICS_PER_REQUEST):
            batch = data[start : start + MAX_METRICS_PER_REQUEST]
            self.cloudwatch().put_metric_data(Namespace=namespace(self.stage), MetricData=batch)


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
