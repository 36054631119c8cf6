"""Check: look at an execution's deadline, tell when its prospects have changed, and say when to look again.

The record holds the instant of the next look. A message asks for that one look and no other: it may come twice, late,
or from two senders, and the first to record what it found wins. Whoever dies before that is followed by the same look,
because the record still asks for it: once a minute what is due soon, or was due, is sent again. What there is to tell
is told before it is recorded, under a name that belongs to the look: so it is never lost, and told once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, next_check
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.deadline_check import Check
from punctual.domain.forecasts.deadline_forecast import Surroundings, awaited_of, outlook_of
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import DEFAULT
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.notices.deadline_notice import danger_notice, event_between
from punctual.domain.status import FINAL

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import UpstreamLookup
    from punctual.ports.jobs import Jobs
    from punctual.ports.monitoring import Checks, LaneOutlooks, Samples, WatchedExecutions
    from punctual.ports.notices import Notices

AHEAD = timedelta(seconds=75)
"""Looks that are due within this are sent out by the minute's tick, held back to their second."""


MOST_SENT = 5000
"""In one minute. What is left is the first to be sent in the next."""

FRESH = timedelta(minutes=10)
"""What was seen of queues and slots longer ago says nothing about them now."""


@dataclass(frozen=True)
class Changed:
    """What a look found to be different."""

    execution_id: str
    before: DeadlineState
    after: DeadlineState


@dataclass(frozen=True)
class Forecaster:
    """Knows what an execution shares with others, and so what is to be expected of it."""

    samples: Samples
    lane_outlooks: LaneOutlooks
    limits: LaneLimits
    concurrency: Mapping[str, int]
    upstreams: UpstreamLookup
    clock: Clock

    def surroundings(self) -> Surroundings:
        sample, lane, now = self.samples.latest(), self.lane_outlooks.latest(), self.clock()
        return Surroundings(
            limits=self.limits,
            concurrency=self.concurrency,
            queues=sample.queues if sample and now - sample.at < FRESH else {},
            lane=lane if lane and now - lane.at < FRESH else None,
        )

    def outlook(self, execution: Execution, job: Job) -> Outlook | None:
        """As things are now; ``None`` without a deadline, or when it has ended."""
        if execution.deadline_at is None or execution.status in FINAL:
            return execution.outlook
        return self.look(execution, job, self.surroundings())

    def look(self, execution: Execution, job: Job, around: Surroundings) -> Outlook:
        """At one that lives and has a deadline."""
        now = self.clock()
        [upstreams] = self.upstreams.of([execution]) if execution.held else [[]]
        return outlook_of(execution, job, around, now, awaited_of(upstreams, around, now))


@dataclass(frozen=True)
class Checker:
    jobs: Jobs
    executions: WatchedExecutions
    checks: Checks
    notices: Notices
    forecaster: Forecaster
    clock: Clock

    def send_due(self, shards: Iterable[int]) -> int:
        """Send out the looks that are due soon, and those that were due and did not happen. How many."""
        now = self.clock()
        due = list(islice((one for shard in shards for one in self.executions.to_check(shard, now + AHEAD)), MOST_SENT))
        self.checks.send(due, now)
        return len(due)

    def check(self, checks: Iterable[Check]) -> list[Changed]:
        """What has changed. May be called again with the same ones."""
        around = self.forecaster.surroundings()
        found = [self._check(check, around) for check in checks]
        return [change for change in found if change is not None]

    def _check(self, check: Check, around: Surroundings) -> Changed | None:
        execution = self.executions.get(check.job_id, check.execution_id)
        if execution is None or execution.status in FINAL or execution.check_at != check.at:
            return None
        job = self.jobs.get(check.job_id)
        if job is None or execution.deadline_at is None:
            return None
        now = self.clock()
        outlook = self.forecaster.look(execution, job, around)
        before = execution.outlook.state if execution.outlook else DeadlineState.ON_TRACK
        self._tell(execution, job, before, outlook)
        following = next_check(execution.released_at, execution.deadline_at, now)
        if not self.executions.note_outlook(execution, outlook, following):
            return None
        if following is not None and following <= now + AHEAD:
            self.checks.send([replace(check, at=following)], now)
        return Changed(check.execution_id, before, outlook.state) if outlook.state is not before else None

    def _tell(self, execution: Execution, job: Job, before: DeadlineState, outlook: Outlook) -> None:
        event = event_between(before, outlook.state)
        if event is not None and (job.notify or DEFAULT).wants(event):
            self.notices.send([danger_notice(execution, job, outlook, event)])
