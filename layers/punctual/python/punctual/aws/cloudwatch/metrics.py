"""Figures for CloudWatch: those that alarms watch are sent, the rest is written to the log.

The embedded metric format is one JSON object on a line of its own, from which CloudWatch makes metrics as it reads the
log: no request, and dimensions cost nothing to send. It is written by hand, because Powertools' Metrics would add to
the time of every cold start, for a handful of lines.
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
from punctual.domain.metrics import NAMESPACE

MOST_AT_ONCE = 1000
NO_DIMENSIONS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class CloudWatchMetrics:
    cloudwatch: Callable[[], Any]

    def publish(self, values: Mapping[str, float], now: datetime) -> None:
        """Without dimensions, zeros too; what is not a number is left out. Publishing again adds a second value."""
        data = [
            {"MetricName": str(name), "Timestamp": now, "Value": float(value)}
            for name, value in values.items()
            if math.isfinite(value)
        ]
        for start in range(0, len(data), MOST_AT_ONCE):
            self.cloudwatch().put_metric_data(Namespace=NAMESPACE, MetricData=data[start : start + MOST_AT_ONCE])


def emf(values: Mapping[str, float], now: datetime, dimensions: Mapping[str, str] = NO_DIMENSIONS) -> str:
    """The line to print for ``values``, of which there may be a hundred; what is not a number is left out."""
    finite = {str(name): value for name, value in values.items() if math.isfinite(value)}
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(dimensions)],
        "Metrics": [{"Name": name} for name in finite],
    }
    metadata = {"Timestamp": to_epoch_ms(now), "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": metadata, **dimensions, **finite})
