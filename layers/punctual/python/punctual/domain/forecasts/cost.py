"""An estimate of what Punctual costs: precise enough to see a change, not a bill. Prices of us-east-1, arm64."""

from __future__ import annotations

from punctual.domain.forecasts.queue_backlog import LaneFlow

SHORT_EXECUTION_DOLLARS = 5.94e-6
"""Requests of one recurring short execution, as measured (docs/benchmarks.md)."""
LAMBDA_SECOND_DOLLARS = 0.5 * 0.0000133334
"""A worker with 0.5 GB of memory."""
VCPU_SECOND_DOLLARS = (0.03238 + 2 * 0.00356) / 3600
"""Fargate, with the usual 2 GB of memory per vCPU."""


def estimated_dollars(short: LaneFlow, taken_cpu: int, seconds: float) -> float:
    """The cost of ``seconds`` with this work in the short lane and these CPU units held in the long lane."""
    lambda_dollars = short.finished * SHORT_EXECUTION_DOLLARS + short.busy_seconds * LAMBDA_SECOND_DOLLARS
    return lambda_dollars + taken_cpu / 1024 * seconds * VCPU_SECOND_DOLLARS
