"""The lane in which an execution runs, and its priority within the short lane."""

from __future__ import annotations

from enum import StrEnum


class Lane(StrEnum):
    """The compute service on which an execution runs."""

    SHORT = "short"
    """SQS and Lambda, for runs of up to 14 minutes."""

    LONG = "long"
    """Step Functions and Fargate, for runs of hours or days."""


class Priority(StrEnum):
    """The priority of an execution. Each has its own short-lane queue and capacity, so none starves another."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"
