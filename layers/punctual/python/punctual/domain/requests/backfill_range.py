"""A backfill request: executions for past due instants."""

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

MAX_INSTANTS = 1000


class BackfillSelection(StrEnum):
    """Which due instants of the range to run."""

    MISSING = "missing"
    """Instants without an execution."""

    MISSING_AND_FAILED = "missing_and_failed"
    """Also instants whose executions have all ended without success."""

    ALL = "all"
    """All instants, except those with a live execution."""


class BackfillOrder(StrEnum):
    OLDEST_FIRST = "oldest_first"
    NEWEST_FIRST = "newest_first"


@dataclass(frozen=True, kw_only=True)
class BackfillRange:
    """Due instants from ``since`` up to but not including ``until``."""

    since: datetime
    until: datetime
    which: BackfillSelection = BackfillSelection.MISSING
    order: BackfillOrder = BackfillOrder.OLDEST_FIRST
    at_once: int | None = None
    """Maximum concurrency. By default unlimited if the job allows overlap, else 1."""

    def gate(self, job: Job, now: datetime) -> Gate | None:
        """Return the gate that limits the concurrency of this backfill; ``None`` if unlimited."""
        limit = self.at_once or (None if job.overlap is Overlap.ALLOW else 1)
        return Gate(f"{OF_BACKFILL}{job.job_id}#{to_text(now)}", limit) if limit else None

    def instants(self, job: Job) -> list[datetime]:
        """Return the due instants in the order of execution. Raises ``Invalid`` if there are more than 1,000."""
        found: list[datetime] = []
        due = job.schedule.next_after(self.since - MILLISECOND)
        while due is not None and due < self.until:
            found.append(due)
            if len(found) > MAX_INSTANTS:
                message = (
                    f"more than {MAX_INSTANTS:,} due instants between {to_text(self.since)} and {to_text(self.until)}"
                )
                raise Invalid("to", f"{message}: request a shorter range")
            due = job.schedule.next_after(due)
        return found if self.order is BackfillOrder.OLDEST_FIRST else found[::-1]

    def should_run(self, existing: Iterable[Execution]) -> bool:
        """Whether to run a due instant that has the executions ``existing``."""
        statuses = {execution.status for execution in existing}
        if not statuses:
            return True
        if self.which is BackfillSelection.MISSING or not statuses <= FINAL:
            return False
        return self.which is BackfillSelection.ALL or Status.SUCCEEDED not in statuses


def parse_range(spec: Mapping[str, Any], now: datetime) -> BackfillRange:
    """Parse the request body. Raises ``Invalid``, which names the field."""
    since, until = parse("from", spec["from"]), parse("to", spec["to"])
    if until <= since:
        raise Invalid("to", f"{to_text(until)} is not after from, {to_text(since)}: give a later instant")
    if until > now:
        raise Invalid("to", f"{to_text(until)} is in the future: a backfill covers past instants only")
    return BackfillRange(
        since=since,
        until=until,
        which=BackfillSelection(spec.get("which", BackfillSelection.MISSING)),
        order=BackfillOrder(spec.get("order", BackfillOrder.OLDEST_FIRST)),
        at_once=spec.get("at_once"),
    )


def check_backfill(job: Job) -> None:
    """Raise ``Invalid`` for a job without recurring due instants."""
    if not job.schedule.recurring:
        kind = "runs for every message" if job.schedule.kind == "queue" else "runs once"
        raise Invalid(
            "schedule", f"the job {kind}: only jobs with cron or every_seconds can be backfilled with from/to"
        )
