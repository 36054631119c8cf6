"""Check the dependencies of submitted and edited jobs. Everything is checked before anything is written.

An upstream job is marked before its dependants are stored, so that every end of its executions wakes them. If the
dependants are not stored after all, the mark has no effect other than lookups that find no dependants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from punctual.domain.errors import Invalid
from punctual.domain.identity import is_job_id
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.planning.dependency_graph import CheckedJobs, dependency_graph_of, find_cycle, format_cycle
from punctual.domain.planning.upstreams import LOOKAHEAD_INSTANTS, windows_agree
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import base_of

if TYPE_CHECKING:
    from punctual.domain.requests.caller import Caller
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs

MAX_SEARCHED_JOBS = 10_000
"""Jobs that are read, level by level upstream, to find out whether an edit would close a cycle."""
USE_ID = "use the id of an existing job, or submit both jobs in one POST /jobs/batch and use the upstream's name"
USE_NAME = "use the name of a job in this batch, or the id of an existing job"
SAME_SCHEDULE = "give both the same schedule, so that each execution has an upstream execution of the same data window"


@dataclass(frozen=True)
class DependencyChecker:
    """Checks and resolves ``depends_on``. All methods raise ``Invalid``; only ``mark_upstreams`` writes."""

    jobs: Jobs
    clock: Clock

    def check(self, job: Job, caller: Caller, before: Job | None = None) -> CheckedJobs:
        """Check a single new job, or the next revision of the job ``before``."""
        if not job.depends_on:
            return CheckedJobs([job])
        kept = {one.job for one in before.depends_on} if before else set[str]()
        upstreams = self._existing_upstreams([job], {})
        for number, one in enumerate(job.depends_on):
            field, upstream = f"depends_on.{number}.job", upstreams.get(one.job)
            if one.job not in kept:
                _check_team(upstream, caller, field)
            _check(job, one, upstream, field, USE_ID, self.clock())
        self._refuse_cycle(job, upstreams)
        return CheckedJobs([job], _to_mark([job], upstreams))

    def check_batch(self, jobs: Sequence[Job], caller: Caller, existing: Mapping[str, Job]) -> CheckedJobs:
        """Check the jobs of a batch, which may depend on each other by name. Returns them in the order of the batch.

        The names are replaced by ids. ``existing`` has the stored jobs that are returned in place of jobs of the batch,
        by the ids of those: a dependency on the name of such a job refers to the stored job.
        """
        if not any(job.depends_on for job in jobs):
            return CheckedJobs(jobs)
        with_ids = [replace(job, job_id=existing[job.job_id].job_id) if job.job_id in existing else job for job in jobs]
        by_name = {job.name: job for job in with_ids if job.name is not None}
        by_id = {job.job_id: job for job in with_ids}
        resolved = [_resolve_names(number, job, by_name) for number, job in enumerate(with_ids)]
        found = self._existing_upstreams(resolved, by_id) | {job.job_id: job for job in existing.values()}
        upstreams = {**by_id, **found}
        for number, job in enumerate(resolved):
            for n, one in enumerate(job.depends_on):
                field = f"jobs.{number}.depends_on.{n}.job"
                _check_team(upstreams.get(one.job), caller, field)
                _check(job, one, upstreams.get(one.job), field, USE_NAME, self.clock())
        cycle = find_cycle(dependency_graph_of(resolved))
        if cycle is not None:
            number = next(n for n, job in enumerate(resolved) if job.job_id == cycle[0])
            raise _cycle_error(f"jobs.{number}.depends_on", [by_id[one].name or one for one in cycle])
        upstream_ids = {one.job for job in resolved for one in job.depends_on}
        checked = [
            replace(job, job_id=submitted.job_id, is_upstream=submitted.job_id in upstream_ids)
            for job, submitted in zip(resolved, jobs, strict=True)
        ]
        return CheckedJobs(checked, _to_mark([job for job in checked if job.job_id not in existing], found))

    def mark_upstreams(self, checked: CheckedJobs) -> None:
        """Mark the upstream jobs, so that the ends of their executions wake dependants. Idempotent.

        To be called before the dependants are stored.
        """
        for job in checked.upstreams_to_mark:
            if not self.jobs.mark_as_upstream(job.job_id):
                message = f"job {_named(job)} was deleted or cancelled during this request: remove it"
                raise Invalid("depends_on", message)

    def _existing_upstreams(self, jobs: Iterable[Job], batch: Mapping[str, Job]) -> dict[str, Job]:
        """Return the stored upstream jobs, by id, except those of the batch."""
        wanted = {one.job for job in jobs for one in job.depends_on} - batch.keys()
        return self.jobs.get_many(one for one in wanted if is_job_id(one))

    def _refuse_cycle(self, edited: Job, upstreams: Mapping[str, Job]) -> None:
        """Raise ``Invalid`` if the edited job would wait for itself.

        A job without dependants cannot close a cycle, and the search does not go beyond jobs that have ended.
        """
        if not edited.is_upstream:
            return
        known = {edited.job_id: edited}
        level = {one: job for one, job in upstreams.items() if one != edited.job_id}
        while level:
            known |= level
            if len(known) > MAX_SEARCHED_JOBS:
                raise Invalid("depends_on", f"has more than {MAX_SEARCHED_JOBS:,} jobs upstream: split the graph")
            live = [job for job in level.values() if job.state in (JobState.ACTIVE, JobState.PAUSED)]
            level = self.jobs.get_many({one.job for job in live for one in job.depends_on} - known.keys())
        cycle = find_cycle(dependency_graph_of(known.values()))
        if cycle is not None:
            raise _cycle_error("depends_on", [known[one].name or one for one in cycle])


def _to_mark(jobs: Iterable[Job], upstreams: Mapping[str, Job]) -> list[Job]:
    wanted = {one.job for job in jobs for one in job.depends_on}
    return [job for job_id, job in upstreams.items() if job_id in wanted and not job.is_upstream]


def _resolve_names(number: int, job: Job, by_name: Mapping[str, Job]) -> Job:
    resolved: list[Dependency] = []
    for n, one in enumerate(job.depends_on):
        one = replace(one, job=by_name[one.job].job_id) if one.job in by_name else one
        if one.job in [other.job for other in resolved]:
            message = f"{one.job!r} is listed twice, by name and by id: keep one, with the condition you want"
            raise Invalid(f"jobs.{number}.depends_on.{n}.job", message)
        resolved.append(one)
    return replace(job, depends_on=tuple(resolved))


def _check_team(upstream: Job | None, caller: Caller, field: str) -> None:
    """Raise ``Invalid`` for a job of another team: a dependency writes to its upstream job, and reads its results."""
    if upstream is not None and not caller.acts_for(upstream.owner):
        message = f"job {_named(upstream)} belongs to {upstream.owner!r}, and you can act only for {caller.named_teams}"
        raise Invalid(field, f"{message}: have an operator of both teams add the dependency")


def _check(job: Job, dependency: Dependency, upstream: Job | None, field: str, remedy: str, now: datetime) -> None:
    if job.schedule.kind == "queue":
        parent = field.rpartition(".depends_on")[0]
        message = "cannot be combined with schedule.queue, which runs once per message: remove one of the two"
        raise Invalid(f"{parent}.depends_on" if parent else "depends_on", message)
    if upstream is None:
        raise Invalid(field, f"there is no job {dependency.job!r}: {remedy}")
    name = _named(upstream)
    if upstream.job_id == job.job_id:
        raise Invalid(field, "is the job itself, which would wait for its own end: remove it")
    if upstream.state in (JobState.DELETED, JobState.CANCELLED):
        raise Invalid(field, f"job {name} is {upstream.state} and will not run: remove it, or name another job")
    if upstream.schedule.kind == "queue":
        message = f"job {name} has schedule.queue and runs once per message: name a job with another schedule"
        raise Invalid(field, message)
    if upstream.schedule.recurring and not job.schedule.recurring:
        message = f"job {name} recurs, and this one runs once: set schedule to that of the upstream"
        raise Invalid(field, f"{message}, so that each execution waits for the one of the same data window")
    if job.schedule.recurring and not upstream.schedule.recurring:
        message = f"job {name} runs once, and this one recurs: remove schedule here, or"
        raise Invalid(field, f"{message} {SAME_SCHEDULE}")
    if job.schedule.recurring and not _agree((job.schedule, job.window), (upstream.schedule, upstream.window), now):
        message = f"none of the next {LOOKAHEAD_INSTANTS} executions shares its data window with one of job {name}"
        raise Invalid(field, f"{message}: {_remedy(job, upstream)}")


def _named(job: Job) -> str:
    return repr(job.job_id) if job.name is None else f"{job.name!r} ({job.job_id})"


def _remedy(job: Job, upstream: Job) -> str:
    own, other = base_of(job.schedule), base_of(upstream.schedule)
    if isinstance(own, Every) and isinstance(other, Every) and own.seconds == other.seconds:
        return (
            f"both have every_seconds {own.seconds:,}, but each counts from its own start, so their instants differ:"
            " give both the same window, such as day, or the same cron, or submit both in one batch"
        )
    return f"{SAME_SCHEDULE}, or the same window, such as day, in the same time zone"


_agree = lru_cache(maxsize=1000)(windows_agree)


def _cycle_error(field: str, names: list[str]) -> Invalid:
    return Invalid(field, f"closes a dependency cycle, remove one of its dependencies: {format_cycle(names)}")
