"""Submit: turn what a person sent into jobs, or refuse it with the field named. Storing them sets off the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain.batch import Batch
from punctual.domain.caller import Caller, Role
from punctual.domain.change import Changes, coming, foreseen
from punctual.domain.concurrency import parse_concurrency
from punctual.domain.deadline import check_deadline, parse_deadline
from punctual.domain.dependency import parse_dependencies
from punctual.domain.due_window import check_window
from punctual.domain.duplicate import OnDuplicate, check_distinct, duplicate_of, policy_of
from punctual.domain.errors import Conflict, Invalid, Rejected, Stale
from punctual.domain.execution import Origin
from punctual.domain.graph import Tied, upstreams_first
from punctual.domain.identity import new_job_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.job import LIVE, Job, JobState
from punctual.domain.lane import Lane, Priority
from punctual.domain.limits import (
    LONGEST_LONG_RUN,
    LONGEST_SHORT_RUN,
    USUAL_LONG_RUN,
    USUAL_SHORT_RUN,
    check_parameters,
)
from punctual.domain.misfire import Misfire, parse_misfire
from punctual.domain.notify import parse_notify
from punctual.domain.overlap import Overlap
from punctual.domain.partition import parse_partitions
from punctual.domain.partition_check import check_partitions
from punctual.domain.resources import Resources, parse_resources
from punctual.domain.retry import RetryPolicy
from punctual.domain.schedule import Schedule, check_comes_due, parse_schedule
from punctual.domain.window import WindowUnit

if TYPE_CHECKING:
    from punctual.ports import Clock, Executions, Jobs, Tasks, Ties

LONGEST_COMMAND = 4096
"""Characters: with all else that a container is started with it has to fit into 8 KB."""
LONG_ONLY = ("resources", "container", "partitions", "preemptible")
REPLACED = "replaced: the same instant, under the new rules"
RETIED = frozenset({"depends_on", "schedule", "window"})
"""What decides which executions of its upstreams a job waits for: only then are they looked at again."""
OF_THE_LANE = (*LONG_ONLY, "timeout_seconds", "expected_seconds")
TOGETHER = 25
"""How many jobs with a ``dedupe_key`` are stored in one go: with the largest parameters they fit into a transaction."""


@dataclass(frozen=True)
class Submitted:
    """The answer to one submission."""

    job: Job
    created: bool
    """Whether the job is new; if not, it had the submission's ``dedupe_key`` already."""


@dataclass(frozen=True)
class Submit:
    jobs: Jobs
    tasks: Tasks
    executions: Executions
    ties: Ties
    clock: Clock
    find: Callable[[str], Job]
    images: Sequence[str] = ()
    """The names of the images that jobs of the long lane may bring."""
    largest_cpu: int = 16 * 1024
    """How much of a vCPU, in 1/1024, the long lane has in all."""

    def submit(self, submission: Mapping[str, Any], caller: Caller) -> Submitted:
        caller.must_be(Role.OPERATOR)
        job = self._new(submission, caller, self.clock())
        refuses = policy_of(submission) is OnDuplicate.REFUSE
        fields = {job.dedupe_key: "dedupe_key"} if job.dedupe_key is not None and refuses else {}
        [submitted] = self._add([job], fields, lambda _: self.ties.check(job))
        return submitted

    def foresee(self, submission: Mapping[str, Any], caller: Caller) -> Changes:
        """What ``submit`` would bring."""
        caller.must_be(Role.OPERATOR)
        job = self._new(submission, caller, self.clock())
        self.ties.check(job)
        if job.dedupe_key is not None and (known := self.jobs.holding([job])):
            if policy_of(submission) is OnDuplicate.REFUSE:
                raise duplicate_of(known[job.dedupe_key], "dedupe_key")
            return Changes()
        return Changes(appear=tuple(coming(job, job.created_at - MILLISECOND, self.clock())))

    def submit_all(self, submissions: Iterable[Mapping[str, Any]], caller: Caller) -> list[Submitted]:
        """All are checked before any is stored; a refusal names the place, as in ``jobs.3.schedule.cron``."""
        caller.must_be(Role.OPERATOR)
        now, submissions = self.clock(), list(submissions)
        jobs = [self._nth(number, one, caller, now) for number, one in enumerate(submissions)]
        check_distinct(jobs)
        fields = {
            job.dedupe_key: f"jobs.{number}.dedupe_key"
            for number, (job, submission) in enumerate(zip(jobs, submissions, strict=True))
            if job.dedupe_key is not None and policy_of(submission) is OnDuplicate.REFUSE
        }
        return self._add(jobs, fields, lambda existing: self.ties.check_all(jobs, existing))

    def edit(self, job_id: str, changes: Mapping[str, Any], revision: int | None, caller: Caller) -> Job:
        """The next revision of a job, with ``changes`` in place of what it said. ``None`` sets a field back.

        ``revision`` is the one that the caller has seen, if they say so: then another's change is not overwritten.
        """
        job = self._changeable(job_id, revision, caller)
        if not changes:
            return job
        tied = self._edited(job, changes, caller)
        self.ties.note(tied)
        [edited] = tied.jobs
        if not self.jobs.replace(edited):
            raise Stale("the job was changed at the same moment: look at it again", field="If-Match")
        return edited

    def foresee_edit(self, job_id: str, changes: Mapping[str, Any], revision: int | None, caller: Caller) -> Changes:
        """What ``edit`` would replace, bring and take away."""
        job, now = self._changeable(job_id, revision, caller), self.clock()
        if not changes:
            return Changes()
        [edited] = self._edited(job, changes, caller).jobs
        outdated = [
            one
            for one in self.executions.live_of(job_id, since=edited.waiting_since(now))
            if one.origin is Origin.SCHEDULE and one.has_not_started
        ]
        appear = coming(edited, edited.updated_at - MILLISECOND, now)
        known = [one for one in outdated if edited.state is JobState.ACTIVE and edited.has_instant(one.scheduled_at)]
        standing = self.executions.read_many(
            [*(one.execution_id for one in appear), *(one.execution_id for one in known)]
        )
        # what has its state machine in the long lane already is not replaced
        carried = {one.execution_id for one in standing.values() if one.conductor}
        return Changes(
            appear=tuple(one for one in appear if one.execution_id not in standing),
            vanish=foreseen(one for one in outdated if one not in known),
            repeat=foreseen((one for one in known if one.execution_id not in carried), REPLACED),
        ).shortened()

    def _changeable(self, job_id: str, revision: int | None, caller: Caller) -> Job:
        job = self.find(job_id)
        caller.must_manage(job)
        if job.state not in LIVE:
            raise Conflict(f"job {job_id!r} is {job.state}: it cannot be changed", field="job_id")
        if revision is not None and revision != job.revision:
            raise Stale(f"the job is at revision {job.revision}, not {revision}: look at it again", field="If-Match")
        return job

    def _edited(self, job: Job, changes: Mapping[str, Any], caller: Caller) -> Tied:
        if changes.get("dedupe_key", job.dedupe_key) != job.dedupe_key:
            message = "stays what it was when the job was submitted: delete the job, and submit one with another key"
            raise Invalid("dedupe_key", message)
        now = self.clock()
        standing = _as_submitted(job)
        if changes.get("lane", job.lane) != job.lane:  # what belongs to the lane that it leaves goes with it
            standing = {name: value for name, value in standing.items() if name not in OF_THE_LANE}
        said = {**standing, **changes}
        kept = None if "schedule" in changes else job.schedule
        edited = self._job({name: value for name, value in said.items() if value is not None}, caller, now, kept)
        _check_times(edited, "expected_seconds" if "expected_seconds" in changes else "timeout_seconds")
        edited = replace(
            edited,
            job_id=job.job_id,
            owner=job.owner,
            created_by=job.created_by,
            created_at=job.created_at,
            revision=job.revision + 1,
            run_times=job.run_times,
            backfilled_from=job.backfilled_from,
            state=job.state,
            paused_at=job.paused_at,
            resumed_at=job.resumed_at,
            revised_at=now,
            dedupe_key=job.dedupe_key,
            feeds=job.feeds,
        )
        return self.ties.check(edited) if RETIED.intersection(changes) else Tied([edited])

    def _add(
        self, jobs: Sequence[Job], fields: Mapping[str, str], tie: Callable[[Mapping[str, Job]], Tied]
    ) -> list[Submitted]:
        """Store the jobs, but for those whose key a live one has.

        ``fields`` has what to name in the refusal of each key that must be new. ``tie`` checks what the jobs depend
        on, given those that are there already by their keys.
        """
        keyed = [job for job in jobs if job.dedupe_key is not None]
        ahead = len(keyed) > TOGETHER or any(job.depends_on for job in jobs)
        taken: Mapping[str, Job] = self.jobs.holding(keyed) if keyed and ahead else {}
        existing: dict[str, Job] = {}
        added: dict[str, Job] = {}
        while True:
            try:
                existing |= taken
                tied = tie(existing)
                _refuse_taken(taken, fields)
                new = [job for job in upstreams_first(tied.jobs) if job.dedupe_key not in existing]
                if new:
                    self.ties.note(tied)
            except Rejected:
                for one in added.values():  # another took a key between the look and now
                    self.jobs.move(one, JobState.DELETED, self.clock())
                raise
            taken = self._add_unique([job for job in new if job.dedupe_key is not None], added)
            if not taken:
                break
        self.jobs.add(job for job in new if job.dedupe_key is None)
        standing = [existing.get(job.dedupe_key) if job.dedupe_key is not None else None for job in jobs]
        return [Submitted(known or job, created=known is None) for job, known in zip(tied.jobs, standing, strict=True)]

    def _add_unique(self, jobs: Sequence[Job], added: dict[str, Job]) -> Mapping[str, Job]:
        """Store those that are not ``added`` yet, up to the first whose key was taken since: the jobs that have it."""
        left = [job for job in jobs if job.job_id not in added]
        for first in range(0, len(left), TOGETHER):
            chunk = left[first : first + TOGETHER]
            if taken := self.jobs.add_unique(chunk):
                return taken
            added |= {job.job_id: job for job in chunk}
        return {}

    def _nth(self, number: int, submission: Mapping[str, Any], caller: Caller, now: datetime) -> Job:
        try:
            return self._new(submission, caller, now)
        except Rejected as error:
            error.field = f"jobs.{number}.{error.field}" if error.field else f"jobs.{number}"
            raise

    def _new(self, submission: Mapping[str, Any], caller: Caller, now: datetime) -> Job:
        job = self._job(submission, caller, now)
        _check_times(job, "expected_seconds")
        return job

    def _job(
        self, submission: Mapping[str, Any], caller: Caller, now: datetime, schedule: Schedule | None = None
    ) -> Job:
        """``submission`` has the right shape already; here its meaning is checked."""
        policy_of(submission)
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
            overlap=Overlap(submission.get("overlap", Overlap.SKIP if schedule.recurring else Overlap.ALLOW)),
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
            for field in LONG_ONLY:
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


def _refuse_taken(taken: Mapping[str, Job], fields: Mapping[str, str]) -> None:
    for key, job in taken.items():
        if key in fields:
            raise duplicate_of(job, fields[key])


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


def _as_submitted(job: Job) -> dict[str, Any]:
    """What a submission of this job would say."""
    batch = job.batch
    said: dict[str, Any] = {
        "task": job.task,
        "name": job.name,
        "parameters": job.parameters,
        "schedule": job.schedule.to_spec(),
        "lane": job.lane,
        "priority": job.priority,
        "timeout_seconds": job.timeout_seconds,
        "retry": asdict(job.retry),
        "deadline": job.deadline.to_spec() if job.deadline else None,
        "expected_seconds": job.expected_seconds,
        "overlap": job.overlap,
        "misfire": job.misfire.to_spec() if job.misfire != Misfire() else None,
        "concurrency": job.concurrency.to_spec() if job.concurrency else None,
        "notify": job.notify.to_spec() if job.notify else None,
        "window": job.window,
        "depends_on": [one.to_spec() for one in job.depends_on],
    }
    if batch is not None:
        said |= {
            "resources": batch.resources.to_spec(),
            "container": {"image": batch.image, "command": list(batch.command)} if batch.image else None,
            "partitions": batch.partitions.to_spec() if batch.partitions else None,
            "preemptible": batch.preemptible,
        }
    return said
