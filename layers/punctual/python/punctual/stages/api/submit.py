"""Submit: store submissions as jobs, or show what they would do. The jobs table's stream triggers planning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Invalid, Rejected
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job, JobState, UniqueField, UniqueKey
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
"""Jobs with unique keys per transaction: so many fit even with the largest parameters."""


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
    may_exist: Set[str]
    """The ids of the jobs in whose place an existing job with the same ``dedupe_key`` may be returned."""
    field: str
    """The pattern of a field in errors: the number of the job, and the name of its field."""
    check_dependencies: Callable[[Mapping[str, Job]], CheckedJobs]
    """Checks the dependencies, given the existing jobs that take the place of submitted ones, by submitted id."""
    keyed_request: KeyedRequest | None = None

    @property
    def unique_keys(self) -> list[UniqueKey]:
        return [key for job in self.jobs for key in job.unique_keys]

    def existing_in(self, taken: Mapping[UniqueKey, Job]) -> dict[str, Job]:
        """The existing jobs that are returned in place of submitted ones, by submitted id."""
        keys = {job.job_id: UniqueKey(job.owner, UniqueField.DEDUPE_KEY, job.dedupe_key or "") for job in self.jobs}
        return {job_id: taken[key] for job_id, key in keys.items() if job_id in self.may_exist and key in taken}

    def check(self, taken: Mapping[UniqueKey, Job]) -> CheckedJobs:
        """Check the jobs against the live jobs that have some of their unique keys."""
        existing = self.existing_in(taken)
        checked = self.check_dependencies(existing)
        for number, job in enumerate(self.jobs):
            for key in job.unique_keys:
                if job.job_id not in existing and key in taken and taken[key].job_id != job.job_id:
                    raise duplicate_of(taken[key], key, self.field.format(number, key.field))
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

    def preview_all(self, submissions: Iterable[Mapping[str, Any]], caller: Caller) -> tuple[DryRunChanges, list[Job]]:
        """Dry run of ``submit_all``: the executions in order of time, each with the name of its job as note.

        Also returns the new jobs, in the order of their submissions.
        """
        new = self._new_jobs(self._batch_request(submissions, caller))
        named = [replace(one, note=job.display_name) for job, one in self._upcoming(new)]
        return DryRunChanges(appear=tuple(sorted(named, key=lambda one: one.scheduled_at))).shortened(), new

    def _request(self, submission: Mapping[str, Any], caller: Caller, keyed: KeyedRequest | None = None) -> _Request:
        caller.require_role(Role.OPERATOR)
        job = self._build(submission, caller, 0, keyed, self.clock())
        may_exist = _may_exist([job], [submission])
        return _Request([job], may_exist, "{1}", lambda _: self.dependencies.check(job, caller), keyed)

    def _batch_request(
        self, submissions: Iterable[Mapping[str, Any]], caller: Caller, keyed: KeyedRequest | None = None
    ) -> _Request:
        caller.require_role(Role.OPERATOR)
        submissions, now = list(submissions), self.clock()
        check_total_runs(submissions)
        jobs = [self._build_nth(number, one, caller, keyed, now) for number, one in enumerate(submissions)]
        check_distinct(jobs)
        may_exist = _may_exist(jobs, submissions)
        check_dependencies = partial(self.dependencies.check_batch, jobs, caller)
        return _Request(jobs, may_exist, "jobs.{}.{}", check_dependencies, keyed)

    def _new_jobs(self, request: _Request) -> list[Job]:
        taken = self.jobs.find_live(request.unique_keys)
        existing = request.existing_in(taken)
        return [job for job in request.check(taken).jobs if job.job_id not in existing]

    def _upcoming(self, new: Iterable[Job]) -> list[tuple[Job, ForeseenExecution]]:
        now = self.clock()
        return [(job, one) for job in new for one in upcoming_executions(job, job.created_at - MILLISECOND, now)]

    def _store(self, request: _Request) -> list[Submitted]:
        """Store the jobs, except those that are stored already, or that are replaced by an existing job.

        If a concurrent request takes a unique key, the jobs are checked again. If the check then fails, the jobs that
        were already stored are deleted.
        """
        keyed, keys = request.keyed_request, request.unique_keys
        stored = self.jobs.get_many(job.job_id for job in request.jobs) if keyed and keyed.is_repeated else {}
        looks_ahead = len(keys) > TRANSACTION_SIZE or any(job.depends_on for job in request.jobs)
        taken = self.jobs.find_live(keys) if keys and looks_ahead else {}
        added: dict[str, Job] = {}
        while True:
            try:
                checked = request.check(taken)
                existing = request.existing_in(taken)
                new = [job for job in upstreams_first(checked.jobs) if job.job_id not in {**existing, **stored}]
                if new:
                    self.dependencies.mark_upstreams(checked)
            except Rejected:
                for one in added.values():
                    self.jobs.change_state(one, JobState.DELETED, self.clock())
                raise
            newly_taken = self._add_unique([job for job in new if job.unique_keys], added)
            if not newly_taken:
                break
            taken = {**taken, **newly_taken}
        others = [job for job in new if not job.unique_keys]
        if keyed:
            self.jobs.add_missing(others)
        else:
            self.jobs.add(others)
        submitted = [
            Submitted(existing.get(job.job_id) or stored.get(job.job_id, job), created=job.job_id not in existing)
            for job in checked.jobs
        ]
        if keyed:
            self.keyed_requests.complete(keyed.request_id, [(one.job.job_id, one.created) for one in submitted])
        return submitted

    def _answered(self, submitted: Sequence[tuple[str, bool]]) -> list[Submitted]:
        """Return the jobs of a request that was answered before, as they are now."""
        jobs = self.jobs.get_many({job_id for job_id, _ in submitted})
        return [Submitted(jobs[job_id], created=created) for job_id, created in submitted if job_id in jobs]

    def _add_unique(self, jobs: Sequence[Job], added: dict[str, Job]) -> Mapping[UniqueKey, Job]:
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


def _may_exist(jobs: Sequence[Job], submissions: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(
        job.job_id
        for job, submission in zip(jobs, submissions, strict=True)
        if policy_of(submission) is OnDuplicate.RETURN_EXISTING
    )
