"""The shapes that the API takes. Their meaning is checked in the domain."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from punctual.domain.jobs.concurrency import LONGEST_KEY, MOST_AT_ONCE
from punctual.domain.jobs.dependency import MOST_UPSTREAMS, Condition
from punctual.domain.jobs.misfire import USUAL_GRACE, Policy
from punctual.domain.jobs.notify_rule import Event, Topic
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.lane import Lane, Priority
from punctual.domain.limits import (
    BATCH_JOBS,
    LONGEST_LONG_RUN,
    LONGEST_SHORT_RUN,
    USUAL_LONG_RUN,
    USUAL_SHORT_RUN,
)
from punctual.domain.requests.backfill_range import BackfillOrder, Which
from punctual.domain.requests.dedupe import OnDuplicate
from punctual.domain.schedules.bounds import LONGEST_JITTER, MOST_RUNS
from punctual.domain.schedules.calendar import MOST_DATES, OnSkip
from punctual.domain.schedules.cron import Fold, Gap
from punctual.domain.schedules.data_window import WindowUnit


class Strict(BaseModel):
    """Refuses fields that it does not know."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Schedule(Strict):
    """When to run: exactly one of `at`, `cron`, `every_seconds` and `queue`."""

    at: str | None = Field(None, description="An instant with an offset or Z.", examples=["2030-01-01T12:00:00Z"])
    cron: str | None = Field(
        None,
        description="Five fields with names, ranges, steps, lists, `L` and `#`, or `@daily` and its family.",
        examples=["0 2 * * SUN"],
    )
    timezone: str | None = Field(None, description="IANA zone for `cron`; UTC if left out.", examples=["Europe/Paris"])
    gap: Gap | None = Field(
        None, description="A local time that does not exist: shifted (default) or skipped.", strict=False
    )
    fold: Fold | None = Field(
        None, description="A local time that happens twice: first (default), last or both.", strict=False
    )
    every_seconds: int | None = Field(
        None, description="A fixed interval, counted from the submission or from `starts_at`.", examples=[60]
    )
    queue: bool | None = Field(None, description="One execution per message on the intake queue.")
    starts_at: str | None = Field(
        None, description="`cron`, `every_seconds`: due no earlier.", examples=["2030-01-01T00:00:00Z"]
    )
    ends_at: str | None = Field(
        None, description="`cron`, `every_seconds`: due no later.", examples=["2030-12-31T23:59:59Z"]
    )
    max_runs: int | None = Field(
        None, ge=1, le=MOST_RUNS, description="`cron`, `every_seconds`: due so often, from the submission on."
    )
    jitter_seconds: int | None = Field(
        None,
        ge=0,
        le=LONGEST_JITTER,
        description="`cron`, `every_seconds`: started up to so much later; the same for the same job and instant.",
    )
    skip: list[str] | None = Field(
        None,
        min_length=1,
        max_length=MOST_DATES,
        description="`cron`, `every_seconds`: local dates on which it does not run, `weekends`, or the names of"
        " calendars, which mean the dates that they have when the schedule is submitted.",
        examples=[["weekends", "2026-12-25"]],
    )
    on_skip: OnSkip | None = Field(
        None,
        strict=False,
        description="What is due on such a date: left out (default), or run at that time of the next that is not.",
    )

    def to_spec(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Retry(Strict):
    """How often and after what rest a failed execution is tried again: exponential backoff with full jitter."""

    max_attempts: int = Field(3, ge=1, le=20)
    backoff_seconds: float = Field(10, ge=0, le=86_400)
    backoff_rate: float = Field(2, ge=1, le=10)
    max_backoff_seconds: float = Field(3600, ge=0, le=86_400)


class DeadlineBy(Strict):
    cron: str
    timezone: str | None = Field(None, description="IANA zone; the schedule's own if left out.")


class Deadline(Strict):
    """By when an execution should be finished: seconds after its due instant, or the next match of a cron."""

    within_seconds: int | None = Field(None, ge=1, le=31_622_400)
    by: DeadlineBy | None = None
    at: str | None = Field(None, description="An instant, for a job that runs once.")


class Resources(Strict):
    """The size of a container, in the pairs that Fargate has: 1 vCPU with 2048 to 8192 MB, and so on."""

    vcpu: float | None = Field(None, gt=0, examples=[2])
    memory_mb: int | None = Field(None, gt=0, examples=[4096])
    spot: bool | None = Field(None, description="On spare capacity: cheaper, and may be taken back at a checkpoint.")


class Container(Strict):
    """A container of your own in place of Punctual's runner: one of the images in the stack's settings."""

    image: str = Field(min_length=1, max_length=200)
    command: list[str] = Field(min_length=1, max_length=50)


class Partitions(Strict):
    """How to cut the work: exactly one of `count`, `by` and `of`."""

    count: int | None = None
    by: str | None = Field(None, description="`day` or `hour` of the data window.")
    of: list[Any] | None = None
    at_once: int | None = Field(None, ge=1, description="How many run at the same time; all if left out.")


class Notify(Strict):
    """Of what the job's people are told; all about its deadline if left out."""

    on: list[Annotated[Event, Field(strict=False)]] | None = Field(
        None, description="All about its deadline if left out; an empty list for nothing."
    )
    to: Topic | None = Field(None, strict=False, description="`notice` if left out.")


class MisfireRule(Strict):
    """What becomes of due instants that went by in an outage or a pause."""

    policy: Policy = Field(Policy.RUN_LATEST, strict=False)
    grace_seconds: int = Field(USUAL_GRACE, ge=0, le=86_400, description="What is late by no more than this runs.")


class RateLimit(Strict):
    starts: int = Field(ge=1, le=10_000)
    per_seconds: int = Field(ge=1, le=86_400)


class ConcurrencyRule(Strict):
    """No more than so many at once, or starting in a span of time, of all executions of your team that share a key."""

    key: str = Field(
        min_length=1,
        max_length=LONGEST_KEY,
        description="`{name}` stands for the parameter of that name.",
        examples=["customer-{customer_id}"],
    )
    limit: int | None = Field(None, ge=1, le=MOST_AT_ONCE)
    rate: RateLimit | None = None


class DependsOn(Strict):
    """Another job, and how it has to end before this one starts."""

    job: str = Field(min_length=1, max_length=200, description="Its id; in a batch also the name of one of the batch.")
    condition: Condition = Field(Condition.SUCCEEDED, strict=False, description="`finished` is succeeded or failed.")


class Rules(Strict):
    """What a job runs, when, and how. Each field may be left out, and may be changed later."""

    task: str | None = Field(None, min_length=1, max_length=200, examples=["echo"])
    name: str | None = Field(None, min_length=1, max_length=200)
    parameters: dict[str, Any] | None = Field(None, description="At most 64 KB of JSON.")
    schedule: Schedule | None = Field(None, description="It runs now if left out.")
    lane: Lane | None = Field(None, strict=False, description="`short` if left out.")
    priority: Priority | None = Field(None, strict=False, description="`normal` if left out.")
    timeout_seconds: int | None = Field(
        None,
        ge=1,
        le=LONGEST_LONG_RUN,
        description=f"{USUAL_SHORT_RUN} if left out, {LONGEST_SHORT_RUN} at most; in the long lane"
        f" {USUAL_LONG_RUN} and {LONGEST_LONG_RUN}.",
    )
    retry: Retry | None = None
    deadline: Deadline | None = None
    window: WindowUnit | None = Field(
        None, strict=False, description="The calendar unit that an execution is about: the last whole one before it."
    )
    resources: Resources | None = Field(None, description="Long lane: the size of the container.")
    container: Container | None = Field(None, description="Long lane: a container of your own.")
    partitions: int | list[Any] | Partitions | None = Field(
        None, description="Long lane: so many, a list, or `{by: day}`; run side by side."
    )
    preemptible: bool | None = Field(
        None, description="Long lane: may be stopped at a checkpoint for one that would miss its deadline."
    )
    overlap: Overlap | None = Field(
        None,
        strict=False,
        description="When it comes due while it still runs: `skip` if left out, for a queue job `allow`.",
    )
    misfire: MisfireRule | None = None
    concurrency: ConcurrencyRule | None = None
    notify: Notify | None = None
    depends_on: list[DependsOn] | None = Field(
        None, max_length=MOST_UPSTREAMS, description="Jobs that have to end first; of recurring ones, the same window."
    )
    expected_seconds: int | None = Field(
        None, ge=1, le=LONGEST_LONG_RUN, description="How long it takes, until enough runs have shown it."
    )


class Submission(Rules):
    """A job as submitted: a `task`, or in the long lane a `container`, is all that it needs."""

    dedupe_key: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Of your team's live jobs, which are neither done, deleted nor cancelled, only one has it.",
        examples=["orders-2026-11-16"],
    )
    on_duplicate: OnDuplicate | None = Field(
        None,
        strict=False,
        description="When a live job has the key: 409 that names it (default), or 200 with that job as it is.",
    )

    def to_submission(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Edit(Rules):
    """What to change of a job. A field that is null goes back to what it is when left out."""

    dedupe_key: str | None = Field(None, description="Cannot be changed: leave it out, or send what it is.")

    def to_changes(self) -> dict[str, Any]:
        """What was sent, down to what it says of each field."""
        said = self.model_dump(exclude_none=True)
        return {name: said.get(name) for name in self.model_fields_set}


class BackfillRequest(Strict):
    """Due instants of the past to run: from `from` up to but not including `to`."""

    since: str = Field(alias="from", examples=["2026-10-01T00:00:00Z"])
    to: str = Field(examples=["2026-11-01T00:00:00Z"])
    which: Which = Field(Which.MISSING, strict=False)
    order: BackfillOrder = Field(BackfillOrder.OLDEST_FIRST, strict=False)
    at_once: int | None = Field(
        None,
        ge=1,
        le=MOST_AT_ONCE,
        description="How many at the same time: one if left out, unless overlap allows.",
    )


class RunRequest(Strict):
    parameters: dict[str, Any] | None = Field(None, description="In place of those of the same name.")


class Batch(Strict):
    """Many jobs at once: one that is refused refuses them all."""

    jobs: list[Submission] = Field(min_length=1, max_length=BATCH_JOBS)


class PreviewRequest(Strict):
    schedule: Schedule
    count: int = Field(10, ge=1, le=100)
    after: str | None = Field(None, description="From this instant on; now if left out.")
