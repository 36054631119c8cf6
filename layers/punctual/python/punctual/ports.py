"""What the stages need from the world, one small interface per seam. ``aws/`` implements them.

Losing a race is a return value here, never an exception. Every write may be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Protocol

from punctual.domain.execution import Attempt, Execution, Progress, Result
from punctual.domain.job import Job
from punctual.domain.order import Order
from punctual.domain.settlement import Settlement, Verdict
from punctual.domain.timer import Reached, Timer

Clock = Callable[[], datetime]


class Jobs(Protocol):
    """The definitions."""

    def add(self, jobs: Iterable[Job]) -> None:
        """Store new jobs."""

    def get(self, job_id: str) -> Job | None: ...

    def get_many(self, job_ids: Iterable[str]) -> dict[str, Job]:
        """The newest state of each that exists."""

    def delete(self, job: Job, now: datetime) -> bool:
        """Mark as deleted; ``False`` when it already was."""

    def finish(self, job_id: str, now: datetime) -> bool:
        """Mark an active job as done; ``False`` when it is not active."""

    def note_owner(self, owner: str) -> None:
        """Remember that this owner has jobs, so that lists over all owners find them."""


class Executions(Protocol):
    """One record per due instant."""

    def add(self, execution: Execution) -> Execution | None:
        """Store a new one. When there is one with its id already, nothing changes and that one is returned."""

    def add_all(self, executions: Iterable[Execution]) -> None:
        """``add`` for each, in no order."""

    def queue(self, timer: Timer, now: datetime) -> bool:
        """Move to ``queued`` what waits for this timer; ``False`` when it is past that."""

    def queue_all(self, timers: Iterable[Timer], now: datetime) -> int:
        """``queue`` for each; how many moved."""

    def withdraw(self, job_id: str, execution_id: str, reason: str, now: datetime) -> bool:
        """Move what has not started to ``cancelled``; ``False`` when it is past that."""

    def not_started(self, job_id: str, since: datetime) -> Iterator[str]:
        """The ids of a job's executions due since then that no worker has claimed, the latest first."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def claim(self, order: Order, worker_id: str, now: datetime) -> tuple[Execution | None, Execution | None]:
        """Try to become the one who runs the ordered attempt: ``(won, None)`` or ``(None, how it stands)``."""

    def take_over(self, lapsed: Execution, lost: Attempt, worker_id: str, now: datetime) -> Execution | None:
        """Start the next attempt in place of a worker whose lease has lapsed; ``None`` when it has not."""

    def renew(self, execution: Execution, now: datetime, progress: Progress | None) -> bool:
        """Extend the lease and tell the progress; ``False`` when the lease is lost."""

    def conclude(self, execution: Execution, settlement: Settlement, now: datetime) -> bool:
        """Apply what was decided; ``False`` when another attempt has superseded this one."""

    def give_up(self, lapsed: Execution, settlement: Settlement, now: datetime) -> bool:
        """Apply the end of an execution whose last worker fell silent; ``False`` when it has come back to life."""

    def running(self, shard: int) -> Iterator[Execution]:
        """What runs now."""


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

    def send(self, orders: Iterable[Order], now: datetime) -> None:
        """Hand over each order so that it arrives at its ``not_before``, or at once. Raises when any was refused."""


class Results(Protocol):
    """Where results too large for a record lie."""

    def keep(self, execution: Execution, value: Any) -> Result:
        """``value`` as a result: inline when small, else stored. Raises ``Fatal`` when it is not JSON."""


class DeadLetters(Protocol):
    """Where messages that nobody can read wait for a person."""

    def bury(self, body: str, reason: str) -> None: ...


class Runner(Protocol):
    """Runs a task's code under a lease and a time limit."""

    def run(self, execution: Execution, seconds_left: float) -> Verdict: ...


class Tasks(Protocol):
    """The catalog of tasks. Both raise ``Invalid``."""

    def check_name(self, task: str) -> None:
        """That there is such a task."""

    def check(self, task: str, parameters: Mapping[str, Any]) -> None:
        """That there is such a task, and that the parameters fit its schema."""


class JobShelf(Protocol):
    """The jobs, as one looks through them."""

    def owners(self) -> list[str]: ...

    def newest_first(self, owner: str, before: str | None) -> Iterator[list[Job]]:
        """An owner's jobs created before job ``before``, in pages."""


class ExecutionShelf(Protocol):
    """The executions, as one looks through them: ids first, in falling order of due instant, then the records."""

    def ids_of_job(self, job_id: str, low: str, high: str) -> Iterator[list[str]]:
        """Ids from ``low`` up to but not including ``high``, in pages."""

    def ids_of_owner(self, owner: str, low: str, high: str) -> Iterator[list[str]]: ...

    def ids_running(self, low: str, high: str) -> list[Iterator[list[str]]]:
        """What runs now: one sequence per shard."""

    def fetch(self, execution_ids: list[str]) -> dict[str, Execution]: ...
