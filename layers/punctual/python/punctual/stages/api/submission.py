"""Draft: turn what a person sent into a job, or refuse it with the field named. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Invalid
from punctual.domain.identity import new_job_id
from punctual.domain.jobs.batch import OF_BATCHES, Batch
from punctual.domain.jobs.concurrency import parse_concurrency
from punctual.domain.jobs.deadline import check_deadline, parse_deadline
from punctual.domain.jobs.dependency import parse_dependencies
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.misfire import Misfire, parse_misfire
from punctual.domain.jobs.notify_rule import parse_notify
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.jobs.partitions import check_partitions, parse_partitions
from punctual.domain.jobs.resources import Resources, parse_resources
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Lane, Priority
from punctual.domain.limits import (
    LONGEST_LONG_RUN,
    LONGEST_SHORT_RUN,
    USUAL_LONG_RUN,
    USUAL_SHORT_RUN,
    check_parameters,
)
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dedupe import policy_of
from punctual.domain.schedules.data_window import WindowUnit
from punctual.domain.schedules.due_window import check_window
from punctual.domain.schedules.schedule import Schedule, check_comes_due, parse_schedule

if TYPE_CHECKING:
    from punctual.ports.jobs import Tasks

LONGEST_COMMAND = 4096
"""Characters: with all else that a container is started with it has to fit into 8 KB."""


@dataclass(frozen=True)
class Drafts:
    tasks: Tasks
    images: Sequence[str] = ()
    """The names of the images that jobs of the long lane may bring."""
    largest_cpu: int = 16 * 1024
    """How much of a vCPU, in 1/1024, the long lane has in all."""

    def draft(
        self,
        submission: Mapping[str, Any],
        caller: Caller,
        now: datetime,
        *,
        kept: Schedule | None = None,
        changed: Container[str] | None = None,
    ) -> Job:
        """``submission`` has the right shape already; here its meaning is checked.

        Of an edit, ``kept`` is the schedule if it stays as it is, and ``changed`` has the fields that do not.
        """
        policy_of(submission)
        schedule = kept
        if schedule is None:
            schedule = parse_schedule(submission.get("schedule"), now=now, calendars=self.tasks.calendars)
            check_comes_due(schedule, now)
        parameters = submission.get("parameters", {})
        check_parameters("parameters", parameters)
        task = self._task(submission, schedule, parameters)
        timezone = getattr(schedule, "timezone", "UTC")
        lane = Lane(submission.get("lane", Lane.SHORT))
        job = Job(
            job_id=new_job_id(now),
            name=submission.get("name") or task,
            owner=caller.owner,
            created_by=caller.subject,
            task=task,
            parameters=parameters,
            schedule=schedule,
            lane=lane,
            priority=Priority(submission.get("priority", Priority.NORMAL)),
            timeout_seconds=_timeout(submission.get("timeout_seconds"), lane),
            retry=RetryPolicy(**submission.get("retry", {})),
            deadline=parse_deadline(submission.get("deadline"), timezone=timezone),
            expected_seconds=submission.get("expected_seconds"),
            overlap=Overlap(submission.get("overlap", Overlap.usual(recurring=schedule.recurring))),
            misfire=parse_misfire(submission.get("misfire")),
            concurrency=parse_concurrency(submission.get("concurrency")),
            notify=parse_notify(submission.get("notify")),
            window=WindowUnit(submission["window"]) if "window" in submission else None,
            batch=self._batch(submission, lane),
            dedupe_key=submission.get("dedupe_key"),
            depends_on=parse_dependencies(submission.get("depends_on")),
            created_at=now,
            updated_at=now,
        )
        _check_together(job)
        by_itself = changed is not None and "expected_seconds" not in changed
        _check_times(job, "timeout_seconds" if by_itself else "expected_seconds")
        return job

    def _task(self, submission: Mapping[str, Any], schedule: Schedule, parameters: Mapping[str, Any]) -> str:
        """Its name. What an own image does is its own affair: there the image's name stands for it."""
        image = submission.get("container", {}).get("image")
        task: str | None = submission.get("task")
        if image:
            return task or image
        if task is None:
            raise Invalid("task", "is missing: name one, or bring a container")
        if schedule.kind == "queue":  # a queue job's parameters come with each message
            self.tasks.check_name(task)
        else:
            self.tasks.check(task, parameters)
        return task

    def _batch(self, submission: Mapping[str, Any], lane: Lane) -> Batch | None:
        if lane is not Lane.LONG:
            for field in OF_BATCHES:
                if field in submission:
                    raise Invalid(
                        field, f'goes with "lane": "long", not with "{lane}": leave it out, or change the lane'
                    )
            return None
        container = submission.get("container", {})
        resources = parse_resources(submission.get("resources"))
        self._check_room(resources)
        partitions = parse_partitions(submission.get("partitions"))
        image = container.get("image", "")
        if image and image not in self.images:
            known = f"there are: {', '.join(self.images)}" if self.images else "none is named in the stack's settings"
            raise Invalid("container.image", f"there is no image {image!r}; {known}")
        if image and submission.get("preemptible"):
            raise Invalid("preemptible", "goes with Punctual's own runner, which makes checkpoints: leave it out here")
        if sum(map(len, container.get("command", ()))) > LONGEST_COMMAND:
            raise Invalid("container.command", f"is at most {LONGEST_COMMAND:,} characters in all")
        return Batch(
            resources=resources,
            image=image,
            command=tuple(container.get("command", ())),
            partitions=partitions,
            preemptible=submission.get("preemptible", False),
            collects=not image and partitions is not None and self.tasks.collects(submission["task"]),
        )

    def _check_room(self, resources: Resources) -> None:
        if resources.cpu > self.largest_cpu:
            most = self.largest_cpu / 1024
            raise Invalid("resources.vcpu", f"the long lane has {most:g} in all: it would never get a slot")


def _timeout(seconds: int | None, lane: Lane) -> int:
    longest = LONGEST_LONG_RUN if lane is Lane.LONG else LONGEST_SHORT_RUN
    if seconds is None:
        return USUAL_LONG_RUN if lane is Lane.LONG else USUAL_SHORT_RUN
    if seconds > longest:
        where = '; "lane": "long" takes more' if lane is Lane.SHORT else ""
        raise Invalid("timeout_seconds", f"is at most {longest:,} in the lane {lane}{where}")
    return seconds


def _check_together(job: Job) -> None:
    """What no field can know of itself."""
    check_window(job.schedule, job.window)
    check_deadline(job.deadline, job.schedule)
    if job.misfire != Misfire() and job.schedule.kind in ("queue", "now"):
        what = "for every message" if job.schedule.kind == "queue" else "at once"
        raise Invalid("misfire", f"a job whose schedule runs it {what} misses no instant: leave misfire out")
    if job.concurrency is not None and job.schedule.kind != "queue":
        job.concurrency.gate(job.owner, job.parameters)
    if job.batch is not None and job.batch.partitions is not None:
        check_partitions(job.batch.partitions, job.schedule, job.window)


def _check_times(job: Job, field: str) -> None:
    if (job.expected_seconds or 0) > job.timeout_seconds:
        message = f"expected_seconds, {job.expected_seconds:,}, is more than timeout_seconds, {job.timeout_seconds:,}"
        raise Invalid(field, f"{message}: lower the one, or raise the other")
