"""Match a dependant with the upstream executions it waits for, and decide whether it may start.

For a one-time upstream, the dependant waits for its only execution. For a recurring upstream, it waits for the
execution with the same data window: a weekly report waits for the load of its own week, on whatever weekday either of
them is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from punctual.domain.executions.counted_upstream import CountedUpstream
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import created_at, execution_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import REMOVED_STATES, Job, JobState
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import window_of
from punctual.domain.schedules.schedule import At, Now, Schedule
from punctual.domain.status import FINAL, Status

MAX_INSTANTS_PER_WINDOW = 10
"""How many due instants to try for one window: a daylight saving change may have moved one or two."""
LOOKAHEAD_INSTANTS = 10
"""How many of a dependant's next due instants to try: at least one must share its window with the upstream."""
JOB_STORE_GRACE = timedelta(minutes=10)
"""A job that is not stored this long after its id was created never will be."""
PLANNING_GRACE = timedelta(days=1)
"""An execution that is not planned this long after its due instant, and after the last change of its job, never will
be: streams deliver within a day."""
MIN_RECHECK_INTERVAL, MAX_RECHECK_INTERVAL = timedelta(minutes=5), timedelta(hours=1)


def due_of_window(schedule: Schedule, unit: WindowUnit | None, window: DataWindow) -> datetime | None:
    """Return the first due instant of the schedule with data window ``window``; ``None`` if there is none.

    A window ends at or before its due instant. Several due instants can have windows with the same end but different
    starts: a run that replaces runs on skipped dates has a longer window. The search stops at the first window that
    ends later.
    """
    due = schedule.next_after(window.end - MILLISECOND)
    for _ in range(MAX_INSTANTS_PER_WINDOW):
        found = window_of(schedule, due, unit) if due is not None else None
        if due is None or found is None:
            return None
        if found == window:
            return due
        if found.end > window.end:
            return None
        due = schedule.next_after(due)
    return None


def windows_agree(
    dependant: tuple[Schedule, WindowUnit | None], upstream: tuple[Schedule, WindowUnit | None], after: datetime
) -> bool:
    """Whether any of the dependant's next executions shares its data window with one of the upstream's."""
    schedule, unit = dependant
    due = schedule.next_after(after)
    for _ in range(LOOKAHEAD_INSTANTS):
        if due is None:
            return False
        window = window_of(schedule, due, unit)
        if window is not None and due_of_window(*upstream, window) is not None:
            return True
        due = schedule.next_after(due)
    return False


def due_for(upstream: Job, dependant: Execution) -> datetime | None:
    """Return the due instant of the upstream execution that ``dependant`` waits for; ``None`` if there is none.

    The only execution of a one-time upstream matches a dependant that runs once. The last execution of a recurring
    dependant is marked like one, but has a data window.
    """
    if isinstance(upstream.schedule, Now | At):
        is_of_one_time_job = dependant.is_last_of_job and dependant.window is None
        return upstream.schedule.at if is_of_one_time_job else None
    if dependant.window is None or not upstream.schedule.recurring:
        return None
    return due_of_window(upstream.schedule, upstream.window, dependant.window)


def numbered_ids(an_execution_id: str, numbers: Iterable[int]) -> list[str]:
    """Return the possible ids of further executions of the same due instant: manual retries and repeated backfills."""
    return [f"{an_execution_id}-{number}" for number in numbers]


def latest_retry(an_execution_id: str, others: Iterable[Execution]) -> Execution | None:
    """Return the last of ``others`` that retries the execution, directly or through another retry.

    ``others`` are further executions of the same due instant, in the order of their creation.
    """
    latest, retry_chain = None, {an_execution_id}
    for other in others:
        if other.retry_of in retry_chain:
            retry_chain.add(other.execution_id)
            latest = other
    return latest


class Readiness(Enum):
    """Whether an upstream, or all of them together, allow the dependant to start."""

    READY = "ready"
    NOT_YET = "not yet"
    NEVER = "never"
    """An upstream can no longer meet its condition: the dependant is skipped."""


@dataclass(frozen=True)
class StartDecision:
    readiness: Readiness
    reason: str = ""
    """Why the dependant waits, or why it will never run."""


@dataclass(frozen=True)
class Upstream:
    """One dependency of an execution and its current state. Fields are ``None`` if missing, or not there yet."""

    dependency: Dependency
    job: Job | None
    due: datetime | None = None
    execution: Execution | None = None
    """The execution of ``due``, or its latest manual retry if it ended without meeting the condition."""

    @property
    def execution_id(self) -> str | None:
        if self.execution is not None:
            return self.execution.execution_id
        return None if self.due is None else execution_id(self.dependency.job, self.due)

    @property
    def name(self) -> str:
        return self.job.display_name if self.job else self.dependency.job

    @property
    def ended(self) -> bool:
        return self.execution is not None and self.execution.status in FINAL

    @property
    def is_unsatisfied(self) -> bool:
        """Whether the upstream execution ended without meeting the dependency's condition."""
        return self.execution is not None and self.ended and not self._is_met_by(self.execution)

    def decide(self, now: datetime) -> StartDecision:
        """Decide whether this upstream allows its dependant to start."""
        if self.execution is None:
            return self._decide_without_execution(now)
        if not self.ended:
            return self._not_yet()
        if self._is_met_by(self.execution):
            return StartDecision(Readiness.READY)
        if self.execution.status is Status.CANCELLED and self.job is not None and self.job.state in REMOVED_STATES:
            return self._never(str(self.job.state))
        return self._never(str(self.execution.status).replace("_", " "))

    def _is_met_by(self, execution: Execution) -> bool:
        return self.dependency.condition.is_met_by(execution.status)

    def _decide_without_execution(self, now: datetime) -> StartDecision:
        job = self.job
        if job is None:
            may_be_stored = now < created_at(self.dependency.job) + JOB_STORE_GRACE
            return self._not_yet() if may_be_stored else self._never("deleted")
        if job.state in REMOVED_STATES:
            return self._never(str(job.state))
        if self.due is None or (job.schedule.recurring and self.due < job.created_at - MILLISECOND):
            return self._never("has no execution of this window")
        if job.state is not JobState.PAUSED and max(self.due, job.updated_at) + PLANNING_GRACE < now:
            return self._never("has no execution of this window" if job.schedule.recurring else "has no execution")
        return self._not_yet()

    def _not_yet(self) -> StartDecision:
        return StartDecision(
            Readiness.NOT_YET, f"waits for {self.name}" + (f": {self.execution_id}" if self.due else "")
        )

    def _never(self, cause: str) -> StartDecision:
        suffix = f" ({self.execution_id})" if self.due else ""
        return StartDecision(Readiness.NEVER, f"upstream {cause}: {self.name}{suffix}")


def decide_start(upstreams: Sequence[Upstream], now: datetime) -> StartDecision:
    """Decide whether a dependant may start: all upstreams must be ready, and a single ``NEVER`` is final."""
    decisions = [upstream.decide(now) for upstream in upstreams]
    for decision in decisions:
        if decision.readiness is Readiness.NEVER:
            return decision
    pending = [decision.reason for decision in decisions if decision.readiness is Readiness.NOT_YET]
    if not pending:
        return StartDecision(Readiness.READY)
    return StartDecision(Readiness.NOT_YET, pending[0] + (f" and {len(pending) - 1} more" if len(pending) > 1 else ""))


def counted(upstreams: Iterable[Upstream]) -> tuple[CountedUpstream, ...]:
    """Return the upstream executions that exist, for the record of the dependant."""
    return tuple(
        CountedUpstream(one.name, one.execution.execution_id) for one in upstreams if one.execution is not None
    )


def next_recheck_at(dependant: Execution, upstreams: Sequence[Upstream], now: datetime) -> datetime:
    """Return when to check the upstreams again if the dependant is not woken before.

    The end of an existing upstream execution wakes the dependant: if all exist, recheck after 1 hour. An upstream
    execution that does not exist yet may never be planned, or be stored without ``is_upstream``; its end then wakes no
    dependant. So recheck after half the time waited, between 5 minutes and 1 hour.
    """
    if all(upstream.execution is not None for upstream in upstreams):
        return now + MAX_RECHECK_INTERVAL
    return now + min(max((now - dependant.earliest_start) / 2, MIN_RECHECK_INTERVAL), MAX_RECHECK_INTERVAL)
