"""Check deadlines: forecast an execution's end, send a notice when its state has changed, and schedule the next check.

The execution's record holds the instant of its next check. A message requests exactly that check. It may be delivered
twice, late, or from two senders: the first checker that records its outlook wins (compare-and-swap). If a checker
crashes before that, the record still requests the check, and the monitor resends due and overdue checks once a minute.
The notice is sent before the outlook is recorded, with an id that belongs to the check: it is never lost, and a
duplicate is published only once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, next_check
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.deadline_check import Check
from punctual.domain.forecasts.deadline_forecast import forecast_end, last_upstream_end, outlook_of
from punctual.domain.forecasts.forecast import Forecast
from punctual.domain.forecasts.part_forecast import PartForecast, forecast_parts
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import DEFAULT_RULE
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import Part
from punctual.domain.notices.deadline_notice import event_of_change, outlook_notice
from punctual.domain.notices.notice import addressed
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs
    from punctual.ports.monitoring import Checks, LaneOutlooks, PartReader, Samples, WatchedExecutions
    from punctual.ports.notices import Notices
    from punctual.stages.plan.upstreams import UpstreamLookup

SEND_AHEAD = timedelta(seconds=75)
"""The tick sends checks that are due within this time, each delayed until it is due."""

MAX_CHECKS_PER_TICK = 5000
"""The remaining checks are the first to be sent by the next tick."""

MAX_SNAPSHOT_AGE = timedelta(minutes=10)
"""An older snapshot of queues and slots is ignored."""


@dataclass(frozen=True)
class StateChange:
    """A change of an execution's deadline state."""

    execution_id: str
    before: DeadlineState
    after: DeadlineState


@dataclass(frozen=True)
class Forecaster:
    """Forecasts the outlook of an execution from its history and the current load."""

    samples: Samples
    lane_outlooks: LaneOutlooks
    limits: LaneLimits
    concurrency: Mapping[str, int]
    upstreams: UpstreamLookup
    parts: PartReader
    clock: Clock

    def load(self) -> SystemLoad:
        """The latest snapshots of queues and long lane, as far as they are recent enough."""
        sample, lane, now = self.samples.latest(), self.lane_outlooks.latest(), self.clock()
        return SystemLoad(
            limits=self.limits,
            concurrency=self.concurrency,
            queues=sample.queues if sample and now - sample.at < MAX_SNAPSHOT_AGE else {},
            lane=lane if lane and now - lane.at < MAX_SNAPSHOT_AGE else None,
        )

    def outlook(self, execution: Execution, job: Job) -> Outlook | None:
        """The current outlook; once the execution has ended, the recorded one. ``None`` without a deadline.

        Before the first check, no state has begun: ``since`` is ``None``.
        """
        if execution.deadline_at is None or execution.status in FINAL:
            return execution.outlook
        found = self.compute_outlook(execution, job, self.load())
        return found if execution.outlook else replace(found, since=None)

    def compute_outlook(self, execution: Execution, job: Job, load: SystemLoad) -> Outlook:
        """Forecast a live execution that has a deadline."""
        now = self.clock()
        [upstreams] = self.upstreams.of([execution]) if execution.has_pending_upstreams else [[]]
        upstream = last_upstream_end(upstreams, load, now, self._parts_of)
        return outlook_of(execution, job, load, now, upstream, self._parts_of(execution))

    def end(self, execution: Execution, job: Job) -> Forecast:
        """Forecast the end of a live execution, with or without a deadline."""
        load, now = self.load(), self.clock()
        [upstreams] = self.upstreams.of([execution]) if execution.has_pending_upstreams else [[]]
        upstream = last_upstream_end(upstreams, load, now, self._parts_of)
        return forecast_end(execution, job, load, now, upstream, self._parts_of(execution))

    def end_alone(self, execution: Execution, job: Job) -> Forecast:
        """Forecast an execution that is planned for later: in empty queues, and without its upstreams."""
        load = SystemLoad(limits=self.limits, concurrency=self.concurrency)
        return forecast_end(execution, job, load, self.clock())

    def parts_of_live(self, execution: Execution, job: Job) -> Mapping[str, PartForecast]:
        """Forecast the parts of a live partitioned execution that have not ended, by name."""
        parts = self._parts_of(execution)
        return forecast_parts(execution, job, self.load(), self.clock(), parts) if parts else {}

    def _parts_of(self, execution: Execution) -> Sequence[Part]:
        """The parts of a partitioned execution. Those of any other execution add nothing to its own record."""
        may_have_parts = execution.is_partitioned and execution.status is not Status.SCHEDULED
        return self.parts.of(execution.execution_id) if may_have_parts else ()


@dataclass(frozen=True)
class DeadlineChecker:
    jobs: Jobs
    executions: WatchedExecutions
    checks: Checks
    notices: Notices
    forecaster: Forecaster
    clock: Clock

    def send_due(self, shards: Iterable[int]) -> int:
        """Send the checks that are due soon or overdue. Returns their number."""
        now = self.clock()
        due = chain.from_iterable(self.executions.due_checks(shard, now + SEND_AHEAD) for shard in shards)
        batch = list(islice(due, MAX_CHECKS_PER_TICK))
        self.checks.send(batch, now)
        return len(batch)

    def check(self, checks: Iterable[Check]) -> list[StateChange]:
        """Do these checks and return the state changes. Idempotent: a stale check is skipped."""
        load = self.forecaster.load()
        changes = [self._check(check, load) for check in checks]
        return [change for change in changes if change is not None]

    def _check(self, check: Check, load: SystemLoad) -> StateChange | None:
        execution = self.executions.get(check.job_id, check.execution_id)
        if execution is None or execution.status in FINAL or execution.check_at != check.at:
            return None
        job = self.jobs.get(check.job_id)
        if job is None or execution.deadline_at is None:
            return None
        now = self.clock()
        outlook = self.forecaster.compute_outlook(execution, job, load)
        before = execution.outlook.state if execution.outlook else DeadlineState.ON_TRACK
        self._notify(execution, job, before, outlook)
        following = next_check(execution.earliest_start, execution.deadline_at, now)
        if not self.executions.record_outlook(execution, outlook, following):
            return None
        if following is not None and following <= now + SEND_AHEAD:
            self.checks.send([replace(check, at=following)], now)
        return StateChange(check.execution_id, before, outlook.state) if outlook.state is not before else None

    def _notify(self, execution: Execution, job: Job, before: DeadlineState, outlook: Outlook) -> None:
        event = event_of_change(before, outlook.state)
        rule = job.notify or DEFAULT_RULE
        if event is not None and rule.includes(event):
            self.notices.send(addressed(outlook_notice(execution, job, outlook, event), rule))
