"""What a manual run or a manual retry changes for its own execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.status import Status


class StartingPoint(StrEnum):
    """Where a manual retry begins. The short lane has no checkpoints: both are the same there."""

    CHECKPOINT = "checkpoint"
    """Keep finished partitions, and resume the others from their checkpoints. The default, except after a success."""
    START = "start"
    """Repeat all of the work."""


@dataclass(frozen=True, kw_only=True)
class RerunRequest:
    """The fields that replace those of the job, or of the retried execution. ``None`` keeps the value."""

    parameters: Mapping[str, Any] | None = None
    """Override the parameters of the same name."""
    timeout_seconds: int | None = None
    resources: Mapping[str, Any] | None = None
    """The API's representation of the container's size."""
    starting_point: StartingPoint | None = None
    """Only for a manual retry."""


def starting_point_of(ended: Execution, request: RerunRequest) -> StartingPoint:
    """Raises ``Invalid`` for an execution whose work is complete: there is nothing to continue."""
    if ended.status is not Status.SUCCEEDED:
        return request.starting_point or StartingPoint.CHECKPOINT
    if request.starting_point is StartingPoint.CHECKPOINT:
        raise Invalid("from", 'the execution has succeeded, so no work is left: omit it, or give "start"')
    return StartingPoint.START
