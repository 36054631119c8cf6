"""The way of an execution from its plan to a queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.execution import Execution, Planned
from punctual.domain.executions.timer import Reached, Timer, TimerReason
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.jobs.job import Job


class Plan(Protocol):
    """The planner, as whoever sends executions on their way sees it."""

    def lead_on(self, job: Job, leader: Execution) -> None:
        """Plan what follows one that leads."""

    def mend_chain(self, leader: Execution) -> None:
        """Should nothing be planned after it, that is made up for."""

    def hold_back(self, job: Job, one: Planned) -> bool:
        """Whether a pause keeps it from running; then it is skipped, or forgotten."""

    def stop(self, job_id: str, execution_id: str, reason: str) -> None:
        """Cancel it, one that runs after a while."""

    def set_timer(self, execution: Execution, at: datetime, reason: TimerReason) -> None:
        """Have it queued at an instant that is far."""


class Timers(Protocol):
    """The wheel."""

    def set(self, timer: Timer) -> None: ...

    def reached(self, shard: int) -> Reached | None:
        """How far a shard was swept."""

    def due(self, shard: int, since: Reached, until: datetime) -> Iterator[tuple[list[Timer], Reached]]:
        """The timers beyond ``since`` up to ``until``, in order, in pages, each with how far it reaches."""

    def advance(self, shard: int, to: Reached) -> None:
        """Record how far a shard was swept."""


class Lanes(Protocol):
    """The queues that lead to workers."""

    def send(self, orders: Iterable[WorkOrder], now: datetime) -> None:
        """Hand over each order so that it arrives at its ``not_before``, or at once. Raises when any was refused."""


class DeadLetters(Protocol):
    """Where messages that nobody can read wait for a person."""

    def bury(self, body: str, reason: str) -> None: ...
