"""Ports of the long lane: executions that run for hours, their parts, slots, containers and state machine runs.

Most methods are conditional writes. A lost race is a return value (``False`` or ``None``), not an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.progress import Progress
from punctual.domain.long_lane.assignment import Assignment
from punctual.domain.long_lane.laxity import Occupancy, SlotResult
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.parts_status import PartsOutcome, PartsStatus
from punctual.ports.executions import ExecutionCanceller, ExecutionReader


class LongExecutions(ExecutionCanceller, Protocol):
    """The executions of the long lane, for the conductor, the reconciler and the settler."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def attach_run(self, job_id: str, execution_id: str, run_arn: str, now: datetime) -> Execution | None:
        """Attach a state machine run to an execution that has none, and return the execution.

        Idempotent for the attached run. ``None`` if another run is attached, or if the execution has ended.
        """

    def detach_run(self, execution: Execution, reason: str, now: datetime) -> bool:
        """Set an execution to ``queued`` without a run, so that a new run is started and attached.

        ``False`` if its run is not the one in ``execution``, or if it has ended.
        """

    def apply_parts_status(
        self, job_id: str, execution_id: str, status: PartsStatus, progress_at: datetime | None
    ) -> bool:
        """Write the status of its parts to an execution; ``False`` if it has ended.

        ``progress_at`` is the instant of a progress report, if that is the change.
        """

    def close(self, execution: Execution, outcome: PartsOutcome, now: datetime) -> bool:
        """End an execution; ``False`` if it has ended already."""

    def live_long(self) -> Iterator[Execution]:
        """The executions of the long lane that have not ended. Read from an index: eventually consistent."""


class ReportedExecutions(LongExecutions, ExecutionReader, Protocol):
    """The executions of the long lane and their upstreams, for the reporter."""


class Parts(Protocol):
    """The parts of long executions, for the conductor, the reconciler and the settler."""

    def get(self, execution_id: str, name: str) -> Part | None: ...

    def of(self, execution_id: str) -> list[Part]:
        """The parts of an execution, ordered by name."""

    def conclude(self, part: Part, decision: AttemptDecision, now: datetime, *, unless_renewed: bool = False) -> bool:
        """Apply the decision on an ended attempt, and free the slot; ``False`` if that was done already.

        ``unless_renewed``: also ``False`` if the container has claimed, or renewed its lease, since ``part`` was read.
        """

    def cancel(self, part: Part, reason: str, now: datetime) -> bool:
        """Cancel a part in any live status, and free its slot if it has one; ``False`` if its status has changed."""

    def ask_to_stop(self, part: Part, until: datetime, reason: str) -> bool:
        """Cancel a running part: ask it to stop by ``until``; ``False`` if it does not run. Idempotent."""

    def cancel_slot_request(self, part: Part, reason: str, now: datetime) -> bool:
        """Set a waiting part to ``retrying``, until it requests a slot again; ``False`` if it does not wait."""

    def fail_waiting(self, part: Part, reason: str, now: datetime) -> bool:
        """Fail a waiting part that never got a slot; ``False`` if it does not wait."""


class ConductedParts(Parts, Protocol):
    """The parts, for the conductor. It writes them only for the run that is attached to their execution."""

    def add_all(self, parts: Sequence[Part], run_arn: str) -> bool:
        """Store new parts; an existing part is left unchanged.

        ``False`` if another run is attached to the execution, or if it was asked to stop or has ended.
        """

    def request_slot(self, part: Part, ticket: str, run_arn: str, now: datetime) -> bool:
        """Set a part to ``waiting`` for a slot, or add a ticket to a part that waits or has got its slot.

        ``ticket`` is the task token that admission answers with the grant. ``False`` if the part's container has
        started, if the part has ended, or for the reasons of ``add_all``.
        """


class RunningParts(Protocol):
    """The parts, for the reporter. ``None`` means that the container's attempt was superseded."""

    def get(self, execution_id: str, name: str) -> Part | None: ...

    def of(self, execution_id: str) -> list[Part]: ...

    def claim(
        self, assignment: Assignment, token: str, task_arn: str | None, lease: datetime | None, now: datetime
    ) -> Part | None:
        """Set a part to ``running``, with a lease. Idempotent for the same container."""

    def add_token(self, assignment: Assignment, token: str) -> bool:
        """Add the task token of another container that was started for the same attempt; ``False`` if none runs.

        The state machine waits for the newer token, which may be that of either container.
        """

    def renew(self, assignment: Assignment, lease: datetime, progress: Progress | None) -> Part | None:
        """Extend the lease, and store the progress if there is any."""

    def record_checkpoint(self, assignment: Assignment, location: str, lease: datetime) -> Part | None:
        """Record where the newest checkpoint is stored, and extend the lease."""

    def conclude(self, part: Part, decision: AttemptDecision, now: datetime) -> bool:
        """As ``Parts.conclude``."""


class Slots(Protocol):
    """The slots of the lane, for admission."""

    def occupancy(self) -> Occupancy: ...

    def waiting(self) -> Iterator[Part]:
        """The waiting parts, least laxity first, read lazily from an eventually consistent index."""

    def holders(self) -> Iterator[Part]:
        """The parts that hold a slot."""

    def allocate(
        self, part: Part, *, start_at: datetime, key: str, seen: Occupancy, after: Occupancy, now: datetime
    ) -> SlotResult:
        """Give a slot to a waiting part, if the occupancy is still as ``seen``: compare-and-swap to ``after``.

        Begins the part's next attempt, whose container proves its identity with ``key``.
        """

    def preempt(self, part: Part, reason: str, now: datetime) -> bool:
        """Preempt a running part: ask it to stop at its next checkpoint.

        ``False`` if it does not run, or was asked already.
        """


class RecountableSlots(Slots, Protocol):
    """The slots of the lane, for the reconciler."""

    def recount(self, seen: Occupancy, holders: Iterable[Part]) -> bool:
        """Set the occupancy to the sum of the ``holders``; ``False`` if it is no longer as ``seen``."""


class Containers(Protocol):
    """The containers that run parts."""

    def stop(self, task_arn: str, reason: str) -> None:
        """Stop a container: SIGTERM, and SIGKILL after its stop timeout. Ignores a container that has stopped."""


class IdentifiableContainers(Protocol):
    """The containers that run parts, for the reporter."""

    def is_started_for(self, assignment: Assignment, task_arn: str) -> bool:
        """Whether ``task_arn`` is a container that was started for ``assignment``."""


class InspectableContainers(Containers, Protocol):
    """The containers that run parts, for the reconciler."""

    def find_stopped(self, task_arns: Iterable[str]) -> dict[str, str]:
        """The given containers that have stopped or that ECS has no record of, each with the cause from ECS."""


class Callbacks(Protocol):
    """Answers to the states of the state machine that wait for a task token.

    Each answer goes to all tokens that the state may wait for. ``False`` if nothing waits for any of them any more.
    """

    def succeed(self, tokens: Iterable[str], answer: Mapping[str, Any]) -> bool: ...

    def fail(self, tokens: Iterable[str], error: str, cause: str) -> bool: ...

    def heartbeat(self, tokens: Iterable[str]) -> bool: ...


class StateMachineRuns(Protocol):
    """The state machine run of an execution, and the schedule that starts it, for the settler."""

    def delete_schedule(self, execution_id: str) -> None:
        """Delete the one-time schedule of an execution. Idempotent."""

    def stop(self, run_arn: str, reason: str) -> None:
        """Stop a state machine run. Ignores a run that has ended."""


class StateMachines(StateMachineRuns, Protocol):
    """The state machine runs of all long executions, for the planner and the reconciler."""

    def start(self, execution: Execution) -> None:
        """Start the run of an execution now. Idempotent."""

    def create_schedule(self, execution: Execution) -> None:
        """Create or move the one-time schedule that starts the run shortly before the execution is due. Idempotent."""

    def scheduled(self) -> Iterator[str]:
        """The names of all one-time schedules."""

    def running(self) -> Iterator[str]:
        """The ARNs of all runs that have not ended."""


class Checkpoints(Protocol):
    """The store of checkpoints: the state from which the next attempt of a part resumes."""

    def store(self, assignment: Assignment, state: Any) -> str:
        """Store a checkpoint and return its location. Each attempt overwrites only its own."""

    def load(self, location: str) -> Any:
        """Return a checkpoint; ``None`` if it has expired."""
