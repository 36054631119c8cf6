"""Ports of the backlogs of queue jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from punctual.domain.jobs.job_backlog import JobBacklogs


class QueueJobs(Protocol):
    """The live queue jobs."""

    def queue_job_ids(self, at_most: int) -> list[str]:
        """The ids of the live queue jobs, the oldest first. Eventually consistent."""


class UnstartedMessages(Protocol):
    """The executions of messages that have not started. Eventually consistent."""

    def count_unstarted(self, job_id: str, at_most: int) -> int:
        """Count those of a job, up to ``at_most``."""

    def oldest_unstarted(self, job_id: str) -> datetime | None:
        """The due instant of the oldest one of a job."""


class Arrivals(Protocol):
    """The number of messages of each queue job that became executions."""

    def add(self, job_id: str, count: int, now: datetime) -> None:
        """Not idempotent: used only for rates."""

    def read(self, job_ids: Iterable[str]) -> Mapping[str, int]:
        """The total of each job; without those that had none lately."""


class MeasuredBacklogs(Protocol):
    """The latest measurement of the queue jobs."""

    def latest(self) -> JobBacklogs: ...

    def store(self, jobs: JobBacklogs) -> bool:
        """Replace the previous version. ``False`` if another tick has done so."""
