"""Upstreams: hold an execution until its upstream executions have finished, then release or skip it.

Transitions: ``queued`` → ``waiting`` while an upstream is unfinished; ``waiting`` → ``queued`` when all upstreams meet
their conditions; → ``skipped`` when one of them never will.

No wake-up is lost. The guard registers the dependant with each upstream execution before it reads that execution. The
waker (``punctual.stages.settle.wake_dependants``) runs after the upstream's final status is stored, and only then reads
the registrations. Whatever the order, one of the two sees the other. Both decide from the stored records alone, and
every transition is one conditional write, so ends that are delivered together, twice or out of order release a
dependant once. A timer rechecks the dependant, for cases without any stream record, such as an upstream execution that
was never planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from punctual.domain.executions.counted_upstream import CountedUpstream
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.timer import TimerReason, timer_for
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job
from punctual.domain.planning.upstreams import (
    Readiness,
    Upstream,
    counted,
    decide_start,
    due_for,
    latest_retry,
    next_recheck_at,
    numbered_ids,
)
from punctual.domain.status import FINAL

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import Dependants, HeldExecutions
    from punctual.ports.executions import ExecutionReader
    from punctual.ports.jobs import Jobs
    from punctual.ports.planning import Timers

FIRST_RETRY_NUMBER, RETRY_BATCH_SIZE = 2, 4
"""Manual retries are numbered from 2. The lookup reads them in batches when an upstream ended without meeting its
condition."""


@dataclass(frozen=True)
class UpstreamLookup:
    """Reads the upstreams of executions: their jobs, and the current status of their executions."""

    jobs: Jobs
    executions: ExecutionReader

    def expected(self, dependants: Sequence[Execution]) -> list[list[Upstream]]:
        """Return the upstreams that each dependant waits for, without their executions."""
        jobs = self.jobs.get_many({one.job for dependant in dependants for one in dependant.depends_on})
        return [
            [_expected(dependant, one, jobs.get(one.job)) for one in dependant.depends_on] for dependant in dependants
        ]

    def with_executions(self, upstreams: list[list[Upstream]]) -> list[list[Upstream]]:
        """Return the upstreams with the executions that exist.

        An execution that ended without meeting the condition is replaced by its latest manual retry, if there is one.
        """
        found = self.executions.read_many(one.execution_id for some in upstreams for one in some if one.execution_id)
        current = [[replace(one, execution=found.get(one.execution_id or "")) for one in some] for some in upstreams]
        retries = self._retries({one.execution_id or "" for some in current for one in some if one.is_unsatisfied})
        return [
            [
                replace(one, execution=retries.get(one.execution_id or "", one.execution))
                if one.is_unsatisfied
                else one
                for one in some
            ]
            for some in current
        ]

    def of(self, dependants: Sequence[Execution]) -> list[list[Upstream]]:
        """Return the upstreams of each dependant, with their executions."""
        return self.with_executions(self.expected(dependants)) if dependants else []

    def existing(self, job: Job, execution: Execution) -> tuple[CountedUpstream, ...]:
        """Return the upstream executions that exist, for a manual execution of ``job``: it does not wait for them."""
        if not job.depends_on:
            return ()
        bound = replace(execution, depends_on=job.depends_on, is_last_of_job=not job.schedule.recurring)
        return counted(self.of([bound])[0])

    def _retries(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """Return the latest manual retry of each execution that has one. Retries are numbered without gaps."""
        others: dict[str, list[Execution]] = {one: [] for one in execution_ids}
        left, first = set(others), FIRST_RETRY_NUMBER
        while left:
            numbers = range(first, first + RETRY_BATCH_SIZE)
            found = self.executions.read_many(other for one in left for other in numbered_ids(one, numbers))
            for one in left:
                others[one] += [found[other] for other in numbered_ids(one, numbers) if other in found]
            left = {one for one in left if numbered_ids(one, numbers)[-1] in found}
            first += RETRY_BATCH_SIZE
        latest = {one: latest_retry(one, some) for one, some in others.items()}
        return {one: retry for one, retry in latest.items() if retry is not None}


@dataclass(frozen=True)
class UpstreamGuard:
    """Decides whether an execution that became ``queued`` may start, or has to wait for its upstreams."""

    lookup: UpstreamLookup
    executions: HeldExecutions
    dependants: Dependants
    timers: Timers
    clock: Clock

    def try_clear(self, execution: Execution) -> bool:
        """Clear an execution to start and return ``True`` if its upstreams allow it; otherwise hold or skip it.

        Idempotent. If the stream record is redelivered while the execution waits and its upstreams are now finished,
        the execution is released: becoming ``queued`` produces a new record that leads back here.
        """
        upstreams = self._upstreams(execution)
        now = self.clock()
        decision = decide_start(upstreams, now)
        if decision.readiness is Readiness.NOT_YET:
            recheck_at = next_recheck_at(execution, upstreams, now)
            self.timers.set(timer_for(execution.execution_id, recheck_at, TimerReason.UPSTREAM))
            self.executions.hold(execution, decision.reason, recheck_at)
        elif decision.readiness is Readiness.NEVER:
            self.executions.skip_held(execution, decision.reason, now)
        elif self.executions.clear(execution, counted(upstreams)):
            return True
        else:
            self.executions.release(execution, counted(upstreams), now)
        return False

    def upstream_removed(self, execution_id: str) -> None:
        """Recheck the dependants of an upstream execution that an edit or a pause removed. Idempotent."""
        for dependant in self.executions.read_many(self.dependants.of(execution_id)).values():
            if dependant.has_pending_upstreams:
                self.executions.recheck(dependant, self.clock())

    def _upstreams(self, execution: Execution) -> list[Upstream]:
        """Return the upstreams, read after the dependant was registered with every execution that has not ended."""
        [expected] = self.lookup.expected([execution])
        found, registered = expected, set[str]()
        while new := {one.execution_id for one in found if one.execution_id and not one.ended} - registered:
            for one in sorted(new):
                self.dependants.register(execution.execution_id, one, self.clock())
            registered |= new
            [found] = self.lookup.with_executions([expected])  # may bring up a manual retry to register with
        return [self._marked(one) for one in found]

    def _marked(self, upstream: Upstream) -> Upstream:
        """Mark an execution that was planned before its job had dependants: otherwise its end would not wake them."""
        existing = upstream.execution
        if existing is None or existing.is_upstream or existing.status in FINAL:
            return upstream
        return replace(upstream, execution=self.executions.mark_as_upstream(existing))


def _expected(dependant: Execution, dependency: Dependency, job: Job | None) -> Upstream:
    return Upstream(dependency, job, due_for(job, dependant) if job else None)
