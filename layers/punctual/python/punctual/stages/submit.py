"""Submit: turn what a person sent into jobs, or refuse it with the field named. Storing them sets off the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain.caller import Caller, Role
from punctual.domain.deadline import parse_deadline
from punctual.domain.errors import Conflict, Invalid, NotFound, Rejected
from punctual.domain.identity import check_job_id, new_job_id
from punctual.domain.job import Job, Lane, Priority
from punctual.domain.limits import check_parameters
from punctual.domain.retry import RetryPolicy
from punctual.domain.schedule import parse_schedule

if TYPE_CHECKING:
    from punctual.ports import Clock, Jobs, Tasks


@dataclass(frozen=True)
class Submit:
    jobs: Jobs
    tasks: Tasks
    clock: Clock

    def submit(self, submission: Mapping[str, Any], caller: Caller) -> Job:
        caller.must_be(Role.OPERATOR)
        job = self._job(submission, caller, self.clock())
        self.jobs.add([job])
        return job

    def submit_all(self, submissions: Iterable[Mapping[str, Any]], caller: Caller) -> list[Job]:
        """All are checked before any is stored; a refusal names the place, as in ``jobs.3.schedule.cron``."""
        caller.must_be(Role.OPERATOR)
        now = self.clock()
        jobs = [self._nth(number, one, caller, now) for number, one in enumerate(submissions)]
        self.jobs.add(jobs)
        return jobs

    def delete(self, job_id: str, caller: Caller) -> Job:
        job = self.jobs.get(check_job_id(job_id))
        if job is None:
            raise NotFound("job", job_id, field="job_id")
        caller.must_manage(job)
        if not self.jobs.delete(job, self.clock()):
            raise Conflict(f"job {job_id!r} is deleted already", field="job_id")
        return job.deleted(self.clock())

    def _nth(self, number: int, submission: Mapping[str, Any], caller: Caller, now: datetime) -> Job:
        try:
            return self._job(submission, caller, now)
        except Rejected as error:
            error.field = f"jobs.{number}.{error.field}" if error.field else f"jobs.{number}"
            raise

    def _job(self, submission: Mapping[str, Any], caller: Caller, now: datetime) -> Job:
        """``submission`` has the right shape already; here its meaning is checked."""
        schedule = parse_schedule(submission.get("schedule"), now=now)
        if schedule.recurring and schedule.next_after(now) is None:
            raise Invalid("schedule", "never comes due: each of its times falls where the clocks leave a gap")
        parameters = submission.get("parameters", {})
        check_parameters("parameters", parameters)
        if schedule.kind != "queue":  # a queue job's parameters come with each message
            self.tasks.check(submission["task"], parameters)
        else:
            self.tasks.check_name(submission["task"])
        timezone = (submission.get("schedule") or {}).get("timezone", "UTC")
        return Job(
            job_id=new_job_id(now),
            name=submission.get("name") or submission["task"],
            owner=caller.owner,
            created_by=caller.subject,
            task=submission["task"],
            parameters=parameters,
            schedule=schedule,
            lane=Lane(submission.get("lane", Lane.SHORT)),
            priority=Priority(submission.get("priority", Priority.NORMAL)),
            timeout_seconds=submission.get("timeout_seconds", 600),
            retry=RetryPolicy(**submission.get("retry", {})),
            deadline=parse_deadline(submission.get("deadline"), timezone=timezone),
            created_at=now,
            updated_at=now,
        )
