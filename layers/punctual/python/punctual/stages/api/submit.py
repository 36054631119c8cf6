"""Submit: store submissions as jobs, or show what they would do. The jobs table's stream triggers planning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Invalid, Rejected
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.planning.dependency_graph import CheckedJobs, upstreams_first
from punctual.domain.requests.caller import Caller, Role
from punctual.domain.requests.dedupe import OnDuplicate, check_distinct, duplicate_of, policy_of
from punctual.domain.requests.dry_run import DryRunChanges, ForeseenExecution, upcoming_executions
from punctual.domain.requests.keyed_request import KeyedRequest
from punctual.domain.schedules.bounds import check_total_runs

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.idempotency import KeyedRequests
    from punctual.ports.jobs import Jobs
    from punctual.stages.api.dependencies import DependencyChecker
    from punctual.stages.api.submission import JobBuilder

MAX_CHECK_TIME = timedelta(seconds=10)
"""How long the checks of a batch may take: costly schedules must not exhaust the time of the API's function."""
TRANSACTION_SIZE = 25
"""Jobs with a ``dedupe_key`` per transaction: so many fit even with the largest parameters."""


@dataclass(frozen=True)
class Submitted:
    """The result of one submission."""

    job: Job
    created: bool
    """Whether the job is new; ``False`` for an existing job with the submission's ``dedupe_key``."""


@dataclass(frozen=True)
class _Request:
    """Jobs to store, each already checked by itself."""

    jobs: Sequence[Job]
    must_be_new: Mapping[str, str]
    """Keys that no live job may have, each with the field to name in the error."""
    check_dependencies: Callable[[Mapping[str, Job]], CheckedJobs]
    """Checks the dependencies, given the existing jobs that take the place of submitted ones, by key."""
    keyed_request: KeyedRequest | None = None

    @property
    def keyed(self) -> list[Job]:
        return [job for job in self.jobs if job.dedupe_key is not None]

    def check(self, newly_found: Mapping[str, Job], existing: Mapping[str, Job]) -> CheckedJobs:
        """Check the jobs against the ``existing`` ones with the same key, of which some were ``newly_found``."""
        checked = self.check_dependencies(existing)
        for key, job in newly_found.items():
            if key in self.must_be_new:
                raise duplicate_of(job, self.must_be_new[key])
        return checked


@dataclass(frozen=True)
class Submit:
    """Stores submitted jobs. All methods raise ``Rejected`` errors that name the field."""

    jobs: Jobs
    builder: JobBuilder
    dependencies: DependencyChecker
    keyed_requests: KeyedRequests
    clock: Clock

    def submit(self, submission: Mapping[str, Any], caller: Caller, keyed: KeyedRequest | None = None) -> Submitted:
        if keyed is not None and keyed.submitted is not None:
            [submitted] = self._answered(keyed.submitted)
        else:
            [submitted] = self._store(self._request(submission, caller, keyed))
        return submitted

    def submit_all(
        self, submissions: Iterable[Mapping[str, Any]], caller: Caller, keyed: KeyedRequest | None = None
    ) -> list[Submitted]:
        """Store a batch. All jobs are checked before any is stored; an error names a field such as ``jobs.3.task``.

        After a crash half-way, part of the batch may be stored; a repeated ``keyed`` request stores the rest.
        """
        if keyed is not None and keyed.submitted is not None:
            return self._answered(keyed.submitted)
        return self._store(self._batch_request(submissions, caller, keyed))

    def preview(self, submission: Mapping[str, Any], caller: Caller) -> tuple[DryRunChanges, Job | None]:
        """Dry run of ``submit``: also the new job, or ``None`` if an existing job would be returned."""
        request = self._request(submission, caller)
        new = self._new_jobs(request)
        return DryRunChanges(appear=tuple(one for _, one in self._upcoming(new))), next(iter(new), None)

    def preview_all(self, submissions: Iterable[Mapping[str, Any]], caller: Caller) -> DryRunChanges:
        """Dry run of ``submit_all``: the executions in order of time, each with the name of its job as note."""
        upcoming = self._upcoming(self._new_jobs(self._batch_request(submissions, caller)))
        named = [replace(one, note=job.name) for job, one in upcoming]
        return DryRunChanges(appear=tuple(sorted(named, key=lambda one: one.scheduled_at))).shortened()

    def _request(self, submission: Mapping[str, Any], caller: Caller, keyed: KeyedRequest | None = None) -> _Request:
        caller.require_role(Role.OPERATOR)
        job = self._build(submission, caller, 0, keyed, self.clock())
        must_be_new = _must_be_new([job], [submission], "dedupe_key")
        return _Request([job], must_be_new, lambda _: self.dependencies.check(job), keyed)

    def _batch_request(
        self, submissions: Iterable[Mapping[str, Any]], caller: Caller, keyed: KeyedRequest | None = None
    ) -> _Request:
        caller.require_role(Role.OPERATOR)
        submissions, now = list(submissions), self.clock()
        check_total_runs(submissions)
        jobs = [self._build_nth(number, one, caller, keyed, now) for number, one in enumerate(submissions)]
        check_distinct(jobs)
        must_be_new = _must_be_new(jobs, submissions, "jobs.{}.dedupe_key")
        return _Request(jobs, must_be_new, lambda existing: self.dependencies.check_batch(jobs, existing), keyed)

    def _new_jobs(self, request: _Request) -> list[Job]:
        existing = self.jobs.find_duplicates(request.keyed) if request.keyed else {}
        return [job for job in request.check(existing, existing).jobs if job.dedupe_key not in existing]

    def _upcoming(self, new: Iterable[Job]) -> list[tuple[Job, ForeseenExecution]]:
        now = self.clock()
        return [(job, one) for job in new for one in upcoming_executions(job, job.created_at - MILLISECOND, now)]

    def _store(self, request: _Request) -> list[Submitted]:
        """Store the jobs, except those whose ``dedupe_key`` a live job has.

        If a concurrent request takes a key, the jobs are checked again with that job in place of the submitted one. If
        the check then fails, the jobs that were already stored are deleted.
        """
        keyed = request.keyed
        looks_ahead = len(keyed) > TRANSACTION_SIZE or any(job.depends_on for job in request.jobs)
        newly_found: Mapping[str, Job] = self.jobs.find_duplicates(keyed) if keyed and looks_ahead else {}
        existing: dict[str, Job] = {}
        added: dict[str, Job] = {}
        while True:
            try:
                existing |= newly_found
                checked = request.check(newly_found, existing)
                new = [job for job in upstreams_first(checked.jobs) if job.dedupe_key not in existing]
                if new:
                    self.dependencies.mark_upstreams(checked)
            except Rejected:
                for one in added.values():
                    self.jobs.change_state(one, JobState.DELETED, self.clock())
                raise
            newly_found = self._add_unique([job for job in new if job.dedupe_key is not None], added)
            if not newly_found:
                break
        others = [job for job in new if job.dedupe_key is None]
        stored = self.jobs.add_missing(others) if request.keyed_request else {}
        if not request.keyed_request:
            self.jobs.add(others)
        duplicates = [existing.get(job.dedupe_key) if job.dedupe_key is not None else None for job in request.jobs]
        submitted = [
            Submitted(duplicate or stored.get(job.job_id, job), created=duplicate is None)
            for job, duplicate in zip(checked.jobs, duplicates, strict=True)
        ]
        if request.keyed_request:
            answer = [(one.job.job_id, one.created) for one in submitted]
            self.keyed_requests.complete(request.keyed_request.request_id, answer)
        return submitted

    def _answered(self, submitted: Sequence[tuple[str, bool]]) -> list[Submitted]:
        """Return the jobs of a request that was answered before, as they are now."""
        jobs = self.jobs.get_many({job_id for job_id, _ in submitted})
        return [Submitted(jobs[job_id], created=created) for job_id, created in submitted if job_id in jobs]

    def _add_unique(self, jobs: Sequence[Job], added: dict[str, Job]) -> Mapping[str, Job]:
        """Store the jobs that are not in ``added`` yet, and add them to it.

        Stops at the first transaction that finds keys taken, and returns the live jobs that have these keys.
        """
        left = [job for job in jobs if job.job_id not in added]
        for first in range(0, len(left), TRANSACTION_SIZE):
            chunk = left[first : first + TRANSACTION_SIZE]
            if taken := self.jobs.add_unique(chunk):
                return taken
            added |= {job.job_id: job for job in chunk}
        return {}

    def _build(
        self, submission: Mapping[str, Any], caller: Caller, number: int, keyed: KeyedRequest | None, now: datetime
    ) -> Job:
        if keyed is None:
            return self.builder.build(submission, caller, now)
        return self.builder.build(submission, caller, keyed.at, seed=keyed.seed(number))

    def _build_nth(
        self, number: int, submission: Mapping[str, Any], caller: Caller, keyed: KeyedRequest | None, now: datetime
    ) -> Job:
        if self.clock() - now > MAX_CHECK_TIME:
            message = f"the jobs before it took more than {MAX_CHECK_TIME.seconds} seconds to check"
            raise Invalid(f"jobs.{number}", f"{message}: send this job and the rest in another batch")
        try:
            return self._build(submission, caller, number, keyed, now)
        except Rejected as error:
            error.field = f"jobs.{number}.{error.field}" if error.field else f"jobs.{number}"
            raise


def _must_be_new(jobs: Sequence[Job], submissions: Sequence[Mapping[str, Any]], field: str) -> dict[str, str]:
    return {
        job.dedupe_key: field.format(number)
        for number, (job, submission) in enumerate(zip(jobs, submissions, strict=True))
        if job.dedupe_key is not None and policy_of(submission) is OnDuplicate.REFUSE
    }
