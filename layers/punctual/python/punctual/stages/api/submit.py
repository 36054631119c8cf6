"""Submit: store what a person sent as jobs, or show what that would bring. Storing them sets off the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Rejected
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.planning.dependency_graph import Tied, upstreams_first
from punctual.domain.requests.caller import Caller, Role
from punctual.domain.requests.dedupe import OnDuplicate, check_distinct, duplicate_of, policy_of
from punctual.domain.requests.dry_run import Changes, Foreseen, coming

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import Ties
    from punctual.ports.jobs import Drafts, Jobs

TOGETHER = 25
"""How many jobs with a ``dedupe_key`` are stored in one go: with the largest parameters they fit into a transaction."""


@dataclass(frozen=True)
class Submitted:
    """The answer to one submission."""

    job: Job
    created: bool
    """Whether the job is new; if not, it had the submission's ``dedupe_key`` already."""


@dataclass(frozen=True)
class _Asked:
    """Jobs that are to be stored, each checked by itself."""

    jobs: Sequence[Job]
    must_be_new: Mapping[str, str]
    """Keys that no live job may have, with the field to name if one does."""
    tie: Callable[[Mapping[str, Job]], Tied]
    """Checks what they depend on, given the jobs that stand in for some of them, by key."""

    @property
    def keyed(self) -> list[Job]:
        return [job for job in self.jobs if job.dedupe_key is not None]

    def tied(self, taken: Mapping[str, Job], existing: Mapping[str, Job]) -> Tied:
        """Together with what is there. ``taken``: those of the ``existing`` that were just found."""
        tied = self.tie(existing)
        for key, job in taken.items():
            if key in self.must_be_new:
                raise duplicate_of(job, self.must_be_new[key])
        return tied


@dataclass(frozen=True)
class Submit:
    jobs: Jobs
    drafts: Drafts
    ties: Ties
    clock: Clock

    def submit(self, submission: Mapping[str, Any], caller: Caller) -> Submitted:
        [submitted] = self._add(self._one(submission, caller))
        return submitted

    def submit_all(self, submissions: Iterable[Mapping[str, Any]], caller: Caller) -> list[Submitted]:
        """All are checked before any is stored; a refusal names the place, as in ``jobs.3.schedule.cron``."""
        return self._add(self._many(submissions, caller))

    def foresee(self, submission: Mapping[str, Any], caller: Caller) -> Changes:
        """What ``submit`` would bring."""
        return Changes(appear=tuple(one for _, one in self._coming(self._one(submission, caller))))

    def foresee_all(self, submissions: Iterable[Mapping[str, Any]], caller: Caller) -> Changes:
        """What ``submit_all`` would bring, in the order of time, each with the name of its job."""
        found = [replace(one, note=job.name) for job, one in self._coming(self._many(submissions, caller))]
        return Changes(appear=tuple(sorted(found, key=lambda one: one.scheduled_at))).shortened()

    def _one(self, submission: Mapping[str, Any], caller: Caller) -> _Asked:
        caller.must_be(Role.OPERATOR)
        job = self.drafts.draft(submission, caller, self.clock())
        return _Asked([job], _must_be_new([job], [submission], "dedupe_key"), lambda _: self.ties.check(job))

    def _many(self, submissions: Iterable[Mapping[str, Any]], caller: Caller) -> _Asked:
        caller.must_be(Role.OPERATOR)
        now, submissions = self.clock(), list(submissions)
        jobs = [self._nth(number, one, caller, now) for number, one in enumerate(submissions)]
        check_distinct(jobs)
        must_be_new = _must_be_new(jobs, submissions, "jobs.{}.dedupe_key")
        return _Asked(jobs, must_be_new, lambda existing: self.ties.check_all(jobs, existing))

    def _coming(self, asked: _Asked) -> list[tuple[Job, Foreseen]]:
        keyed, now = asked.keyed, self.clock()
        existing = self.jobs.holding(keyed) if keyed else {}
        new = [job for job in asked.tied(existing, existing).jobs if job.dedupe_key not in existing]
        return [(job, one) for job in new for one in coming(job, job.created_at - MILLISECOND, now)]

    def _add(self, asked: _Asked) -> list[Submitted]:
        """Store the jobs, but for those whose key a live one has."""
        keyed = asked.keyed
        ahead = len(keyed) > TOGETHER or any(job.depends_on for job in asked.jobs)
        taken: Mapping[str, Job] = self.jobs.holding(keyed) if keyed and ahead else {}
        existing: dict[str, Job] = {}
        added: dict[str, Job] = {}
        while True:
            try:
                existing |= taken
                tied = asked.tied(taken, existing)
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
        standing = [existing.get(job.dedupe_key) if job.dedupe_key is not None else None for job in asked.jobs]
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
            return self.drafts.draft(submission, caller, now)
        except Rejected as error:
            error.field = f"jobs.{number}.{error.field}" if error.field else f"jobs.{number}"
            raise


def _must_be_new(jobs: Sequence[Job], submissions: Sequence[Mapping[str, Any]], field: str) -> dict[str, str]:
    return {
        job.dedupe_key: field.format(number)
        for number, (job, submission) in enumerate(zip(jobs, submissions, strict=True))
        if job.dedupe_key is not None and policy_of(submission) is OnDuplicate.REFUSE
    }
