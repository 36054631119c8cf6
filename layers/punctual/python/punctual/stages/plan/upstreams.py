"""Depend: hold executions back until what they depend on has ended, and let them go when it has.

No wake-up is lost. A dependant registers with each upstream execution first, and looks how that stands after; the
upstream's end is stored first, and who is registered is looked up after: one of the two sees the other. Both sides
judge by the records alone, and each move is one conditional write: so ends that come together, twice or out of order
let a dependant go once. What no record tells, such as an upstream that was never planned, is found by a timer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.timer import Timer, TimerReason
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job
from punctual.domain.planning.upstreams import (
    Answer,
    Upstream,
    due_for,
    latest_retry,
    look_again_at,
    numbered,
    ruling_of,
)
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import Dependants, HeldExecutions
    from punctual.ports.executions import ReadExecutions
    from punctual.ports.jobs import Jobs
    from punctual.ports.planning import Timers

AT_ONCE = 100
"""Dependants that are looked at together when an upstream has ended."""
FIRST_NUMBER, NUMBERS_AT_ONCE = 2, 4
"""Of retries by hand, which are looked for where an upstream ended in vain."""


@dataclass(frozen=True)
class Lookup:
    """How the upstreams of executions stand."""

    jobs: Jobs
    executions: ReadExecutions

    def expected(self, dependants: Sequence[Execution]) -> list[list[Upstream]]:
        """Of each, which upstream executions it waits for; not yet how those stand."""
        jobs = self.jobs.get_many({one.job for dependant in dependants for one in dependant.depends_on})
        return [
            [_expected(dependant, one, jobs.get(one.job)) for one in dependant.depends_on] for dependant in dependants
        ]

    def with_executions(self, upstreams: list[list[Upstream]]) -> list[list[Upstream]]:
        """The same, with the executions that there are: of those that ended in vain the latest retry, if any."""
        found = self.executions.read_many(one.execution_id for some in upstreams for one in some if one.execution_id)
        standing = [[replace(one, execution=found.get(one.execution_id or "")) for one in some] for some in upstreams]
        retries = self._retries({one.execution_id or "" for some in standing for one in some if one.in_vain})
        return [
            [
                replace(one, execution=retries.get(one.execution_id or "", one.execution)) if one.in_vain else one
                for one in some
            ]
            for some in standing
        ]

    def of(self, dependants: Sequence[Execution]) -> list[list[Upstream]]:
        return self.with_executions(self.expected(dependants)) if dependants else []

    def _retries(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """The latest retry by hand of each that has one. They are numbered without a gap."""
        others: dict[str, list[Execution]] = {one: [] for one in execution_ids}
        left, first = set(others), FIRST_NUMBER
        while left:
            numbers = range(first, first + NUMBERS_AT_ONCE)
            found = self.executions.read_many(other for one in left for other in numbered(one, numbers))
            for one in left:
                others[one] += [found[other] for other in numbered(one, numbers) if other in found]
            left = {one for one in left if numbered(one, numbers)[-1] in found}
            first += NUMBERS_AT_ONCE
        latest = {one: latest_retry(one, some) for one, some in others.items()}
        return {one: retry for one, retry in latest.items() if retry is not None}


@dataclass(frozen=True)
class HoldBack:
    """Decides for one that became ``queued`` whether it may go on its way."""

    lookup: Lookup
    executions: HeldExecutions
    dependants: Dependants
    timers: Timers
    clock: Clock

    def let_through(self, execution: Execution) -> bool:
        """Whether its order may be sent. If not, it waits now, or was skipped. May come again."""
        upstreams = self._upstreams(execution)
        now = self.clock()
        ruling = ruling_of(upstreams, now)
        if ruling.answer is Answer.NOT_YET:
            look_at = look_again_at(execution, upstreams, now)
            self.timers.set(_timer(execution, look_at))
            self.executions.hold(execution, ruling.reason, look_at)
        elif ruling.answer is Answer.NEVER:
            self.executions.pass_over(execution, ruling.reason, now)
        elif self.executions.clear(execution):
            return True
        else:  # its record came again, and it waits already: becoming queued brings it back here
            self.executions.release(execution, now)
        return False

    def forgotten(self, execution_id: str) -> None:
        """An edit put another in its place, or a pause took it away: those who wait for it look again."""
        for dependant in self.executions.read_many(self.dependants.of(execution_id)).values():
            if dependant.held:
                self.executions.look_again(dependant, self.clock())

    def _upstreams(self, execution: Execution) -> list[Upstream]:
        """As they stand, after the dependant has made sure to hear of those that have not ended."""
        [expected] = self.lookup.expected([execution])
        found, heard = expected, set[str]()
        while new := {one.execution_id for one in found if one.execution_id and not one.ended} - heard:
            for one in sorted(new):
                self.dependants.register(execution.execution_id, one, self.clock())
            heard |= new
            [found] = self.lookup.with_executions([expected])  # a retry may be what it waits for
        return [self._listened_to(one) for one in found]

    def _listened_to(self, upstream: Upstream) -> Upstream:
        """One that was planned before anybody depended on its job would end unheard."""
        standing = upstream.execution
        if standing is None or standing.feeds or standing.status in FINAL:
            return upstream
        return replace(upstream, execution=self.executions.listen(standing))


@dataclass(frozen=True)
class Waker:
    """Sees to those who wait for an execution, once that has ended."""

    lookup: Lookup
    executions: HeldExecutions
    dependants: Dependants
    clock: Clock

    def execution_ended(self, ended: Execution) -> None:
        """Coming again changes nothing."""
        if not ended.feeds or ended.status not in FINAL:
            return
        registered = self.dependants.of(ended.execution_id)
        while some := list(islice(registered, AT_ONCE)):
            self._see_to(self.executions.read_many(some).values(), ended)

    def _see_to(self, dependants: Iterable[Execution], ended: Execution) -> None:
        held = [one for one in dependants if one.held and one.status in (Status.QUEUED, Status.WAITING)]
        for dependant, upstreams in zip(held, self.lookup.of(held), strict=True):
            ruling, now = ruling_of(upstreams, self.clock()), self.clock()
            if ruling.answer is Answer.YES:
                self.executions.release(dependant, now)
            elif ruling.answer is Answer.NEVER:
                self.executions.pass_over(dependant, ruling.reason, now)
            elif ended.execution_id not in [one.execution_id for one in upstreams]:
                # an edit of the upstream put another execution in the place of this one, or a person retried it
                self.executions.look_again(dependant, now)


def _expected(dependant: Execution, dependency: Dependency, job: Job | None) -> Upstream:
    return Upstream(dependency, job, due_for(job, dependant) if job else None)


def _timer(execution: Execution, at: datetime) -> Timer:
    return Timer(at=at, job_id=execution.job_id, execution_id=execution.execution_id, reason=TimerReason.UPSTREAM)
