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
    """On its way to a worker, or waiting for one. In: planner, dispatcher or intake. Out: the worker's claim; in the
    long lane the conductor, when it asks for a slot."""

    WAITING = "waiting"
    """It asks for a slot of the long lane. In: the conductor. Out: admission."""

    STARTING = "starting"
    """It has a slot, and its container is on its way. In: admission. Out: the container's claim, or the conductor
    when none came."""

    RUNNING = "running"
    """A worker or a container holds the lease. In: its claim. Out: itself, or whoever takes over a lapsed lease."""

    RETRYING = "retrying"
    """An attempt failed and another one is due at ``retry_at``. In: the worker. Out: the next claim, or in the long
    lane the next time it asks for a slot."""

    SUCCEEDED = "succeeded"
    """The task returned. In: the worker, or the container. Final."""

    FAILED = "failed"
    """The attempts are exhausted, or the failure was fatal. In: the worker, the container or the conductor. Final."""

    TIMED_OUT = "timed_out"
    """The last attempt ran over its time limit. In: the worker, the container or the conductor. Final."""

    CANCELLED = "cancelled"
    """Withdrawn: by a person, or because its job was deleted or changed. In: planner or api. Final."""


_ENDINGS = frozenset({Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT, Status.CANCELLED})

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.SCHEDULED: frozenset({Status.QUEUED, Status.CANCELLED}),
    Status.QUEUED: frozenset({Status.WAITING, Status.RUNNING, Status.CANCELLED}),
    Status.WAITING: frozenset({Status.STARTING, Status.RETRYING, Status.FAILED, Status.CANCELLED}),
    Status.STARTING: frozenset({Status.RUNNING, Status.RETRYING}) | _ENDINGS,
    # running → running: the next attempt takes over from a worker whose lease has lapsed
    Status.RUNNING: frozenset({Status.RUNNING, Status.RETRYING}) | _ENDINGS,
    Status.RETRYING: frozenset({Status.QUEUED, Status.WAITING, Status.RUNNING, Status.CANCELLED}),
    Status.SUCCEEDED: frozenset(),
    Status.FAILED: frozenset(),
    Status.TIMED_OUT: frozenset(),
    Status.CANCELLED: frozenset(),
}

FINAL = frozenset(status for status, onward in TRANSITIONS.items() if not onward)
NOT_STARTED = frozenset({Status.SCHEDULED, Status.QUEUED, Status.WAITING, Status.RETRYING})
HOLDING = frozenset({Status.STARTING, Status.RUNNING})
"""A part in one of these has a slot of the long lane."""
LIVE = frozenset(Status) - FINAL
FOLLOWING = LIVE - {Status.SCHEDULED}
"""An execution of the long lane stands where its parts stand. It is told of them now and then, so from any of these
it may move to any other, and to any end."""


def sources_of(target: Status) -> tuple[Status, ...]:
    """The statuses from which an execution may move to ``target``, in the order of the enum."""
    return tuple(source for source in Status if target in TRANSITIONS[source])
