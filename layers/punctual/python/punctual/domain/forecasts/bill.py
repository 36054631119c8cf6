"""What Punctual is billed for, and the bill of an execution and of an idle month.

``make bench PARTS=cost`` measures the usage, prints each line of these bills, and fails if a recorded total is not that
of the measured usage: docs/benchmarks.md. Free tiers are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

HOURS_PER_MONTH = 730
DAYS_PER_MONTH = HOURS_PER_MONTH / 24
SECONDS_PER_MONTH = HOURS_PER_MONTH * 3600
GIGABYTE = 1024**3

LAMBDA_GB_SECOND = 0.0000133334
"""Dollars, https://aws.amazon.com/lambda/pricing: arm64, first tier."""

FARGATE_VCPU_HOUR, FARGATE_GB_HOUR = 0.03238, 0.00356
"""Dollars, https://aws.amazon.com/fargate/pricing: arm64."""
PUBLIC_ADDRESS_HOUR = 0.005
"""Dollars, https://aws.amazon.com/vpc/pricing: the IPv4 address of a container."""

PRICES: Mapping[str, tuple[str, float]] = {
    # https://aws.amazon.com/dynamodb/pricing/on-demand: standard table class
    "write_units": ("DynamoDB writes", 0.625e-6),
    "read_units": ("DynamoDB reads", 0.125e-6),
    "table_gb_months": ("DynamoDB storage", 0.25),
    "recovery_gb_months": ("DynamoDB point-in-time recovery", 0.20),
    # https://aws.amazon.com/sqs/pricing: standard queues
    "sqs_requests": ("SQS requests", 0.40e-6),
    "empty_receives": ("SQS receives without a message", 0.40e-6),
    # https://aws.amazon.com/lambda/pricing
    "lambda_requests": ("Lambda requests", 0.20e-6),
    "lambda_gb_seconds": ("Lambda compute", LAMBDA_GB_SECOND),
    "waiting_gb_seconds": ("Lambda compute while waiting for the due instant", LAMBDA_GB_SECOND),
    # https://aws.amazon.com/eventbridge/pricing: EventBridge Scheduler
    "tick_invocations": ("EventBridge Scheduler", 1.0e-6),
    # https://aws.amazon.com/cloudwatch/pricing
    "log_gb": ("CloudWatch Logs: ingestion", 0.50),
    "log_gb_months": ("CloudWatch Logs: storage", 0.03),
    "metric_months": ("CloudWatch metrics", 0.30),
    "alarm_months": ("CloudWatch alarms", 0.10),
    "dashboard_months": ("CloudWatch dashboard", 3.00),
    # https://aws.amazon.com/kms/pricing
    "key_months": ("KMS key", 1.00),
}
"""Name of the line and dollars per unit of each field of ``Usage``: list prices of us-east-1."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What is used, in the units of the price lists."""

    write_units: float = 0
    read_units: float = 0
    table_gb_months: float = 0
    recovery_gb_months: float = 0
    sqs_requests: float = 0
    empty_receives: float = 0
    lambda_requests: float = 0
    lambda_gb_seconds: float = 0
    """Of Punctual itself; the run time of a task comes in addition."""
    waiting_gb_seconds: float = 0
    tick_invocations: float = 0
    log_gb: float = 0
    log_gb_months: float = 0
    metric_months: float = 0
    alarm_months: float = 0
    dashboard_months: float = 0
    key_months: float = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)})

    def times(self, factor: float) -> Usage:
        return Usage(**{one.name: factor * getattr(self, one.name) for one in fields(self)})

    @property
    def lines(self) -> dict[str, float]:
        """The dollars of each line that is not zero."""
        used = {one.name: getattr(self, one.name) for one in fields(self)}
        return {PRICES[name][0]: quantity * PRICES[name][1] for name, quantity in used.items() if quantity}

    @property
    def dollars(self) -> float:
        return sum(self.lines.values())


EXECUTION_EACH_SECOND_DOLLARS = 9.58e-6
"""An execution of a short job that is due every second, as measured."""
EXECUTION_DOLLARS = 9.70e-6
"""An execution of a short job that is due beyond the planner's horizon, as measured."""
IDLE_MONTH_DOLLARS = 9.59
"""A month in which no execution runs, as measured."""
