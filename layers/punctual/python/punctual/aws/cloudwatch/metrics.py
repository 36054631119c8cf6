"""CloudWatch metrics: the monitor writes them to the log, other functions send theirs with ``PutMetricData``.

On the emulator, the monitor also sends those that have an alarm. In the embedded metric format (EMF), a metric is one
JSON object per log line, which CloudWatch extracts when it ingests the log: no request is made, and dimensions cost
nothing to send. The lines are built here without Powertools, because importing its Metrics would lengthen every cold
start.
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
    from_logs: bool = False
    """Whether CloudWatch extracts all metrics from the log, without a request. Zeros are then left out: a metric costs
    money in each hour in which it has a value, and the alarms take no value as a good one. The emulator extracts
    nothing, and evaluates an alarm only when a value arrives."""
    write: Callable[[str], None] = print

    def publish(self, values: Mapping[Metric, float], now: datetime) -> None:
        """Publish ``values`` without dimensions. Skips infinite and NaN values.

        Not idempotent: publishing a value again adds a second data point.
        """
        if self.from_logs:
            self.log(values, NO_DIMENSIONS, now)
            return
        data = [
            {"MetricName": str(name), "Timestamp": now, "Value": float(value)}
            for name, value in values.items()
            if math.isfinite(value)
        ]
        for start in range(0, len(data), MAX_METRICS_PER_REQUEST):
            batch = data[start : start + MAX_METRICS_PER_REQUEST]
            self.cloudwatch().put_metric_data(Namespace=namespace(self.stage), MetricData=batch)

    def log(self, values: Mapping[Any, float], dimensions: Mapping[str, str], now: datetime) -> None:
        """Write ``values`` to the log in the embedded metric format."""
        kept = {name: value for name, value in values.items() if value or not self.from_logs}
        if kept:
            self.write(emf(self.stage, kept, now, dimensions))


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
