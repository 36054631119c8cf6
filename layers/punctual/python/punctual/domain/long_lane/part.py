"""A part of a long execution: what gets a slot and runs in a container of its own.

An execution has one part, ``all``, or one for each of its partitions and after them ``collect``. Each part has its
own attempts, lease, checkpoint and progress; the execution stands where its parts stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from punctual.domain.executions.execution import Attempt, Failure, Progress, Result
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Priority
from punctual.domain.schedules.data_window import DataWindow
from punctual.domain.status import Status

WHOLE = "all"
COLLECT = "collect"
EXECUTION = "execution"
"""Not a part, but the whole from its start to its end: a kind of run time that executions of every lane have."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Carries all that admission and its container need, so that neither reads the job."""

    execution_id: str
    name: str
    """``all``, the number of a partition such as ``0003``, or ``collect``."""
    job_id: str
    owner: str
    status: Status
    cpu: int
    """In 1/1024 of a vCPU, as ECS counts."""
    memory_mb: int
    latest_start: datetime
    """The deadline less the forecast run time. Laxity is this less now, so whoever has the earliest goes first."""
    expected_seconds: int
    spot: bool = False
    image: str = ""
    """The name of the user's own image; empty for the runner's."""
    command: tuple[str, ...] = ()
    timeout_seconds: int = 43_200
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    priority: Priority = Priority.NORMAL
    preemptible: bool = False
    number: int = 0
    count: int = 1
    value: Any = None
    """What a partition is about, when the job lists its partitions."""
    window: DataWindow | None = None
    reason: str | None = None
    attempt: int = 0
    asked_at: datetime | None = None
    """When it first asked for a slot."""
    granted_at: datetime | None = None
    start_at: datetime | None = None
    """When its container may be started: starts are paced."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    retry_at: datetime | None = None
    lease_until: datetime | None = None
    ticket: str | None = None
    """The token with which its state machine waits for a slot."""
    key: str | None = None
    """What the container of this attempt proves itself with."""
    token: str | None = None
    """The token with which its state machine waits for the container's end."""
    task_arn: str | None = None
    leave: str | None = None
    """Why its container was asked to leave at its next checkpoint."""
    cancel_at: datetime | None = None
    """It was asked to stop for good, and has until then to do so by itself."""
    cancel_reason: str | None = None
    checkpoint: str | None = None
    """Where the state lies from which the next attempt goes on."""
    progress: Progress | None = None
    result: Result | None = None
    error: Failure | None = None
    attempts: tuple[Attempt, ...] = ()

    @property
    def worker_id(self) -> str | None:
        """Its container, as ECS names it."""
        return self.task_arn.rpartition("/")[2] if self.task_arn else None

    @property
    def reports(self) -> bool:
        """Whether its container has Punctual's runner, which beats and reports; an own image just ends."""
        return not self.image


def kind_of(name: str) -> str:
    """What a part's run time tells something about: other parts of the same kind."""
    return name if name in (WHOLE, COLLECT) else "partition"
