"""The executions, each time as one who works with them sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.execution import Attempt, Execution, Hold, Planned, Progress
from punctual.domain.executions.timer import Timer
from punctual.domain.executions.work_order import WorkOrder


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

    def replace(self, execution: Execution) -> bool:
        """Put in place of one with its id that was planned under an earlier revision, unless that is on its way."""

    def unplan(self, job_id: str, execution_id: str, revision: int) -> bool:
        """Forget one whose time has not come; ``False`` when it is on its way."""

    def skip(self, job_id: str, execution_id: str, reason: str, now: datetime, covered_by: str | None = None) -> bool:
        """Move what has not started to ``skipped``; ``False`` when it is past that."""

    def miss(self, job_id: str, execution_id: str, reason: str, now: datetime) -> bool:
        """Move what has not started to ``missed``; ``False`` when it is past that."""

    def withdrawn(self, job_id: str, due: datetime) -> bool:
        """Whether the one that a job's schedule has for an instant was cancelled before it began."""

    def last_planned(self, job_id: str, before: datetime) -> datetime | None:
        """The last due instant up to ``before`` that a job's schedule has an execution for."""

    def live_of(self, job_id: str, since: datetime) -> Iterator[Planned]:
        """A job's executions due since then that have not ended, the latest first."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """The newest state of each that exists."""

    def claim(self, order: WorkOrder, worker_id: str, now: datetime) -> tuple[Execution | None, Execution | None]:
        """Try to become the one who runs the ordered attempt: ``(won, None)`` or ``(None, how it stands)``."""

    def take_over(self, lapsed: Execution, lost: Attempt, worker_id: str, now: datetime) -> Execution | None:
        """Start the next attempt in place of a worker whose lease has lapsed; ``None`` when it has not."""

    def renew(self, execution: Execution, now: datetime, progress: Progress | None) -> Hold:
        """Extend the lease and tell the progress."""

    def conclude(self, execution: Execution, decision: AttemptDecision, now: datetime) -> bool:
        """Apply what was decided; ``False`` when another attempt has superseded this one, or it was to stop and comes
        too late, or would be tried again."""

    def revoke(self, execution: Execution, attempt: Attempt, now: datetime) -> bool:
        """Cancel one that was asked to stop and has not; ``False`` when it has ended by itself."""

    def give_up(self, lapsed: Execution, decision: AttemptDecision, now: datetime) -> bool:
        """Apply the end of an execution whose last worker fell silent; ``False`` when it has come back to life."""

    def running(self, shard: int) -> Iterator[Execution]:
        """What runs now."""


class CancelExecutions(Protocol):
    def cancel(self, execution: Execution, reason: str, now: datetime) -> Execution | None:
        """End what has not ended, but for a short one that runs; ``None`` when that is not so any more."""


class ReadExecutions(Protocol):
    """The executions, as those see them who only look."""

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """The newest state of each that exists."""


class LastExecutions(Protocol):
    """Executions, as seen by whoever says that their job is done."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def live_of(self, job_id: str, since: datetime) -> Iterator[Planned]: ...

    def ends_its_job(self, job_id: str, execution_id: str) -> bool:
        """See to it that its end is heard, as it may be the last of its job; ``False`` when it has ended."""


class ExecutionShelf(Protocol):
    """The executions, as one looks through them: ids first, in falling order of due instant, then the records."""

    def ids_of_job(self, job_id: str, low: str, high: str) -> Iterator[list[str]]:
        """Ids from ``low`` up to but not including ``high``, in pages."""

    def ids_of_owner(self, owner: str, low: str, high: str) -> Iterator[list[str]]: ...

    def ids_running(self, low: str, high: str) -> list[Iterator[list[str]]]:
        """What runs now: one sequence per shard."""

    def dangers(self, low: str, high: str) -> list[Iterator[list[str]]]:
        """The places, from ``low`` to ``high``, of what lives and has a deadline: one rising sequence per shard."""

    def fetch(self, execution_ids: list[str]) -> dict[str, Execution]: ...
