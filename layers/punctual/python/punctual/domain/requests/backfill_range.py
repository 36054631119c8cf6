"""A backfill: executions for due instants of the past, asked for by a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import MILLISECOND, parse, to_text
from punctual.domain.jobs.gate import OF_BACKFILL, Gate
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.status import FINAL, Status

MOST_INSTANTS = 1000


class Which(StrEnum):
    """Which instants of a range to run."""

    MISSING = "missing"
    """Those that have no execution."""

    MISSING_AND_FAILED = "missing_and_failed"
    """And those whose executions have all ended without success."""

    ALL = "all"
    """Every one but those whose execution has not ended yet."""


class BackfillOrder(StrEnum):
    OLDEST_FIRST = "oldest_first"
    NEWEST_FIRST = "newest_first"


@dataclass(frozen=True, kw_only=True)
class Range:
    """Due instants from ``since`` up to but not including ``until``."""

    since: datetime
    until: datetime
    which: Which = Which.MISSING
    order: BackfillOrder = BackfillOrder.OLDEST_FIRST
    at_once: int | None = None
    """How many run at the same time; as many as come where the job allows overlap, else one."""

    def gate(self, job: Job, now: datetime) -> Gate | None:
        """What keeps them from running all at once."""
        limit = self.at_once or (None if job.overlap is Overlap.ALLOW else 1)
        return Gate(f"{OF_BACKFILL}{job.job_id}#{to_text(now)}", limit) if limit else None

    def instants(self, job: Job) -> list[datetime]:
        """In the order in which they are to run. Raises ``Invalid`` for too many."""
        found: list[datetime] = []
        due = job.schedule.next_after(self.since - MILLISECOND)
        while due is not None and due < self.until:
            found.append(due)
            if len(found) > MOST_INSTANTS:
                message = f"there are more than {MOST_INSTANTS:,} due instants from {to_text(self.since)} on"
                raise Invalid("to", f"{message}: take a shorter range")
            due = job.schedule.next_after(due)
        return found if self.order is BackfillOrder.OLDEST_FIRST else found[::-1]

    def wants(self, standing: Iterable[Execution]) -> bool:
        """Whether an instant is to run that has had these executions."""
        statuses = {execution.status for execution in standing}
        if not statuses:
            return True
        if self.which is Which.MISSING or not statuses <= FINAL:
            return False
        return self.which is Which.ALL or Status.SUCCEEDED not in statuses


def parse_range(spec: Mapping[str, Any], now: datetime) -> Range:
    """From the API's form. Raises ``Invalid`` that names the field."""
    since, until = parse("from", spec["from"]), parse("to", spec["to"])
    if until <= since:
        raise Invalid("to", f"{to_text(until)} is not after from, {to_text(since)}")
    if until > now:
        raise Invalid("to", f"{to_text(until)} has not come yet: a backfill is of the past")
    return Range(
        since=since,
        until=until,
        which=Which(spec.get("which", Which.MISSING)),
        order=BackfillOrder(spec.get("order", BackfillOrder.OLDEST_FIRST)),
        at_once=spec.get("at_once"),
    )


def check_backfill(job: Job) -> None:
    """Raises ``Invalid`` for a job that has no due instants to go back to."""
    if not job.schedule.recurring:
        what = "runs for every message" if job.schedule.kind == "queue" else "runs once"
        raise Invalid("schedule", f"the job {what}: only one with cron or every_seconds can be backfilled with from/to")
