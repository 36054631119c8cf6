"""The lifecycle of an execution: its statuses and the allowed transitions.

Every change of status derives its condition from ``TRANSITIONS``, and the diagram in docs/lifecycle.md is generated
from it.
"""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The status of an execution. Each member names the components that move an execution in and out."""

    SCHEDULED = "scheduled"
    """Planned for an instant beyond the horizon, or deferred until its job is resumed. In: the planner. Out: the
    dispatcher, when the timer is due; in the long lane the conductor, when the EventBridge schedule starts the state
    machine; after a pause the planner."""

    QUEUED = "queued"
    """Its work order is being sent, or waits in a queue for a worker. In: the planner, dispatcher, intake or API; in
    the long lane also the conductor and the reconciler; or the component that ends its wait. Out: the worker's claim;
    in the long lane the conductor, when it requests a slot."""

    WAITING = "waiting"
    """Waits for an upstream execution to finish, for capacity at a gate, or for a slot of the long lane. In: the
    planner, worker or conductor. Out: the component that ends the execution it waits for; admission."""

    STARTING = "starting"
    """Has a slot, and its container is starting. In: admission. Out: the container's claim, or the conductor if the
    container did not start."""

    RUNNING = "running"
    """A worker or a container holds the lease. In: its claim. Out: the lease holder, or the worker that takes over an
    expired lease."""

    RETRYING = "retrying"
    """An attempt failed and the next one is due at ``retry_at``. In: the worker or the container; in the long lane also
    the conductor and the reconciler. Out: the next claim, the dispatcher after a long backoff; in the long lane the
    next request for a slot."""

    SUCCEEDED = "succeeded"
    """The task returned. In: the worker or the container. Final."""

    FAILED = "failed"
    """The attempts are exhausted, or the failure was fatal. In: the worker, the container or the conductor. Final."""

    TIMED_OUT = "timed_out"
    """The last attempt exceeded its timeout. In: the worker, the container or the conductor. Final."""

    CANCELLED = "cancelled"
    """Cancelled by a user, or because its job was deleted or edited. In: the planner, API or worker; in the long lane
    the settler, or the conductor once its containers have stopped. Final."""

    SKIPPED = "skipped"
    """Not run because of a rule that ``reason`` names: the previous execution still runs, the job is paused, a later
    instant covers it, or an upstream failed. In: the planner, intake, API, worker, conductor or settler. Final."""

    MISSED = "missed"
    """Missed its due instant in an outage or a pause; its misfire policy does not run it. In: the planner. Final."""


_RUN_ENDS = frozenset({Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT, Status.CANCELLED})
WITHOUT_OUTCOME = frozenset({Status.SKIPPED, Status.MISSED, Status.CANCELLED})
"""Final statuses without an outcome of the task: no run time is recorded."""

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.SCHEDULED: frozenset({Status.QUEUED}) | WITHOUT_OUTCOME,
    # queued → queued: a rate limit delays it, or no worker has claimed it and it is sent again
    Status.QUEUED: frozenset({Status.SCHEDULED, Status.QUEUED, Status.WAITING, Status.RUNNING}) | WITHOUT_OUTCOME,
    Status.WAITING: frozenset(
        {
            Status.SCHEDULED,
            Status.QUEUED,
            Status.STARTING,
            Status.RETRYING,
            Status.SKIPPED,
            Status.FAILED,
            Status.CANCELLED,
        }
    ),
    Status.STARTING: frozenset({Status.RUNNING, Status.RETRYING}) | _RUN_ENDS,
    # running → running: the next attempt takes over from a worker whose lease has expired
    Status.RUNNING: frozenset({Status.RUNNING, Status.RETRYING}) | _RUN_ENDS,
    Status.RETRYING: frozenset({Status.QUEUED, Status.WAITING, Status.RUNNING, Status.CANCELLED}),
    Status.SUCCEEDED: frozenset(),
    Status.FAILED: frozenset(),
    Status.TIMED_OUT: frozenset(),
    Status.CANCELLED: frozenset(),
    Status.SKIPPED: frozenset(),
    Status.MISSED: frozenset(),
}

FINAL = frozenset(status for status, targets in TRANSITIONS.items() if not targets)
SLOT_HOLDING_STATUSES = frozenset({Status.STARTING, Status.RUNNING})
"""A part in one of these statuses occupies a slot of the long lane."""
LIVE_STATUSES = frozenset(Status) - FINAL
PARENT_LIVE_STATUSES = LIVE_STATUSES - {Status.SCHEDULED}
"""The live statuses of a long-lane execution, which are derived from the statuses of its parts. They are copied only
from time to time, so an execution may move from any of these statuses to any other, and to any final status."""


def sources_of(target: Status) -> tuple[Status, ...]:
    """The statuses from which an execution may move to ``target``, in enum order."""
    return tuple(source for source in Status if target in TRANSITIONS[source])
