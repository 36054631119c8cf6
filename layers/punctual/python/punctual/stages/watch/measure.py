"""Monitor: once a minute, measure what alarms and people watch.

Each thing is done by itself: one that fails is told of, and does not keep the others from being done. A figure that
could not be had is left out, and its alarm treats that as nothing new, or as bad news where silence is the danger.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from punctual.domain.executions.deadline_outlook import IN_DANGER, DeadlineState
from punctual.domain.executions.horizon import SWEEP
from punctual.domain.forecasts.cost import estimated_dollars
from punctual.domain.forecasts.queue_backlog import BacklogLimits, Sample, sample_of
from punctual.domain.forecasts.queue_flow import INTAKE, LONG
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import LaneOutlook, lane_outlook
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.metrics import AS_IT_HAPPENS, Detail, Metric

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Slots
    from punctual.ports.monitoring import Flows, LaneOutlooks, LongRunFailures, QueueDepths, Samples, WatchedExecutions
    from punctual.ports.planning import Timers

TICK = timedelta(minutes=1)
MOST_WAITING = 1000
"""Of those who wait for a slot, so many are played through: what comes behind them waits for longer still."""

T = TypeVar("T")


@dataclass(frozen=True)
class Survey:
    """Samples every queue: depth, and how fast it fills and drains.

    Not idempotent: a second tick within a minute stores a sample without rates, or counts the minute's figures twice.
    That is acceptable because samples only feed alarms and displays.
    """

    depths: QueueDepths
    flows: Flows
    samples: Samples
    concurrency: Mapping[str, int]
    """How many workers each queue may have at once. Its queues are those that are looked at."""
    limits: BacklogLimits

    def tick(self, now: datetime) -> Sample:
        sample = sample_of(
            now,
            self.depths.read(),
            self.flows.read((*self.concurrency, LONG)),
            self.samples.latest(),
            concurrency=self.concurrency,
            limits=self.limits,
        )
        self.samples.keep(sample)
        return sample


@dataclass
class Findings:
    """What one tick measured."""

    figures: dict[Metric, float] = field(default_factory=dict)
    """For alarms."""
    details: list[tuple[dict[str, float], dict[str, str]]] = field(default_factory=list)
    """For pictures: figures, and what they are of."""
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Monitor:
    survey: Callable[[datetime], Sample]
    """Looks at the queues."""
    executions: WatchedExecutions
    slots: Slots
    lane_outlooks: LaneOutlooks
    timers: Timers
    runs: LongRunFailures
    dead_letters: QueueDepths
    limits: LaneLimits
    shards: int
    clock: Clock

    def tick(self) -> Findings:
        found, now = Findings(figures=dict.fromkeys(AS_IT_HAPPENS, 0.0)), self.clock()
        sample = self._try(found, lambda: self.survey(now))
        lane = self._try(found, self._look_at_lane)
        if sample is not None:
            found.figures |= sample.figures()
            found.figures[Metric.TICK_GAP_SECONDS] = sample.seconds or TICK.total_seconds()
            self._try(found, lambda: self._count_failed_runs(found, now, sample))
            found.details += _details(sample, lane)
        for measure in (self.deadlines, self._dead_letters, self._sweep_lag):
            found.figures |= self._try(found, measure) or {}
        return found

    def deadlines(self, seen: Collection[DeadlineState] = ()) -> dict[Metric, float]:
        """How many live executions are in danger, and past their deadline.

        At least those that were just ``seen`` to be: the index that counts them is a moment late.
        """
        counts = {state: self.executions.count_in(state) for state in DeadlineState if state is not _FINE}
        at_risk = counts[DeadlineState.AT_RISK] + counts[DeadlineState.WILL_MISS]
        return {
            Metric.DEADLINES_AT_RISK: max(at_risk, sum(state in IN_DANGER for state in seen)),
            Metric.DEADLINES_MISSED: max(counts[DeadlineState.MISSED], sum(state is _MISSED for state in seen)),
        }

    def _look_at_lane(self) -> LaneOutlook:
        waiting = islice(self.slots.waiting(), MOST_WAITING)
        outlook = lane_outlook(list(self.slots.holders()), waiting, self.limits, self.clock())
        self.lane_outlooks.keep(outlook)
        return outlook

    def _dead_letters(self) -> dict[Metric, float]:
        return {Metric.DEAD_LETTERS: sum(depth.visible for depth in self.dead_letters.read().values())}

    def _sweep_lag(self) -> dict[Metric, float]:
        """A sweep reaches ahead; what it has not reached for more than a tick is behind. A shard never swept is new.

        A look at a deadline that is due and has not happened is behind, too.
        """
        now = self.clock()
        reached = filter(None, (self.timers.reached(shard) for shard in range(self.shards)))
        lags = [now + SWEEP - TICK - one.at for one in reached]
        looks = filter(None, (self.executions.oldest_check(shard) for shard in range(self.shards)))
        lags += [now - due for due in looks]
        return {Metric.SWEEP_LAG_SECONDS: max([timedelta(), *lags]).total_seconds()}

    def _count_failed_runs(self, found: Findings, now: datetime, sample: Sample) -> None:
        since = now - timedelta(seconds=sample.seconds or TICK.total_seconds())
        found.figures[Metric.STATE_MACHINE_FAILURES] = self.runs.failed_since(since)

    @staticmethod
    def _try(found: Findings, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except Exception as error:
            found.failures.append(f"{type(error).__name__}: {error}")
            return None


_FINE, _MISSED = DeadlineState.ON_TRACK, DeadlineState.MISSED


def _details(sample: Sample, lane: LaneOutlook | None) -> Iterator[tuple[dict[str, float], dict[str, str]]]:
    for name, moved in sample.lanes.items():
        yield {Detail.STARTED: moved.started}, {"lane": name}
        yield {Detail.ENDED: moved.finished - moved.failed}, {"lane": name, "outcome": "succeeded"}
        yield {Detail.ENDED: moved.failed}, {"lane": name, "outcome": "failed"}
    for name, queue in sample.queues.items():
        known = {Detail.QUEUE_DEPTH: queue.depth, Detail.QUEUE_DRAIN_MINUTES: queue.drain_minutes}
        yield {str(metric): float(value) for metric, value in known.items() if value is not None}, {"queue": name}
    running = sum(queue.in_flight or 0 for name, queue in sample.queues.items() if name != INTAKE)
    yield {Detail.RUNNING_NOW: running}, {"lane": Lane.SHORT}
    taken_cpu = 0
    if lane is not None:
        taken_cpu = lane.taken_cpu
        yield {Detail.RUNNING_NOW: lane.taken_tasks}, {"lane": Lane.LONG}
        yield {Detail.SLOTS_TAKEN: lane.taken_tasks, Detail.SLOTS_WAITING: lane.waiting}, {}
    dollars = estimated_dollars(sample.lanes[Lane.SHORT], taken_cpu, sample.seconds or 0.0)
    yield {Detail.ESTIMATED_DOLLARS: dollars}, {}
