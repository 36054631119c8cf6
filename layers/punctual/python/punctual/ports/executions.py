"""Ports to the executions table, one per group of callers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.execution import Attempt, Execution, LeaseState, LiveExecution
from punctual.domain.executions.progress import Progress
from punctual.domain.executions.timer import Timer
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.misfire import MisfireEnding


class Executions(Protocol):
    """The executions, one record per due instant, for planning, dispatch and the workers."""

    def add(self, execution: Execution) -> Execution | None:
        """Store a new execution. If its id exists already, change nothing and return the existing execution."""

    def add_once(self, execution: Execution) -> bool:
        """Store a new execution; ``False`` if its id exists already. A lost response is not taken for a conflict."""

    def queue(self, timer: Timer, now: datetime) -> bool:
        """Move the execution that waits for this timer to ``queued``; ``False`` if it no longer waits for it."""

    def queue_all(self, timers: Iterable[Timer], now: datetime) -> int:
        """Call ``queue`` for each timer and return how many executions moved."""

    def replace(self, execution: Execution) -> bool:
        """Overwrite the execution with the same id that was planned under an earlier revision.

        ``False`` if that execution has started, or its state machine run has.
        """

    def remove_planned(self, one: LiveExecution, reason: str, now: datetime) -> bool:
        """Delete an execution of this revision that has not started; ``False`` if it has, or was replaced.

        An execution that covers a skipped one becomes ``skipped`` with ``reason``, so that it stays on record.
        """

    def skip(self, job_id: str, execution_id: str, reason: str, now: datetime, covered_by: str | None = None) -> bool:
        """Move an execution that has not started to ``skipped``; ``False`` if it has."""

    def was_cancelled(self, job_id: str, due: datetime) -> bool:
        """Whether the scheduled execution of a due instant was cancelled before its first attempt."""

    def last_planned(self, job: Job, up_to: datetime) -> datetime | None:
        """Return the last due instant up to and including ``up_to`` that was planned under the schedule of ``job``.

        Instants are stored in order, so every instant before it was planned, too.
        """

    def live_of(self, job_id: str, since: datetime) -> Iterator[LiveExecution]:
        """Yield the executions of a job that are due since then and not in a final status, the latest first."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """Return the executions that exist, by id, with a strongly consistent read."""

    def claim(self, order: WorkOrder, worker_id: str, now: datetime) -> tuple[Execution | None, Execution | None]:
        """Claim the ordered attempt by compare-and-swap.

        Returns ``(claimed, None)``, ``(None, current)`` if the claim is refused, or ``(None, None)`` if the execution
        does not exist.
        """

    def take_over(self, expired: Execution, lost: Attempt, worker_id: str, now: datetime) -> Execution | None:
        """Claim the next attempt from a worker whose lease has expired; ``None`` if it was renewed or taken over."""

    def renew(self, execution: Execution, now: datetime, progress: Progress | None) -> LeaseState:
        """Extend the lease and store the progress. Returns whether the lease is kept, stopping or lost."""

    def conclude(self, execution: Execution, decision: AttemptDecision, now: datetime) -> bool:
        """Apply the decision on an attempt.

        ``False`` if another attempt has superseded this one, or if the execution was asked to stop and the decision
        comes after ``cancel_at`` or is a retry.
        """

    def revoke(self, execution: Execution, decision: AttemptDecision, now: datetime) -> bool:
        """Apply the cancellation of a running execution that was asked to stop; ``False`` if the attempt has ended."""

    def give_up(self, expired: Execution, decision: AttemptDecision, now: datetime) -> bool:
        """Apply the final decision on an execution whose lease has expired; ``False`` if the lease was renewed."""

    def send_again(self, execution: Execution, now: datetime) -> bool:
        """Mark an unclaimed execution, so that the planner sends its work order again; ``False`` if it has changed."""

    def due_between(self, owner: str, since: datetime, until: datetime, share: int, shares: int) -> Iterator[Execution]:
        """Yield one of ``shares`` shares of an owner's executions that are due after ``since``, up to ``until``.

        The read is eventually consistent.
        """

    def running(self, shard: int) -> Iterator[Execution]:
        """Yield the running executions of a shard, except holders of the gate of their job."""


class MisfireRecords(Protocol):
    """The executions of a job that missed their due instants.

    Each write checks in the same transaction that the job still has the state and revision that was read, and raises
    ``JobChanged`` otherwise. So the execution that covers a misfire is not removed by an edit or a pause that came
    before the record: it is due before every change of the job that comes after it.
    """

    def add(self, execution: Execution) -> Execution | None:
        """See ``Executions.add``."""

    def add_all(self, executions: Iterable[Execution]) -> None:
        """Add the executions in order."""

    def replace(self, execution: Execution) -> bool:
        """See ``Executions.replace``."""

    def end(self, execution: Execution, ending: MisfireEnding, now: datetime) -> bool:
        """End an execution that has not started and missed its due instant; ``False`` if it has started."""

    def defer(self, one: LiveExecution, reason: str, now: datetime) -> bool:
        """Set the execution of a message of a paused job to ``scheduled``, until the job is resumed.

        It leaves its gates. ``False`` if it has started, ended or was deferred before.
        """

    def remove(self, one: LiveExecution, reason: str, now: datetime) -> bool:
        """See ``Executions.remove_planned``. An execution that a resume has planned again in its place is kept."""


class Misfires(Protocol):
    """Access to the misfires of each job."""

    def of(self, job: Job) -> MisfireRecords: ...


class ExecutionCanceller(Protocol):
    """Cancels executions."""

    def cancel(self, execution: Execution, reason: str, now: datetime) -> Execution | None:
        """Cancel a live execution and return it as stored; ``None`` if it is in a final status by now.

        Also ``None`` for a running execution of the short lane: its worker has to stop first.
        """


class ExecutionReader(Protocol):
    """Read access to executions."""

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """Return the executions that exist, by id, with a strongly consistent read."""


class JobExecutions(Protocol):
    """The executions of a job, for deciding whether the job is complete."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def live_of(self, job_id: str, since: datetime) -> Iterator[LiveExecution]: ...

    def mark_last_of_job(self, job_id: str, execution_id: str) -> bool:
        """Mark a live execution as possibly the last of its job, so that its end triggers another completeness check.

        ``False`` if it is in a final status already.
        """


class ExecutionIndex(Protocol):
    """The executions table read through its indexes: ids in falling order of due instant, then the records."""

    def ids_of_job(self, job_id: str, low: str, high: str) -> Iterator[list[str]]:
        """Yield ids from ``low`` up to but not including ``high``, in pages."""

    def ids_of_owner(self, owner: str, low: str, high: str) -> Iterator[list[str]]: ...

    def count_of_owner(self, owner: str, low: str, high: str, at_most: int) -> int:
        """Count the ids from ``low`` up to but not including ``high``; no further than to ``at_most``."""

    def ids_running(self, low: str, high: str, page_size: int = ...) -> list[Iterator[list[str]]]:
        """Return the ids of running executions, as one sequence of pages per shard.

        Executions that hold the gate of their job are not among them: see ``ids_holding``.
        """

    def ids_holding(self, after: str | None, page_size: int = ...) -> list[Iterator[list[str]]]:
        """Return the executions that hold the gate of their job: they run, or are between two attempts.

        Each shard has a sequence of pages, latest job first, from the one after that of the execution ``after`` on.
        """

    def count_running(self, at_most: int) -> int:
        """Count the executions that run, and those that hold the gate of their job; no further than to ``at_most``."""

    def ids_long(self) -> list[Iterator[list[str]]]:
        """Return the ids of live executions of the long lane: in rising order, as one sequence of pages per shard."""

    def fetch(self, execution_ids: list[str]) -> dict[str, Execution]:
        """Return the executions that exist, by id, with an eventually consistent read."""


class Agenda(Protocol):
    """The executions of an owner around an instant."""

    def ids_of_owner(self, owner: str, low: str, high: str) -> Iterator[list[str]]:
        """Yield ids from ``low`` up to but not including ``high``, latest due instant first, in pages."""

    def ids_due_from(self, owner: str, low: str, page_size: int) -> Iterator[list[str]]:
        """Yield ids from ``low`` on, earliest due instant first, in pages."""

    def ids_long(self) -> list[Iterator[list[str]]]:
        """Return the ids of live executions of the long lane: in rising order, as one sequence of pages per shard."""

    def fetch(self, execution_ids: list[str]) -> dict[str, Execution]: ...


class DeadlineIndex(Protocol):
    """The live executions with a deadline, sorted by ``danger_key``."""

    def danger_keys(self, low: str, high: str) -> list[Iterator[list[str]]]:
        """Return the danger keys from ``low`` to ``high``: ascending, as one sequence of pages per shard."""

    def count_danger(self, low: str, high: str, at_most: int) -> int:
        """Count the danger keys from ``low`` to ``high``; no further than to ``at_most``."""

    def fetch(self, execution_ids: list[str]) -> dict[str, Execution]: ...
