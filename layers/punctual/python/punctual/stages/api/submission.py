"""Build a job from a submission, or refuse it with the field named. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Invalid
from punctual.domain.identity import new_job_id
from punctual.domain.jobs.backlog_rule import parse_backlog
from punctual.domain.jobs.batch import LONG_LANE_FIELDS, Batch
from punctual.domain.jobs.concurrency import parse_concurrency
from punctual.domain.jobs.deadline import check_deadline, parse_deadline
from punctual.domain.jobs.dependency import parse_dependencies
from punctual.domain.jobs.destination import Email
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.misfire import Misfire, MisfirePolicy, parse_misfire
from punctual.domain.jobs.notify_rule import Notify, parse_notify
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.jobs.partitions import check_partitions, parse_partitions
from punctual.domain.jobs.resources import Resources, parse_resources
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.jobs.tags import parse_tags
from punctual.domain.lane import Lane, Priority
from punctual.domain.limits import (
    DEFAULT_LONG_TIMEOUT_SECONDS,
    DEFAULT_SHORT_TIMEOUT_SECONDS,
    MAX_LONG_TIMEOUT_SECONDS,
    MAX_SHORT_TIMEOUT_SECONDS,
    check_parameters,
)
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dedupe import policy_of
from punctual.domain.requests.rerun_request import RerunRequest
from punctual.domain.schedules.data_window import WindowUnit
from punctual.domain.schedules.due_window import check_window
from punctual.domain.schedules.schedule import Schedule, check_comes_due, parse_schedule
from punctual.domain.suggestion import one_of

if TYPE_CHECKING:
    from punctual.ports.jobs import Tasks

MAX_COMMAND_LENGTH = 4096
"""Characters in total: the command and the other overrides of a container have to fit into 8 KB."""


@dataclass(frozen=True)
class JobBuilder:
    """Turns submissions into jobs. Raises ``Invalid``."""

    tasks: Tasks
    images: Sequence[str] = ()
    """The names of the container images that jobs of the long lane may use."""
    max_cpu: int = 16 * 1024
    """The vCPU capacity of the long lane, in 1/1024 vCPU; 0 in a stage without the long lane."""
    sends_email: bool = True
    """Whether the stage has a sender of e-mail. Without one, a job cannot name an e-mail address."""

    def build(
        self,
        submission: Mapping[str, Any],
        caller: Caller,
        now: datetime,
        *,
        seed: str | None = None,
        kept_schedule: Schedule | None = None,
        changed: Container[str] | None = None,
    ) -> Job:
        """Build a new job. The shape of ``submission`` was validated before; this checks its meaning.

        The job id is derived from ``seed``, if given. For an edit, ``kept_schedule`` is the job's schedule unless the
        edit changes it, and ``changed`` has the names of the fields that the edit changes.
        """
        policy_of(submission)
        schedule = kept_schedule
        if schedule is None:
            schedule = self.schedule(submission.get("schedule"), now)
            check_comes_due(schedule, now)
        parameters = submission.get("parameters", {})
        check_parameters("parameters", parameters)
        task = self._task(submission, schedule, parameters)
        timezone = getattr(schedule, "timezone", "UTC")
        lane = Lane(submission.get("lane", Lane.SHORT))
        self._check_lane(lane)
        job = Job(
            job_id=new_job_id(now, seed),
            name=submission.get("name"),
            owner=caller.owner_of(submission),
            created_by=caller.subject,
            task=task,
            parameters=parameters,
            tags=parse_tags("tags", submission.get("tags")),
            schedule=schedule,
            lane=lane,
            priority=Priority(submission.get("priority", Priority.NORMAL)),
            timeout_seconds=_timeout(submission.get("timeout_seconds"), lane),
            retry=RetryPolicy(**submission.get("retry", {})),
            deadline=parse_deadline(submission.get("deadline"), timezone=timezone),
            expected_seconds=submission.get("expected_seconds"),
            overlap=Overlap(submission.get("overlap", Overlap.default(recurring=schedule.recurring))),
            misfire=parse_misfire(submission.get("misfire"), schedule),
            concurrency=parse_concurrency(submission.get("concurrency")),
            backlog=parse_backlog(submission.get("backlog")),
            notify=self._notify(submission.get("notify")),
            window=WindowUnit(submission["window"]) if "window" in submission else None,
            batch=self._batch(submission, lane),
            dedupe_key=submission.get("dedupe_key"),
            depends_on=parse_dependencies(submission.get("depends_on")),
            created_at=now,
            updated_at=now,
        )
        _check_combinations(job)
        is_expectation_kept = changed is not None and "expected_seconds" not in changed
        _check_expected_seconds(job, "timeout_seconds" if is_expectation_kept else "expected_seconds")
        return job

    def schedule(self, spec: Mapping[str, Any] | None, now: datetime) -> Schedule:
        """Parse a schedule that was submitted at ``now``."""
        return parse_schedule(spec, now=now, calendars=self.tasks.calendars)

    def override(self, job: Job, request: RerunRequest) -> Job:
        """Return ``job`` with the limits that ``request`` sets for one execution."""
        self._check_lane(job.lane)
        if request.timeout_seconds is not None:
            job = replace(job, timeout_seconds=_timeout(request.timeout_seconds, job.lane))
        if request.resources is None:
            return job
        if job.batch is None:
            raise _requires_long_lane("resources", job.lane)
        resources = parse_resources(request.resources)
        self._check_capacity(resources)
        return replace(job, batch=replace(job.batch, resources=resources))

    def _task(self, submission: Mapping[str, Any], schedule: Schedule, parameters: Mapping[str, Any]) -> str:
        """Return the task's name. A container image of the user's own is not in the catalog and is not checked."""
        image = submission.get("container", {}).get("image")
        task: str | None = submission.get("task")
        if image:
            return task or image
        if task is None:
            raise Invalid("task", "is required: name a task, or set container")
        if schedule.kind == "queue":  # the parameters come with each message
            self.tasks.check_name(task)
        else:
            self.tasks.check(task, parameters)
        return task

    def _notify(self, spec: Mapping[str, Any] | None) -> Notify | None:
        notify = parse_notify(spec)
        if notify is not None and not self.sends_email and any(isinstance(one, Email) for one in notify.to):
            remedy = "name a topic or a webhook, or let an administrator set email_sender in the settings of the stage"
            raise Invalid("notify.to", f"this stage sends no e-mail: {remedy}")
        return notify

    def _batch(self, submission: Mapping[str, Any], lane: Lane) -> Batch | None:
        if lane is not Lane.LONG:
            for field in LONG_LANE_FIELDS:
                if field in submission:
                    raise _requires_long_lane(field, lane)
            return None
        container = submission.get("container", {})
        resources = parse_resources(submission.get("resources"))
        self._check_capacity(resources)
        partitions = parse_partitions(submission.get("partitions"))
        image = container.get("image", "")
        if image and image not in self.images:
            known = f"available: {one_of(self.images, image)}" if self.images else "the stack's settings name no image"
            raise Invalid("container.image", f"there is no image {image!r}; {known}")
        if image and submission.get("preemptible"):
            message = "requires Punctual's own runner, which writes checkpoints: remove preemptible or container"
            raise Invalid("preemptible", message)
        if sum(map(len, container.get("command", ()))) > MAX_COMMAND_LENGTH:
            raise Invalid(
                "container.command", f"must have at most {MAX_COMMAND_LENGTH:,} characters in total: shorten it"
            )
        return Batch(
            resources=resources,
            image=image,
            command=tuple(container.get("command", ())),
            partitions=partitions,
            preemptible=submission.get("preemptible", False),
            collects=not image and partitions is not None and self.tasks.collects(submission["task"]),
        )

    def _check_lane(self, lane: Lane) -> None:
        if lane is Lane.LONG and not self.max_cpu:
            remedy = 'use "short", or let an administrator set `enabled = true` in the section [long] of the stage'
            raise Invalid("lane", f"the long lane of this stage is off: {remedy}")

    def _check_capacity(self, resources: Resources) -> None:
        if resources.cpu > self.max_cpu:
            capacity = f"{self.max_cpu / 1024:g}"
            message = f"must be at most {capacity}, the capacity of the long lane: it would never get a slot"
            raise Invalid("resources.vcpu", message)


def _requires_long_lane(field: str, lane: Lane) -> Invalid:
    return Invalid(field, f'requires "lane": "long", and the lane is "{lane}": remove it, or change the lane')


def _timeout(seconds: int | None, lane: Lane) -> int:
    longest = MAX_LONG_TIMEOUT_SECONDS if lane is Lane.LONG else MAX_SHORT_TIMEOUT_SECONDS
    if seconds is None:
        return DEFAULT_LONG_TIMEOUT_SECONDS if lane is Lane.LONG else DEFAULT_SHORT_TIMEOUT_SECONDS
    if seconds > longest:
        remedy = ': lower it, or set "lane": "long"' if lane is Lane.SHORT else ": lower it"
        raise Invalid("timeout_seconds", f"must be at most {longest:,} in the {lane} lane{remedy}")
    return seconds


def _check_combinations(job: Job) -> None:
    """Check the rules that involve several fields."""
    check_window(job.schedule, job.window)
    check_deadline(job.deadline, job.schedule)
    if job.misfire != Misfire() and job.schedule.kind == "now":
        raise Invalid("misfire", "does not apply to a job that runs immediately and cannot miss an instant: remove it")
    if job.misfire.policy is MisfirePolicy.RUN_LATEST and job.schedule.kind == "queue":
        raise Invalid(
            "misfire.policy",
            "run_latest would drop messages of a pause, each with its own payload: give run_all or skip",
        )
    if job.backlog is not None and job.schedule.kind != "queue":
        message = 'applies only to the messages of a queue job: remove it, or set "schedule": {"queue": true}'
        raise Invalid("backlog", message)
    if job.concurrency is not None and job.schedule.kind != "queue":
        job.concurrency.gate(job.owner, job.parameters)
    if job.batch is not None and job.batch.partitions is not None:
        check_partitions(job.batch.partitions, job.schedule, job.window)


def _check_expected_seconds(job: Job, field: str) -> None:
    if (job.expected_seconds or 0) > job.timeout_seconds:
        message = f"expected_seconds ({job.expected_seconds:,}) is more than timeout_seconds ({job.timeout_seconds:,})"
        raise Invalid(field, f"{message}: lower the first, or raise the second")
