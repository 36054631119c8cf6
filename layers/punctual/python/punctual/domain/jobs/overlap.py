"""What happens when an execution comes due while another one of its job still runs."""

from __future__ import annotations

from enum import StrEnum

from punctual.domain.jobs.gate import OF_JOB, Gate, WhenFull


class Overlap(StrEnum):
    ALLOW = "allow"
    """Both run."""
    SKIP = "skip"
    """The later one is skipped."""
    QUEUE_ONE = "queue_one"
    """The later one waits, if none waits yet; else it is skipped."""
    QUEUE_ALL = "queue_all"
    """The later one waits, behind all who wait."""
    CANCEL_RUNNING = "cancel_running"
    """The one that runs is cancelled and the later one takes its place."""

    @classmethod
    def usual(cls, *, recurring: bool) -> Overlap:
        """Where a job says nothing."""
        return cls.SKIP if recurring else cls.ALLOW

    def gate(self, job_id: str) -> Gate | None:
        """One goes in at a time. No gate where all may run, and so nothing to pay."""
        when_full = _WHEN_FULL.get(self)
        return Gate(f"{OF_JOB}{job_id}", 1, when_full) if when_full else None


_WHEN_FULL = {
    Overlap.SKIP: WhenFull.SKIP,
    Overlap.QUEUE_ONE: WhenFull.WAIT_ALONE,
    Overlap.QUEUE_ALL: WhenFull.WAIT,
    Overlap.CANCEL_RUNNING: WhenFull.TAKE_OVER,
}
