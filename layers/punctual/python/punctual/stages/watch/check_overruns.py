"""Check overruns: once a minute, report the executions that run far longer than their job usually takes.

The usual time comes from the run times recorded with the job, or, for short jobs without a deadline, which record none,
from their last executions. It is remembered for a while, because the tick examines each long run every minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.overrun import MIN_OVERRUN, overrun_after, usual_time
from punctual.domain.forecasts.run_history import MIN_RUNS
from punctual.domain.identity import due_key
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import DEFAULT_RULE, Event
from punctual.domain.long_lane.part import EXECUTION
from punctual.domain.notices.notice import addressed
from punctual.domain.notices.overrun_notice import overrun_notice
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import ExecutionIndex
    from punctual.ports.jobs import Jobs
    from punctual.ports.monitoring import RunHistory
    from punctual.ports.notices import Notices

FETCH_SIZE = 100
REMEMBERED = timedelta(minutes=10)
"""How long the usual time of a job is not read again."""
REPORTED = timedelta(minutes=10)
"""An overrun is sent by each tick within this time, so that a missed tick loses none; the notifier publishes one."""
MAX_JOBS_PER_TICK = 500
"""Further jobs whose usual time is not known yet are examined by the next tick."""


@dataclass(frozen=True)
class OverrunChecker:
    jobs: Jobs
    executions: ExecutionIndex
    history: RunHistory
    notices: Notices
    clock: Clock
    _usual: dict[str, tuple[datetime, timedelta | None]] = field(default_factory=dict)
    """By job: until when it is remembered, and the usual time, if it is known."""

    def tick(self) -> int:
        """Send a notice for each overrun, and return their number. Idempotent: their ids are derived."""
        now = self.clock()
        for job_id in [job_id for job_id, (until, _) in self._usual.items() if until <= now]:
            del self._usual[job_id]
        budget = len(self._usual) + MAX_JOBS_PER_TICK
        overrun = [one for one in self._long_running(now) if self._is_overrun(one, now, budget)]
        return sum(self._notify(one, now) for one in overrun)

    def _long_running(self, now: datetime) -> Iterator[Execution]:
        """The executions that run for longer than the shortest overrun. Those due later are not even read."""
        latest = due_key(now - MIN_OVERRUN)
        pages = [*self.executions.ids_running("", latest), *self.executions.ids_holding(None)]
        ids = (one for one in chain.from_iterable(chain.from_iterable(pages)) if one < latest)
        while some := list(islice(ids, FETCH_SIZE)):
            for one in self.executions.fetch(some).values():
                if one.status is Status.RUNNING and one.started_at and now - one.started_at > MIN_OVERRUN:
                    yield one

    def _is_overrun(self, execution: Execution, now: datetime, budget: int) -> bool:
        job_id = execution.job_id
        if job_id not in self._usual and len(self._usual) < budget:
            self._usual[job_id] = now + REMEMBERED, self._usual_time(self.jobs.get(job_id), execution)
        _, usual = self._usual.get(job_id, (now, None))
        assert execution.started_at is not None
        return usual is not None and timedelta() < now - execution.started_at - overrun_after(usual) <= REPORTED

    def _usual_time(self, job: Job | None, execution: Execution) -> timedelta | None:
        if job is None or not (job.notify or DEFAULT_RULE).includes(Event.OVERRUN):
            return None
        recorded = job.run_times.get(EXECUTION, ())
        run_times = recorded if len(recorded) >= MIN_RUNS else self.history.recent_run_times(execution)
        in_partitions = execution.batch is not None and execution.batch.partitions is not None
        return usual_time(run_times, None if in_partitions else job.expected_seconds)

    def _notify(self, execution: Execution, now: datetime) -> bool:
        job, (_, usual) = self.jobs.get(execution.job_id), self._usual[execution.job_id]
        if job is None or usual is None:
            return False
        self.notices.send(addressed(overrun_notice(execution, job, usual, now), job.notify or DEFAULT_RULE))
        return True
