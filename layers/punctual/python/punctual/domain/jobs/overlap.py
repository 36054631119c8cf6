"""The overlap policy: what happens when an execution comes due while another of its job still runs."""

from __future__ import annotations

from enum import StrEnum

from punctual.domain.jobs.gate import OF_JOB, Gate, WhenFull


class Overlap(StrEnum):
    """The policy for an execution that comes due while another execution of its job still runs."""

    ALLOW = "allow"
    """Run both."""
    SKIP = "skip"
    """Skip the later execution."""
    QUEUE_ONE = "queue_one"
    """Queue the later execution if none is waiting; otherwise skip it."""
    QUEUE_ALL = "queue_all"
    """Queue the later execution behind all waiting ones."""
    CANCEL_RUNNING = "cancel_running"
    """Cancel the running execution and start the later one."""

    @classmethod
    def default(cls, *, recurring: bool) -> Overlap:
        """The policy of a job that names none."""
        return cls.SKIP if recurring else cls.ALLOW

    def gate(self, job_id: str) -> Gate | None:
        """The gate that admits one execution of the job at a time; None for ``allow``, which costs nothing."""
        when_full = _WHEN_FULL.get(self)
        return Gate(f"{OF_JOB}{job_id}", 1, when_full) if when_full else None


_WHEN_FULL = {
    Overlap.SKIP: WhenFull.SKIP,
    Overlap.QUEUE_ONE: WhenFull.WAIT_ALONE,
    Overlap.QUEUE_ALL: WhenFull.WAIT,
    Overlap.CANCEL_RUNNING: WhenFull.REPLACE,
}
