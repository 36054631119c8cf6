"""Tie: what a submitted job may depend on. All is checked before anything is written; a refusal names the field.

That others depend on a job is noted on it before they are stored, so that no end is missed. Should they not be stored
after all, its ends are listened for in vain, which does no harm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from punctual.domain.errors import Invalid
from punctual.domain.identity import is_job_id
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.planning.dependency_graph import Tied, cycle_in, graph_of, shown
from punctual.domain.planning.upstreams import LOOKED_AHEAD, windows_agree
from punctual.domain.schedules.schedule import Every, base_of

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs

MOST_WALKED = 10_000
"""Jobs that are looked at, level by level upstream, for whether an edit would close a circle."""
BY_ID = "give the id of one that exists, or submit both at once to POST /jobs/batch and give its name"
BY_NAME = "give the name of a job of this batch, or the id of one that exists"
SAME_SCHEDULE = "give both the same schedule, so that each execution has one of the same data window to wait for"


@dataclass(frozen=True)
class Ties:
    jobs: Jobs
    clock: Clock

    def check(self, job: Job) -> Tied:
        """A single new job, or the next revision of one."""
        if not job.depends_on:
            return Tied([job])
        upstreams = self._outside([job], {})
        for number, one in enumerate(job.depends_on):
            _check(job, one, upstreams.get(one.job), f"depends_on.{number}.job", BY_ID, self.clock())
        self._refuse_circle(job, upstreams)
        return Tied([job], _unheard([job], upstreams))

    def check_all(self, jobs: Sequence[Job], existing: Mapping[str, Job]) -> Tied:
        """The jobs of a batch, in its order, with the names that they call each other by turned into ids.

        ``existing`` has, by key, the jobs that stand in for some of them: whoever names one of those means that job.
        """
        if not any(job.depends_on for job in jobs):
            return Tied(jobs)
        standing = {
            job.job_id: existing[job.dedupe_key] for job in jobs if job.dedupe_key and job.dedupe_key in existing
        }
        meant = [replace(job, job_id=standing[job.job_id].job_id) if job.job_id in standing else job for job in jobs]
        named = defaultdict(list)
        for job in meant:
            named[job.name].append(job)
        inside = {job.job_id: job for job in meant}
        resolved = [_resolved(number, job, named) for number, job in enumerate(meant)]
        found = self._outside(resolved, inside) | {job.job_id: job for job in standing.values()}
        upstreams = {**inside, **found}
        for number, job in enumerate(resolved):
            for n, one in enumerate(job.depends_on):
                field = f"jobs.{number}.depends_on.{n}.job"
                _check(job, one, upstreams.get(one.job), field, BY_NAME, self.clock())
        circle = cycle_in(graph_of(resolved))
        if circle is not None:
            number = next(n for n, job in enumerate(resolved) if job.job_id == circle[0])
            raise _circle(f"jobs.{number}.depends_on", [inside[one].name for one in circle])
        fed = {one.job for job in resolved for one in job.depends_on}
        tied = [
            replace(job, job_id=submitted.job_id, feeds=submitted.job_id in fed)
            for job, submitted in zip(resolved, jobs, strict=True)
        ]
        return Tied(tied, _unheard([job for job in tied if job.job_id not in standing], found))

    def note(self, tied: Tied) -> None:
        """From now on the ends of the upstreams' executions are listened for."""
        for job in tied.unheard:
            if not self.jobs.note_dependant(job.job_id):
                message = f"job {job.name!r} ({job.job_id}) was deleted at this moment: leave it out"
                raise Invalid("depends_on", message)

    def _outside(self, jobs: Iterable[Job], inside: Mapping[str, Job]) -> dict[str, Job]:
        """The upstreams that exist already."""
        wanted = {one.job for job in jobs for one in job.depends_on} - inside.keys()
        return self.jobs.get_many(one for one in wanted if is_job_id(one))

    def _refuse_circle(self, edited: Job, upstreams: Mapping[str, Job]) -> None:
        """A job that nobody depends on closes no circle; nor does one that has ended."""
        if not edited.feeds:
            return
        known = {edited.job_id: edited}
        level = {one: job for one, job in upstreams.items() if one != edited.job_id}
        while level:
            known |= level
            if len(known) > MOST_WALKED:
                raise Invalid("depends_on", f"has more than {MOST_WALKED:,} jobs upstream: cut the graph")
            live = [job for job in level.values() if job.state in (JobState.ACTIVE, JobState.PAUSED)]
            level = self.jobs.get_many({one.job for job in live for one in job.depends_on} - known.keys())
        circle = cycle_in(graph_of(known.values()))
        if circle is not None:
            raise _circle("depends_on", [known[one].name for one in circle])


def _unheard(jobs: Iterable[Job], upstreams: Mapping[str, Job]) -> list[Job]:
    wanted = {one.job for job in jobs for one in job.depends_on}
    return [job for job_id, job in upstreams.items() if job_id in wanted and not job.feeds]


def _resolved(number: int, job: Job, named: Mapping[str, list[Job]]) -> Job:
    found: list[Dependency] = []
    for n, one in enumerate(job.depends_on):
        candidates = named.get(one.job, [])
        if len(candidates) > 1:
            message = f"{len(candidates)} jobs of this batch have the name {one.job!r}: give each a name of its own"
            raise Invalid(f"jobs.{number}.depends_on.{n}.job", message)
        one = replace(one, job=candidates[0].job_id) if candidates else one
        if one.job in [other.job for other in found]:
            message = f"{one.job!r} is there twice, by its name and by its id: keep one, with the condition you mean"
            raise Invalid(f"jobs.{number}.depends_on.{n}.job", message)
        found.append(one)
    return replace(job, depends_on=tuple(found))


def _check(job: Job, dependency: Dependency, upstream: Job | None, field: str, remedy: str, now: datetime) -> None:
    if job.schedule.kind == "queue":
        where = field.rpartition(".depends_on")[0]
        message = "does not go with schedule.queue, which runs once per message: leave one of the two out"
        raise Invalid(f"{where}.depends_on" if where else "depends_on", message)
    if upstream is None:
        raise Invalid(field, f"there is no job {dependency.job!r}: {remedy}")
    name = f"{upstream.name!r} ({upstream.job_id})" if upstream.name != upstream.job_id else repr(upstream.name)
    if upstream.job_id == job.job_id:
        raise Invalid(field, "is the job itself, which would wait for its own end: leave it out")
    if upstream.state in (JobState.DELETED, JobState.CANCELLED):
        raise Invalid(field, f"job {name} is {upstream.state} and will not run: leave it out, or name another")
    if upstream.schedule.kind == "queue":
        message = f"job {name} has schedule.queue, and runs once per message: name a job with another schedule"
        raise Invalid(field, message)
    if upstream.schedule.recurring and not job.schedule.recurring:
        message = f"job {name} recurs, and this one runs once: set schedule here to the upstream's"
        raise Invalid(field, f"{message}, so that each execution waits for that of the same data window")
    if job.schedule.recurring and not upstream.schedule.recurring:
        message = f"job {name} runs once, and this one recurs: leave schedule out here, or"
        raise Invalid(field, f"{message} {SAME_SCHEDULE}")
    if job.schedule.recurring and not _agree((job.schedule, job.window), (upstream.schedule, upstream.window), now):
        message = f"none of the next {LOOKED_AHEAD} executions has its data window in common with one of job {name}"
        raise Invalid(field, f"{message}: {_remedy(job, upstream)}")


def _remedy(job: Job, upstream: Job) -> str:
    own, other = base_of(job.schedule), base_of(upstream.schedule)
    if isinstance(own, Every) and isinstance(other, Every) and own.seconds == other.seconds:
        return (
            f"both have every_seconds {own.seconds:,}, but each counts from its own start, so their instants differ:"
            " give both the same window, such as day, or the same cron, or submit both in one batch"
        )
    return f"{SAME_SCHEDULE}, or both the same window, such as day, in one time zone"


_agree = lru_cache(maxsize=1000)(windows_agree)


def _circle(field: str, names: list[str]) -> Invalid:
    return Invalid(field, f"goes round in a circle, in which each waits for the next: {shown(names)}")
