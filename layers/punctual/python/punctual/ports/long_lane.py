"""Executions of hours: their parts, slots, containers and state machine runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Protocol

from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.execution import Execution, Progress
from punctual.domain.long_lane.assignment import Assignment
from punctual.domain.long_lane.laxity import Grant, Occupancy
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.parts_status import Ending, Standing


class LongExecutions(Protocol):
    """The executions of the long lane, as their conductor sees them."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def conduct(self, job_id: str, execution_id: str, run_arn: str, now: datetime) -> Execution | None:
        """Let a state machine run carry an execution, and no other; ``None`` for another, or one that has ended."""

    def change_conductor(self, execution: Execution, now: datetime) -> bool:
        """Free an execution whose state machine run is gone for another; ``False`` when it has one already."""

    def follow(self, job_id: str, execution_id: str, standing: Standing, told_at: datetime | None) -> bool:
        """Tell an execution how its parts stand; ``False`` when it has ended.

        ``told_at`` is when the progress was told, if it was just now.
        """

    def close(self, execution: Execution, ending: Ending, now: datetime) -> bool:
        """End it; ``False`` when it has ended already."""

    def live_long(self) -> Iterator[Execution]:
        """Those that have not ended."""


class Parts(Protocol):
    """What long executions are made of, as their conductor sees them."""

    def add(self, part: Part) -> None:
        """Store a new one; one that is there already stays."""

    def get(self, execution_id: str, name: str) -> Part | None: ...

    def of(self, execution_id: str) -> list[Part]:
        """All of an execution, in the order of their names."""

    def ask(self, part: Part, ticket: str, now: datetime) -> bool:
        """Have it wait for a slot; ``False`` when it has one, or has ended."""

    def conclude(self, part: Part, decision: AttemptDecision, now: datetime) -> bool:
        """Apply the end of an attempt, and free its slot; ``False`` when that has happened already."""

    def cancel(self, part: Part, reason: str, now: datetime) -> bool:
        """Withdraw it wherever it is, and free its slot if it has one; ``False`` when it has moved meanwhile."""

    def ask_to_stop(self, part: Part, until: datetime, reason: str) -> bool:
        """Tell a running one that it has until then; ``False`` when it does not run. Again is fine."""

    def step_back(self, part: Part, reason: str, now: datetime) -> bool:
        """Take one out of those who wait, until it asks again; ``False`` when it does not wait."""

    def fail_waiting(self, part: Part, reason: str, now: datetime) -> bool:
        """End one that never got a slot."""


class RunningParts(Protocol):
    """The parts, as their containers see them. ``None`` tells a container that it was superseded."""

    def get(self, execution_id: str, name: str) -> Part | None: ...

    def of(self, execution_id: str) -> list[Part]: ...

    def claim(
        self, assignment: Assignment, token: str, task_arn: str | None, lease: datetime | None, now: datetime
    ) -> Part | None:
        """To ``running``; again for the same container."""

    def pass_on(self, assignment: Assignment, token: str) -> bool:
        """Have the container that runs answer to another token; ``False`` when none runs."""

    def renew(self, assignment: Assignment, lease: datetime, progress: Progress | None) -> Part | None: ...

    def keep_checkpoint(self, assignment: Assignment, location: str, lease: datetime) -> Part | None: ...

    def conclude(self, part: Part, decision: AttemptDecision, now: datetime) -> bool: ...


class Slots(Protocol):
    """The parts, as admission sees them."""

    def occupancy(self) -> Occupancy: ...

    def waiting(self) -> Iterator[Part]:
        """Those who ask, the least lax first, read lazily. The newest may not be among them yet."""

    def holders(self) -> Iterator[Part]:
        """Those with a slot."""

    def grant(
        self, part: Part, *, start_at: datetime, key: str, seen: Occupancy, after: Occupancy, now: datetime
    ) -> Grant: ...

    def ask_to_leave(self, part: Part, reason: str, now: datetime) -> bool:
        """``False`` when it no longer holds its slot, or was asked already."""


class CountedSlots(Slots, Protocol):
    """The same, as the reconciler sees them."""

    def recount(self, seen: Occupancy, holders: Iterable[Part]) -> bool:
        """Set the occupancy to what the holders take, unless it has changed since it was ``seen``."""


class Containers(Protocol):
    """The containers in which parts run."""

    def stop(self, task_arn: str, reason: str) -> None:
        """Have one leave: a signal first, the end some time later. One that is gone already is fine."""


class KnownContainers(Containers, Protocol):
    """The same, as the reconciler sees them."""

    def gone(self, task_arns: Iterable[str]) -> dict[str, str]:
        """Those of the containers that have stopped or are not known, with AWS's own words why."""


class Callbacks(Protocol):
    """The state machines that wait for word. One that no longer waits is fine: ``False``."""

    def succeed(self, token: str, answer: Mapping[str, Any]) -> bool: ...

    def fail(self, token: str, error: str, cause: str) -> bool: ...

    def beat(self, token: str) -> bool: ...


class Runs(Protocol):
    """What a long execution has in AWS before and while it runs."""

    def disarm(self, execution_id: str) -> None:
        """Remove its one-time schedule, if there is one."""

    def stop(self, run: str, reason: str) -> None:
        """Stop a state machine run. One that has ended is fine."""


class StateMachines(Runs, Protocol):
    """The state machine runs that carry long executions, and the schedules that start them."""

    def start(self, execution: Execution) -> None:
        """Start one now. Starting what was started already changes nothing."""

    def arm(self, execution: Execution) -> None:
        """Have one started shortly before the execution is due. Arming again changes nothing."""

    def armed(self) -> Iterator[str]:
        """The names of all that is armed."""

    def running(self) -> Iterator[str]:
        """The runs that have not ended."""


class Checkpoints(Protocol):
    """Where parts leave the state from which their next attempt goes on."""

    def keep(self, assignment: Assignment, state: Any) -> str:
        """Where it was stored. Each attempt has its own place."""

    def load(self, location: str) -> Any: ...
