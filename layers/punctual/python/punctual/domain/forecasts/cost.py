"""What Punctual costs, estimated: enough to see a change, not to pay a bill. Prices of us-east-1, arm64."""

from __future__ import annotations

from punctual.domain.forecasts.queue_backlog import Moved

SHORT_EXECUTION = 5.94e-6
"""Dollars for the requests of one recurring short execution, as measured (docs/benchmarks.md)."""
LAMBDA_SECOND = 0.5 * 0.0000133334
"""A worker has half a gigabyte."""
VCPU_SECOND = (0.03238 + 2 * 0.00356) / 3600
"""On Fargate, with the two gigabytes that usually go with a vCPU."""


def estimated_dollars(short: Moved, taken_cpu: int, seconds: float) -> float:
    """Of a span in which the short lane moved so much and containers held so much of the long lane."""
    lambda_dollars = short.finished * SHORT_EXECUTION + short.busy_seconds * LAMBDA_SECOND
    return lambda_dollars + taken_cpu / 1024 * seconds * VCPU_SECOND
