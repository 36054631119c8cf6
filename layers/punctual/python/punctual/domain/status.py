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
    """On its way to a worker, or waiting for one. In: planner, dispatcher, intake or api; or whoever ends what it
    waited for. Out: the worker's claim; in the long lane the conductor, when it asks for a slot."""

    WAITING = "waiting"
    """Something has to happen first: another execution has to end, a place has to become free, or it asks for a slot
    of the long lane. In: planner, worker, conductor. Out: whoever ends what it waits for; admission."""

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
    """Withdrawn: by a person, or because its job was deleted or changed. In: planner, api or worker; in the long lane
    the settler, or the conductor once its containers have stopped. Final."""

    SKIPPED = "skipped"
    """A rule decided that it does not run, and ``reason`` says which: the one before still runs, its job is paused, a
    later instant covers it, what it depends on failed. In: planner, worker, conductor, settler. Final."""

    MISSED = "missed"
    """Its time went by during an outage or a pause, and its job does not make up for it. In: the planner. Final."""


_ENDINGS = frozenset({Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT, Status.CANCELLED})
WITHOUT_A_RUN = frozenset({Status.SKIPPED, Status.MISSED, Status.CANCELLED})
"""How what never ran to its end is recorded: nobody is told, and no run time is learnt from it."""

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.SCHEDULED: frozenset({Status.QUEUED}) | WITHOUT_A_RUN,
    # queued → queued: a rate limit puts it off
    Status.QUEUED: frozenset({Status.QUEUED, Status.WAITING, Status.RUNNING}) | WITHOUT_A_RUN,
    Status.WAITING: frozenset(
        {
            Status.QUEUED,
            Status.STARTING,
            Status.RUNNING,
            Status.RETRYING,
            Status.SKIPPED,
            Status.FAILED,
            Status.CANCELLED,
        }
    ),
    Status.STARTING: frozenset({Status.RUNNING, Status.RETRYING}) | _ENDINGS,
    # running → running: the next attempt takes over from a worker whose lease has lapsed
    Status.RUNNING: frozenset({Status.RUNNING, Status.RETRYING}) | _ENDINGS,
    Status.RETRYING: frozenset({Status.QUEUED, Status.WAITING, Status.RUNNING, Status.CANCELLED}),
    Status.SUCCEEDED: frozenset(),
    Status.FAILED: frozenset(),
    Status.TIMED_OUT: frozenset(),
    Status.CANCELLED: frozenset(),
    Status.SKIPPED: frozenset(),
    Status.MISSED: frozenset(),
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
