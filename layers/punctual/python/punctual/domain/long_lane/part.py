"""A part of a long execution: the unit that gets a slot and runs in its own container.

An execution has one part, ``all``, or one part per partition followed by ``collect``. Each part has its own attempts,
lease, checkpoint and progress. The status of the execution is derived from its parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.executions.execution import Attempt, Failure, Result
from punctual.domain.executions.progress import Progress
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Priority
from punctual.domain.schedules.data_window import DataWindow
from punctual.domain.status import SLOT_HOLDING_STATUSES, Status

WHOLE = "all"
COLLECT = "collect"
EXECUTION = "execution"
"""Not a part: the run time of the whole execution, recorded for both lanes beside the run times of parts."""
PARTITION = "partition"
"""The kind of all partitions: their run times are recorded together, in the order of runs and numbers."""
PARTITIONS = "partitions"
"""Not a run time: the number of partitions of each run, which divides the recorded run times of partitions."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Carries everything that admission and the container need, so that neither reads the job."""

    execution_id: str
    name: str
    """``all``, the number of a partition such as ``0003``, or ``collect``."""
    job_id: str
    owner: str
    status: Status
    cpu: int
    """In ECS CPU units: 1024 are one vCPU."""
    memory_mb: int
    latest_start: datetime
    """The deadline minus the forecast run time. Laxity is this minus now, so the earliest is admitted first."""
    expected_seconds: int
    spot: bool = False
    image: str = ""
    """The user's own container image; empty for Punctual's runner image."""
    command: tuple[str, ...] = ()
    timeout_seconds: int = 43_200
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    priority: Priority = Priority.NORMAL
    preemptible: bool = False
    number: int = 0
    count: int = 1
    value: Any = None
    """The partition's value, if the job lists its partitions."""
    window: DataWindow | None = None
    reason: str | None = None
    attempt: int = 0
    requested_at: datetime | None = None
    """When it first asked for a slot."""
    granted_at: datetime | None = None
    start_at: datetime | None = None
    """When its container may start. Container starts are paced."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    retry_at: datetime | None = None
    lease_until: datetime | None = None
    tickets: frozenset[str] = frozenset()
    """The Step Functions task tokens with which the state machine waits for a slot. A repeated request adds one; only
    the newest is waited for, and answers to the others are ignored."""
    key: str | None = None
    """The secret with which the container of this attempt authenticates."""
    tokens: frozenset[str] = frozenset()
    """The Step Functions task tokens with which the state machine waits for the container's end. A container that was
    started twice adds one; only the newest is waited for, and answers to the others are ignored."""
    task_arn: str | None = None
    claimed_by: str | None = None
    """The container that claimed the attempt: its ECS task, or its token if that is unknown."""
    preempt_reason: str | None = None
    """Preemption: why the container was asked to stop at its next checkpoint."""
    preempt_requested_at: datetime | None = None
    cancel_at: datetime | None = None
    """Cancelled: the end of the grace period in which the task may stop by itself."""
    cancel_reason: str | None = None
    kept_from: str | None = None
    """The earlier execution whose result or checkpoint it keeps."""
    checkpoint: str | None = None
    """The location of the saved state from which the next attempt resumes."""
    progress: Progress | None = None
    result: Result | None = None
    error: Failure | None = None
    attempts: tuple[Attempt, ...] = ()

    @property
    def worker_id(self) -> str | None:
        """The ECS task id of its container."""
        return self.task_arn.rpartition("/")[2] if self.task_arn else None

    @property
    def stopping(self) -> str | None:
        """Why it was asked to stop, while it runs."""
        return (self.cancel_reason or self.preempt_reason) if self.status in SLOT_HOLDING_STATUSES else None

    @property
    def uses_runner(self) -> bool:
        """Whether its container uses Punctual's runner, which sends heartbeats and a final report. A custom image
        only exits."""
        return not self.image

    @property
    def has_kept_result(self) -> bool:
        """Whether it succeeded in an earlier execution, and has no attempt of its own."""
        return self.kept_from is not None and self.status is Status.SUCCEEDED and self.attempt == 0


def kind_of(name: str) -> str:
    """Return the kind under which run times of parts are recorded and forecast."""
    return name if name in (WHOLE, COLLECT) else PARTITION


def busy_seconds(part: Part) -> float:
    """Return the run time of a part over all its ended attempts: it may have continued from a checkpoint."""
    spans = (one.ended_at - one.started_at for one in part.attempts if one.started_at)
    return sum(spans, timedelta()).total_seconds()
