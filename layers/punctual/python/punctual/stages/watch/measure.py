"""Monitor: once a minute, measure the metrics that alarms and the dashboard show.

Measurements are independent: a failed one is reported and does not prevent the others. Its metric is left out, which
its alarm treats as unchanged, or as breaching where missing data is the danger.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from punctual.domain.executions.deadline_outlook import IN_DANGER, DeadlineState
from punctual.domain.executions.horizon import SWEEP_HORIZON, TICK
from punctual.domain.forecasts.cost import estimated_dollars
from punctual.domain.forecasts.queue_backlog import BacklogLimits, Sample, sample_of
from punctual.domain.forecasts.queue_flow import INTAKE, LONG
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import LaneOutlook, lane_outlook
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.metrics import EVENT_METRICS, DashboardMetric, Metric
from punctual.domain.shards import swept_since

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Slots
    from punctual.ports.monitoring import Flows, LaneOutlooks, LongRunFailures, QueueDepths, Samples, WatchedExecutions
    from punctual.ports.planning import Timers
    from punctual.ports.shards import Shards
    from punctual.stages.watch.planned_demand import PlannedDemand
    from punctual.stages.watch.record_queues import QueueRecorder

MAX_SIMULATED_WAITERS = 1000
"""Waiters beyond this number are left out of the simulation of the long lane: they wait even longer."""

T = TypeVar("T")


@dataclass(frozen=True)
class QueueSampler:
    """Samples the depth and throughput of every queue.

    Not idempotent: a second tick within a minute stores a sample without rates, or counts the minute's figures twice.
    That is acceptable because samples only feed alarms and displays.
    """

    depths: QueueDepths
    flows: Flows
    samples: Samples
    concurrency: Mapping[str, int]
    """Maximum number of workers per queue. Exactly these queues are sampled."""
    limits: BacklogLimits

    def sample(self, now: datetime) -> Sample:
        """Compute the sample that follows the latest one, and store it in its place."""
        sample = sample_of(
            now,
            self.depths.read(),
            self.flows.read((*self.concurrency, LONG)),
            self.samples.latest(),
            concurrency=self.concurrency,
            limits=self.limits,
        )
        self.samples.store(sample)
        return sample


@dataclass
class Measurements:
    """The results of one tick."""

    figures: dict[Metric, float] = field(default_factory=dict)
    """Values of the metrics that alarms watch."""
    details: list[tuple[dict[str, float], dict[str, str]]] = field(default_factory=list)
    """Values for the dashboard, each with its dimensions."""
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Monitor:
    """Measures all metrics of one tick."""

    sampler: QueueSampler
    recorder: QueueRecorder
    executions: WatchedExecutions
    slots: Slots
    lane_outlooks: LaneOutlooks
    demand: PlannedDemand
    timers: Timers
    runs: LongRunFailures
    dead_letters: QueueDepths
    limits: LaneLimits
    shards: Shards
    clock: Clock

    def tick(self) -> Measurements:
        measured, now = Measurements(figures=dict.fromkeys(EVENT_METRICS, 0.0)), self.clock()
        sample = self._try(measured, lambda: self.sampler.sample(now))
        lane = self._try(measured, self._forecast_lane)
        if sample is not None:
            measured.figures |= sample.figures()
            measured.figures[Metric.TICK_GAP_SECONDS] = sample.seconds or TICK.total_seconds()
            self._try(measured, lambda: self._add_failed_runs(measured, now, sample))
            measured.details += _details(sample, lane)
            self._try(measured, lambda: self.recorder.record(sample))
        for measure in (self.deadlines, self._dead_letters, self._sweep_lag):
            measured.figures |= self._try(measured, measure) or {}
        return measured

    def deadlines(self, observed: Collection[DeadlineState] = ()) -> dict[Metric, float]:
        """Count the live executions that are in danger, and those past their deadline.

        The result is at least the number of states just ``observed``: the index used for counting is eventually
        consistent.
        """
        counts = {
            state: self.executions.count_in_state(state)
            for state in DeadlineState
            if state is not DeadlineState.ON_TRACK
        }
        at_risk = counts[DeadlineState.AT_RISK] + counts[DeadlineState.WILL_MISS]
        return {
            Metric.DEADLINES_AT_RISK: max(at_risk, sum(state in IN_DANGER for state in observed)),
            Metric.DEADLINES_MISSED: max(
                counts[DeadlineState.MISSED], sum(state is DeadlineState.MISSED for state in observed)
            ),
        }

    def _forecast_lane(self) -> LaneOutlook:
        waiting = islice(self.slots.waiting(), MAX_SIMULATED_WAITERS)
        now = self.clock()
        outlook = lane_outlook(list(self.slots.holders()), waiting, self.limits, now, self.demand.slots(now))
        self.lane_outlooks.store(outlook)
        return outlook

    def _dead_letters(self) -> dict[Metric, float]:
        return {Metric.DEAD_LETTERS: sum(depth.visible for depth in self.dead_letters.read().values())}

    def _sweep_lag(self) -> dict[Metric, float]:
        """The largest lag of the timer sweeps and of the deadline checks.

        A sweep covers ``SWEEP_HORIZON`` ahead. It lags when it is short of that by more than a tick. A shard that was
        never swept is new and has no lag. An overdue deadline check counts as lag, too.
        """
        now, numbers = self.clock(), self.shards.numbers()
        shards = range(self.shards.count())
        reached = {shard: position.at for shard in shards if (position := self.timers.swept_to(shard))}
        lags = [self._lag(at, swept_since(shard, numbers)) for shard, at in reached.items()]
        checks = filter(None, (self.executions.oldest_check(shard) for shard in shards))
        lags += [now - due for due in checks]
        return {Metric.SWEEP_LAG_SECONDS: max([timedelta(), *lags]).total_seconds()}

    def _lag(self, swept_to: datetime, since: datetime | None) -> timedelta:
        is_new = since is not None and swept_to < since  # recorded when the shard was last in use
        return timedelta() if is_new else self.clock() + SWEEP_HORIZON - TICK - swept_to

    def _add_failed_runs(self, measured: Measurements, now: datetime, sample: Sample) -> None:
        since = now - timedelta(seconds=sample.seconds or TICK.total_seconds())
        measured.figures[Metric.STATE_MACHINE_FAILURES] = self.runs.failed_since(since)

    @staticmethod
    def _try(measured: Measurements, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except Exception as error:
            measured.failures.append(f"{type(error).__name__}: {error}")
            return None


def _details(sample: Sample, lane: LaneOutlook | None) -> Iterator[tuple[dict[str, float], dict[str, str]]]:
    for name, flow in sample.lanes.items():
        yield {DashboardMetric.STARTED: flow.started}, {"lane": name}
        yield {DashboardMetric.ENDED: flow.finished - flow.failed}, {"lane": name, "outcome": "succeeded"}
        yield {DashboardMetric.ENDED: flow.failed}, {"lane": name, "outcome": "failed"}
    for name, queue in sample.queues.items():
        known = {DashboardMetric.QUEUE_DEPTH: queue.depth, DashboardMetric.QUEUE_DRAIN_MINUTES: queue.drain_minutes}
        yield {str(metric): float(value) for metric, value in known.items() if value is not None}, {"queue": name}
    running = sum(queue.in_flight or 0 for name, queue in sample.queues.items() if name != INTAKE)
    yield {DashboardMetric.RUNNING_NOW: running}, {"lane": Lane.SHORT}
    containers, taken_cpu = 0, 0
    if lane is not None:
        containers, taken_cpu = lane.taken_tasks, lane.taken_cpu
        yield {DashboardMetric.RUNNING_NOW: lane.taken_tasks}, {"lane": Lane.LONG}
        yield {DashboardMetric.SLOTS_TAKEN: lane.taken_tasks, DashboardMetric.SLOTS_WAITING: lane.waiting}, {}
    dollars = estimated_dollars(sample.lanes, containers, taken_cpu, sample.seconds or 0.0)
    yield {DashboardMetric.ESTIMATED_DOLLARS: dollars}, {}
