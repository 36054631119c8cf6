"""Where an execution runs, and which of the queues there it takes."""

from __future__ import annotations

from enum import StrEnum


class Lane(StrEnum):
    """Where executions run."""

    SHORT = "short"
    """SQS to Lambda, for up to 14 minutes."""

    LONG = "long"
    """Step Functions to Fargate, for hours and days."""


class Priority(StrEnum):
    """Which short queue an execution takes. Each queue has its own capacity, so none starves another."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"
