"""The misfire rule: which missed due instants run after an outage, a pause or a late tick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from punctual.domain.identity import execution_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.schedules.schedule import Schedule
from punctual.domain.status import Status

MAX_CATCH_UP_RUNS = 100
"""How many missed instants ``run_all`` runs: the latest ones."""
DEFAULT_MISFIRE_GRACE_SECONDS = 300


WasCancelled = Callable[[datetime], bool]
"""Whether the execution of a due instant was cancelled before it started. Such an execution covers no other."""


class MisfirePolicy(StrEnum):
    """The policy for missed due instants. The messages of a queue job are missed while the job is paused."""

    RUN_LATEST = "run_latest"
    """Run the latest due instant; it covers the missed ones before it."""
    RUN_ALL = "run_all"
    """Run all missed instants, at most the latest 100."""
    SKIP = "skip"
    """Run no missed instant."""


@dataclass(frozen=True, kw_only=True)
class Misfire:
    """A job's rule for missed due instants."""

    policy: MisfirePolicy = MisfirePolicy.RUN_LATEST
    grace_seconds: int = DEFAULT_MISFIRE_GRACE_SECONDS
    """An instant that is late by at most this is not missed: it runs."""

    def decide(
        self,
        instants: Sequence[datetime],
        schedule: Schedule,
        now: datetime,
        missed_until: datetime | None = None,
        *,
        was_cancelled: WasCancelled,
    ) -> MisfireDecision:
        """Decide which of ``instants`` do not run.

        ``instants`` are ascending due instants of ``schedule``. They may extend into the future, and they may be only
        the first of the missed ones: the decision is the same whether they are passed together or in pieces. An instant
        before ``missed_until``, the end of a pause, is missed however little it is late.
        """
        before = self.missed_before(schedule, now)
        if missed_until is not None:
            before = max(before, min(missed_until, now))
        missed = [due for due in instants if due < before]
        if not missed:
            return MisfireDecision()
        if self.policy is MisfirePolicy.SKIP:
            return MisfireDecision(policy=self.policy, missed=frozenset(missed))
        if self.policy is MisfirePolicy.RUN_LATEST:
            latest = _counted_back(schedule, now + MILLISECOND, 1)
            while latest is not None and was_cancelled(latest):
                latest = _counted_back(schedule, latest, 1)
            if latest is None or latest < missed[0]:  # a one-time job, or all executions were cancelled
                return MisfireDecision()
            return MisfireDecision(policy=self.policy, covered=frozenset(missed) - {latest}, covered_by=latest)
        first = _counted_back(schedule, before, MAX_CATCH_UP_RUNS) or missed[0]
        return MisfireDecision(policy=self.policy, missed=frozenset(due for due in missed if due < first))

    def missed_before(self, schedule: Schedule, now: datetime) -> datetime:
        """The instant before which an unplanned due instant counts as missed."""
        return now - timedelta(seconds=self.grace_seconds + schedule.jitter_seconds)

    def to_spec(self) -> dict[str, Any]:
        return {"policy": str(self.policy), "grace_seconds": self.grace_seconds}


def default_misfire(schedule: Schedule) -> Misfire:
    """The rule of a job without one. A message has a payload of its own, so no other message covers it."""
    return Misfire(policy=MisfirePolicy.RUN_ALL) if schedule.kind == "queue" else Misfire()


def parse_misfire(spec: Mapping[str, Any] | None, schedule: Schedule) -> Misfire:
    """Parse the API's representation; None is the default rule."""
    default = default_misfire(schedule)
    if spec is None:
        return default
    policy = MisfirePolicy(spec.get("policy", default.policy))
    return Misfire(policy=policy, grace_seconds=spec.get("grace_seconds", DEFAULT_MISFIRE_GRACE_SECONDS))


@dataclass(frozen=True, kw_only=True)
class MisfireDecision:
    """The instants that do not run, and why. All others run."""

    policy: MisfirePolicy = MisfirePolicy.RUN_LATEST
    covered: frozenset[datetime] = field(default_factory=frozenset)
    """Skipped, because the run at ``covered_by`` covers them."""
    covered_by: datetime | None = None
    missed: frozenset[datetime] = field(default_factory=frozenset)
    """Recorded as missed."""

    def ending_of(self, job_id: str, due: datetime) -> MisfireEnding | None:
        """How the execution of ``due`` ends instead of running; ``None`` if it runs."""
        if due in self.missed:
            return MisfireEnding(Status.MISSED, f"missed its due instant: misfire policy {self.policy}")
        if due in self.covered and self.covered_by is not None:
            cover = execution_id(job_id, self.covered_by)
            return MisfireEnding(Status.SKIPPED, f"missed its due instant; covered by {cover}", cover)
        return None


@dataclass(frozen=True)
class MisfireEnding:
    """How an execution ends that missed its due instant and does not run."""

    status: Status
    reason: str
    covered_by: str | None = None
    """The execution that runs instead."""


def _counted_back(schedule: Schedule, before: datetime, count: int) -> datetime | None:
    """The ``count``-th due instant before ``before``, or the first of all; None if there is none."""
    found = None
    previous_before = getattr(schedule, "previous_before", None)
    while count and previous_before and (due := previous_before(found or before)) is not None:
        found, count = due, count - 1
    return found
