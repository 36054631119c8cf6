"""Request models of the API. They check shapes and ranges; the stages check the meaning.

Field descriptions and class docstrings appear in the API's OpenAPI document.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from bodies.destination import DESTINATION
from punctual.domain.jobs.backlog_rule import MAX_BACKLOG_MESSAGES, MAX_BACKLOG_MINUTES
from punctual.domain.jobs.concurrency import MAX_CONCURRENCY, MAX_CONCURRENCY_KEY_LENGTH
from punctual.domain.jobs.dependency import MAX_UPSTREAMS, Condition
from punctual.domain.jobs.misfire import DEFAULT_MISFIRE_GRACE_SECONDS, MisfirePolicy
from punctual.domain.jobs.notify_rule import Event
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.jobs.tags import MAX_TAGS
from punctual.domain.lane import Lane, Priority
from punctual.domain.limits import (
    DEFAULT_LONG_TIMEOUT_SECONDS,
    DEFAULT_SHORT_TIMEOUT_SECONDS,
    MAX_BATCH_JOBS,
    MAX_LONG_TIMEOUT_SECONDS,
    MAX_SHORT_TIMEOUT_SECONDS,
)
from punctual.domain.requests.backfill_range import BackfillOrder, BackfillSelection
from punctual.domain.requests.dedupe import OnDuplicate
from punctual.domain.requests.rerun_request import RerunRequest, StartingPoint
from punctual.domain.schedules.bounds import MAX_JITTER_SECONDS, MAX_RUNS
from punctual.domain.schedules.calendar import MAX_SKIPPED_DATES, OnSkip
from punctual.domain.schedules.cron import Fold, Gap
from punctual.domain.schedules.data_window import WindowUnit


def _example(body: dict[str, Any]) -> ConfigDict:
    """An example of a whole body, which the API accepts as it stands."""
    return ConfigDict(json_schema_extra={"examples": [body]})


class StrictModel(BaseModel):
    """Refuses unknown fields and does not convert types."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @classmethod
    def example(cls) -> Any:
        """The example of a whole body; only for the models of bodies."""
        schema: Any = cls.model_config["json_schema_extra"]
        return schema["examples"][0]


class Schedule(StrictModel):
    """When a job runs: exactly one of `at`, `cron`, `every_seconds` and `queue`."""

    at: str | None = Field(
        None, description="Run once at this instant, given with an offset or `Z`.", examples=["2030-01-01T12:00:00Z"]
    )
    cron: str | None = Field(
        None,
        description="Five fields with names, ranges, steps, lists, `L` and `#`, or a macro such as `@daily`.",
        examples=["0 2 * * SUN"],
    )
    timezone: str | None = Field(
        None, description="IANA time zone for `cron`. Default: UTC.", examples=["Europe/Paris"]
    )
    gap: Gap | None = Field(
        None, description="`cron`: for a local time that does not exist, `shift` (default) or `skip`.", strict=False
    )
    fold: Fold | None = Field(
        None,
        description="`cron`: for a local time that occurs twice, `first`, `last` or `both`. Default: `both` if the"
        " minute or the hour starts with `*`, otherwise `first`.",
        strict=False,
    )
    every_seconds: int | None = Field(
        None, description="Run at this interval, counted from the submission or from `starts_at`.", examples=[60]
    )
    queue: bool | None = Field(None, description="Run once per message in the intake queue.")
    starts_at: str | None = Field(
        None, description="`cron`, `every_seconds`: no due instant before this one.", examples=["2030-01-01T00:00:00Z"]
    )
    ends_at: str | None = Field(
        None, description="`cron`, `every_seconds`: no due instant after this one.", examples=["2030-12-31T23:59:59Z"]
    )
    max_runs: int | None = Field(
        None, ge=1, le=MAX_RUNS, description="`cron`, `every_seconds`: maximum number of due instants since submission."
    )
    jitter_seconds: int | None = Field(
        None,
        ge=0,
        le=MAX_JITTER_SECONDS,
        description="`cron`, `every_seconds`: start up to this much later. The delay of an instant is always the same.",
    )
    skip: list[str] | None = Field(
        None,
        min_length=1,
        max_length=MAX_SKIPPED_DATES,
        description="`cron`, `every_seconds`: local dates on which it does not run, `weekends`, or names of"
        " calendars. Calendars are read when the schedule is submitted.",
        examples=[["weekends", "2026-12-25"]],
    )
    on_skip: OnSkip | None = Field(
        None,
        strict=False,
        description="Instants on a skipped date: left out (default), or run at that time on the next date not skipped.",
    )

    def to_spec(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class RetryRule(StrictModel):
    """How a failed execution is retried: exponential backoff with full jitter."""

    max_attempts: int = Field(3, ge=1, le=20)
    backoff_seconds: float = Field(10, ge=0, le=86_400)
    backoff_rate: float = Field(2, ge=1, le=10)
    max_backoff_seconds: float = Field(3600, ge=0, le=86_400)


class DeadlineBy(StrictModel):
    cron: str
    timezone: str | None = Field(None, description="IANA time zone. Default: that of the schedule.")


class Deadline(StrictModel):
    """When an execution has to be finished: exactly one of `within_seconds`, `by` and `at`."""

    within_seconds: int | None = Field(None, ge=1, le=31_622_400, description="Seconds after the due instant.")
    by: DeadlineBy | None = Field(None, description="The next match of a cron expression after the due instant.")
    at: str | None = Field(None, description="An instant, only for a job that runs once.")


class Resources(StrictModel):
    """The size of a container. Fargate supports certain combinations, such as 1 vCPU with 2048 to 8192 MB."""

    vcpu: float | None = Field(None, gt=0, examples=[2])
    memory_mb: int | None = Field(None, gt=0, examples=[4096])
    spot: bool | None = Field(
        None, description="Use Fargate Spot: cheaper, but AWS may reclaim it; the task resumes from its checkpoint."
    )


class Container(StrictModel):
    """A container that runs instead of Punctual's runner, with one of the images named in the stack's settings."""

    image: str = Field(min_length=1, max_length=200)
    command: list[str] = Field(min_length=1, max_length=50)


class Partitions(StrictModel):
    """How the work is partitioned: exactly one of `count`, `by` and `of`."""

    count: int | None = Field(None, description="This many numbered partitions.")
    by: str | None = Field(None, description="One partition per `day` or `hour` of the data window.")
    of: list[Any] | None = Field(None, description="One partition per value.")
    at_once: int | None = Field(None, ge=1, description="How many partitions run concurrently. Default: all.")


PARTITION_FORMS = ("<count>", "<values>", "<object>")
"""How `partitions` may be written. Pydantic adds the form to the path of an error."""


def _partition_form(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return PARTITION_FORMS[0]
    if isinstance(value, list):
        return PARTITION_FORMS[1]
    return PARTITION_FORMS[2] if isinstance(value, dict | Partitions) else None


AnyPartitions = Annotated[
    Annotated[int, Tag("<count>")] | Annotated[list[Any], Tag("<values>")] | Annotated[Partitions, Tag("<object>")],
    Discriminator(
        _partition_form,
        custom_error_type="partitions",
        custom_error_message='must be a number such as 7, a list, or an object such as {"by": "day"}',
    ),
]


class Notify(StrictModel):
    """Which events of a job's executions send a notification, and to which topic."""

    on: list[Annotated[Event, Field(strict=False)]] | None = Field(
        None, description="Default: failures, overruns and deadline events. An empty list disables notifications."
    )
    to: Any = Field(
        None,
        description="A destination, or a list of up to five: `notice` (default), `page`, an SNS topic, an e-mail "
        "address, or a webhook. A webhook of the format `json` requires a secret.",
        json_schema_extra={"anyOf": [DESTINATION, {"type": "array", "items": DESTINATION, "maxItems": 5}]},
    )


class MisfireRule(StrictModel):
    """What happens to due instants that were missed in an outage or a pause, and to messages of a paused queue job."""

    policy: MisfirePolicy | None = Field(
        None,
        strict=False,
        description="Default: `run_latest`; for a queue job `run_all`. `skip` drops the messages of a pause.",
    )
    grace_seconds: int = Field(
        DEFAULT_MISFIRE_GRACE_SECONDS,
        ge=0,
        le=86_400,
        description="An instant that is late by at most this still runs.",
    )


class RateLimit(StrictModel):
    """At most `starts` starts within `per_seconds` seconds."""

    starts: int = Field(ge=1, le=10_000)
    per_seconds: int = Field(ge=1, le=86_400)


class ConcurrencyRule(StrictModel):
    """Limits the concurrency or the start rate of all executions of your team that have the same key."""

    key: str = Field(
        min_length=1,
        max_length=MAX_CONCURRENCY_KEY_LENGTH,
        description="`{name}` is replaced by the parameter of that name.",
        examples=["warehouse"],
    )
    limit: int | None = Field(None, ge=1, le=MAX_CONCURRENCY, description="Maximum number of concurrent executions.")
    rate: RateLimit | None = None


class BacklogRule(StrictModel):
    """Limits of the backlog of a queue job: the monitor reports when one is exceeded, and when it no longer is."""

    messages: int | None = Field(
        None, ge=1, le=MAX_BACKLOG_MESSAGES, description="How many messages may wait for their start."
    )
    minutes: int | None = Field(None, ge=1, le=MAX_BACKLOG_MINUTES, description="How long the oldest may wait.")


class DependsOn(StrictModel):
    """An upstream job, and how its execution has to end before an execution of this job starts."""

    job: str = Field(
        min_length=1,
        max_length=200,
        description="The id of the job; in a batch also the name of another job of the batch.",
    )
    condition: Condition = Field(
        Condition.SUCCEEDED, strict=False, description="`succeeded` (default), `failed`, or `finished` for both."
    )


class JobFields(StrictModel):
    """What a job runs, when, and how. All fields are optional and can be edited later."""

    task: str | None = Field(
        None, min_length=1, max_length=200, description="The name of a task in the catalog.", examples=["echo"]
    )
    name: str | None = Field(None, min_length=1, max_length=200, description="Unique among the live jobs of your team.")
    parameters: dict[str, Any] | None = Field(None, description="Parameters of the task: at most 64 KB of JSON.")
    tags: dict[str, str] | None = Field(
        None,
        description=f"Up to {MAX_TAGS} names and values to find the job and its executions by.",
        examples=[{"dataset": "orders"}],
    )
    schedule: Schedule | None = Field(None, description="Default: run once, immediately.")
    lane: Lane | None = Field(None, strict=False, description="Default: `short`.")
    priority: Priority | None = Field(None, strict=False, description="Default: `normal`.")
    timeout_seconds: int | None = Field(
        None,
        ge=1,
        le=MAX_LONG_TIMEOUT_SECONDS,
        description="Maximum run time of an attempt. Short lane:"
        f" default {DEFAULT_SHORT_TIMEOUT_SECONDS}, at most {MAX_SHORT_TIMEOUT_SECONDS}. Long lane:"
        f" default {DEFAULT_LONG_TIMEOUT_SECONDS}, at most {MAX_LONG_TIMEOUT_SECONDS}.",
    )
    retry: RetryRule | None = None
    deadline: Deadline | None = None
    window: WindowUnit | None = Field(
        None,
        strict=False,
        description="The calendar unit of the data window: an execution covers the last complete unit before it.",
    )
    resources: Resources | None = Field(None, description="Long lane: the size of the container.")
    container: Container | None = Field(None, description="Long lane: your own container.")
    partitions: AnyPartitions | None = Field(
        None, description='Long lane: a count, a list of values, or an object such as `{"by": "day"}`.'
    )
    preemptible: bool | None = Field(
        None,
        description="Long lane: may be stopped at a checkpoint to free its slot for an execution that would miss its"
        " deadline.",
    )
    overlap: Overlap | None = Field(
        None,
        strict=False,
        description="What happens when an execution comes due while another one of the job runs. Default: `skip` for"
        " recurring jobs, `allow` for all others.",
    )
    misfire: MisfireRule | None = None
    concurrency: ConcurrencyRule | None = None
    backlog: BacklogRule | None = Field(
        None,
        description='Queue jobs: from which number or age of waiting messages on to notify, such as {"messages": 500}.',
    )
    notify: Notify | None = None
    depends_on: list[DependsOn] | None = Field(
        None,
        max_length=MAX_UPSTREAMS,
        description="Upstream jobs that have to end first. Executions of recurring jobs match by data window.",
    )
    expected_seconds: int | None = Field(
        None,
        ge=1,
        le=MAX_LONG_TIMEOUT_SECONDS,
        description="Expected run time, used by forecasts until there are enough measured runs.",
    )


class Submission(JobFields):
    """A new job. Only `task` is required, or `container` in the long lane."""

    model_config = _example({"task": "echo", "parameters": {"hello": "world"}, "schedule": {"every_seconds": 60}})

    owner: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="The team that owns the job: one of yours. Required if you are in several teams.",
    )
    dedupe_key: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Unique among the live jobs of your team: jobs that are not done, deleted or cancelled.",
        examples=["orders-2026-11-16"],
    )
    on_duplicate: OnDuplicate | None = Field(
        None,
        strict=False,
        description="If a live job has the key: 409 with its id (default), or 200 with that job, unchanged.",
    )

    def to_submission(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Edit(JobFields):
    """The fields of a job to change. Null resets a field to its default."""

    model_config = _example({"priority": "high", "retry": {"max_attempts": 5}})

    dedupe_key: str | None = Field(None, description="Cannot be changed: omit it, or send the current value.")
    owner: str | None = Field(None, description="Omit it, or send the current owner: a transfer changes it.")

    def to_changes(self) -> dict[str, Any]:
        """Return the fields that were sent, with ``None`` for a null."""
        values = self.model_dump(exclude_none=True)
        return {name: values.get(name) for name in self.model_fields_set}


class BackfillRequest(StrictModel):
    """The past due instants to run: from `from` up to but not including `to`."""

    model_config = _example({"from": "2026-10-01T00:00:00Z", "to": "2026-10-02T00:00:00Z", "which": "missing"})

    since: str = Field(alias="from", examples=["2026-10-01T00:00:00Z"])
    to: str = Field(examples=["2026-11-01T00:00:00Z"])
    which: BackfillSelection = Field(
        BackfillSelection.MISSING,
        strict=False,
        description="`missing` (default): instants without an execution; `missing_and_failed`: also those whose"
        " executions all ended without success; `all`: all without a live execution.",
    )
    order: BackfillOrder = Field(BackfillOrder.OLDEST_FIRST, strict=False)
    at_once: int | None = Field(
        None,
        ge=1,
        le=MAX_CONCURRENCY,
        description="Maximum concurrency. Default: 1; unlimited if the job's `overlap` is `allow`.",
    )


class RunRequest(StrictModel):
    """What this execution has instead of the fields of its job."""

    model_config = _example({"parameters": {}})

    parameters: dict[str, Any] | None = Field(None, description="Override parameters of the same name.")
    timeout_seconds: int | None = Field(
        None, ge=1, le=MAX_LONG_TIMEOUT_SECONDS, description="Maximum run time of an attempt of this execution."
    )
    resources: Resources | None = Field(None, description="Long lane: the size of the container of this execution.")

    def to_request(self) -> RerunRequest:
        return RerunRequest(**self.model_dump(exclude_none=True))


class RetryRequest(RunRequest):
    """What the new execution has instead of the fields of its job, and where it begins."""

    starting_point: StartingPoint | None = Field(
        None,
        alias="from",
        strict=False,
        description="`checkpoint` (default): keep finished partitions, and resume the others from their checkpoints."
        " `start`: repeat all of the work; the default and only choice for a succeeded execution.",
    )


class BatchRequest(StrictModel):
    """Several jobs, submitted together. If one is invalid, none is stored."""

    model_config = _example({"jobs": [{"task": "echo"}, {"task": "sleep", "parameters": {"seconds": 3}}]})

    jobs: list[Submission] = Field(min_length=1, max_length=MAX_BATCH_JOBS)


class PreviewRequest(StrictModel):
    model_config = _example({"schedule": {"cron": "0 2 * * SUN", "timezone": "Europe/Paris"}, "count": 5})

    schedule: Schedule
    count: int = Field(10, ge=1, le=100)
    after: str | None = Field(None, description="Start after this instant. Default: now.")
