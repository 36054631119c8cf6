"""The life of an execution: its statuses, and the only moves between them.

Every conditional write derives from ``TRANSITIONS``, and the diagram in docs/lifecycle.md is tested against it.
"""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where an execution is. Each member says who moves an execution in, and who out."""

    SCHEDULED = "scheduled"
    """Planned for an instant beyond the horizon. In: the planner. Out: the dispatcher, by its due timer."""

    QUEUED = "queued"
    """On its way to a worker, or waiting for one. In: planner, dispatcher or intake. Out: the worker's claim."""

    RUNNING = "running"
    """A worker holds the lease. In: the worker's claim. Out: that worker, or whoever takes over a lapsed lease."""

    RETRYING = "retrying"
    """An attempt failed and another one is due at ``retry_at``. In: the worker. Out: the next claim."""

    SUCCEEDED = "succeeded"
    """The task returned. In: the worker. Final."""

    FAILED = "failed"
    """The attempts are exhausted, or the failure was fatal. In: the worker. Final."""

    TIMED_OUT = "timed_out"
    """The last attempt ran over its time limit. In: the worker. Final."""

    CANCELLED = "cancelled"
    """Withdrawn before it ran, because its job was deleted or changed. In: the planner. Final."""


_WAITING_FOR_A_WORKER = frozenset({Status.RUNNING, Status.CANCELLED})

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.SCHEDULED: frozenset({Status.QUEUED, Status.CANCELLED}),
    Status.QUEUED: _WAITING_FOR_A_WORKER,
    Status.RUNNING: frozenset(
        # running → running: the next attempt takes over from a worker whose lease has lapsed
        {Status.RUNNING, Status.RETRYING, Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT}
    ),
    Status.RETRYING: _WAITING_FOR_A_WORKER | {Status.QUEUED},
    Status.SUCCEEDED: frozenset(),
    Status.FAILED: frozenset(),
    Status.TIMED_OUT: frozenset(),
    Status.CANCELLED: frozenset(),
}

FINAL = frozenset(status for status, onward in TRANSITIONS.items() if not onward)
NOT_STARTED = frozenset(status for status, onward in TRANSITIONS.items() if Status.CANCELLED in onward)


def sources_of(target: Status) -> tuple[Status, ...]:
    """The statuses from which an execution may move to ``target``, in the order of the enum."""
    return tuple(source for source in Status if target in TRANSITIONS[source])
