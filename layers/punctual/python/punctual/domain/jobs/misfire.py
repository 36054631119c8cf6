"""What becomes of due instants that went by: in an outage, while a job was paused, or with a late tick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from punctual.domain.instant import MILLISECOND
from punctual.domain.schedules.schedule import Schedule

MOST_MADE_UP = 100
USUAL_GRACE = 300


Withdrawn = Callable[[datetime], bool]
"""Whether the execution of a due instant was cancelled before it began: it stands for no other."""


class Policy(StrEnum):
    RUN_LATEST = "run_latest"
    """The latest that is due runs, and stands for those before it."""
    RUN_ALL = "run_all"
    """All run, the latest hundred at most."""
    SKIP = "skip"
    """None runs."""


@dataclass(frozen=True, kw_only=True)
class Misfire:
    policy: Policy = Policy.RUN_LATEST
    grace_seconds: int = USUAL_GRACE
    """What is late by no more than this has not been missed: it runs."""

    def sort_out(
        self,
        instants: Sequence[datetime],
        schedule: Schedule,
        now: datetime,
        missed_until: datetime | None = None,
        *,
        withdrawn: Withdrawn,
    ) -> SortedOut:
        """``instants`` of ``schedule`` rise. They may reach into the future, and more may follow that went by.

        What was due before ``missed_until``, the end of a pause, has been missed however late it is.
        """
        before = self.missed_before(schedule, now)
        if missed_until is not None:
            before = max(before, min(missed_until, now))
        missed = [due for due in instants if due < before]
        if not missed:
            return SortedOut()
        if self.policy is Policy.SKIP:
            return SortedOut(missed=frozenset(missed))
        if self.policy is Policy.RUN_LATEST:
            latest = _counted_back(schedule, now + MILLISECOND, 1)
            while latest is not None and withdrawn(latest):
                latest = _counted_back(schedule, latest, 1)
            if latest is None or latest < missed[0]:  # it runs once, or all were withdrawn
                return SortedOut()
            return SortedOut(covered=frozenset(missed) - {latest}, covered_by=latest)
        first = _counted_back(schedule, before, MOST_MADE_UP) or missed[0]
        return SortedOut(missed=frozenset(due for due in missed if due < first))

    def missed_before(self, schedule: Schedule, now: datetime) -> datetime:
        """Whatever was due before this and has not been planned was missed."""
        return now - timedelta(seconds=self.grace_seconds + schedule.jitter_seconds)

    def to_spec(self) -> dict[str, Any]:
        return {"policy": str(self.policy), "grace_seconds": self.grace_seconds}


def parse_misfire(spec: Mapping[str, Any] | None) -> Misfire:
    """From the API's form; None for what is usual."""
    if spec is None:
        return Misfire()
    policy = Policy(spec.get("policy", Policy.RUN_LATEST))
    return Misfire(policy=policy, grace_seconds=spec.get("grace_seconds", USUAL_GRACE))


@dataclass(frozen=True, kw_only=True)
class SortedOut:
    """Which instants do not run, and why. All others do."""

    covered: frozenset[datetime] = field(default_factory=frozenset)
    covered_by: datetime | None = None
    missed: frozenset[datetime] = field(default_factory=frozenset)


def _counted_back(schedule: Schedule, before: datetime, count: int) -> datetime | None:
    """The due instant that is ``count`` back from ``before``, or the first of all; None when there was none."""
    found = None
    previous_before = getattr(schedule, "previous_before", None)
    while count and previous_before and (due := previous_before(found or before)) is not None:
        found, count = due, count - 1
    return found


def covered_words(execution_id: str) -> str:
    return f"its time went by; {execution_id} covers it"


def missed_words(misfire: Misfire) -> str:
    return f"its time went by: misfire policy {misfire.policy}"
