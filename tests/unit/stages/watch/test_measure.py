from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from punctual.domain.forecasts.queue_backlog import BacklogLimits, Sample
from punctual.domain.forecasts.queue_capacity import Depth
from punctual.domain.forecasts.queue_flow import Flow
from punctual.stages.watch.measure import Survey

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
CONCURRENCY = {"high": 10, "low": 2, "intake": 2}


@dataclass
class Signals:
    """Queues, counters and the last sample, in memory."""

    full: dict[str, int] = field(default_factory=dict)
    flows: dict[str, Flow] = field(default_factory=dict)
    kept: list[Sample] = field(default_factory=list)

    def survey(self) -> Survey:
        return Survey(_Depths(self), _Flows(self), self, CONCURRENCY, BacklogLimits(minutes=30, messages=1000))

    def count(self, queue: str, more: Flow) -> None:
        self.flows[queue] = self.flows.get(queue, Flow()).plus(more)

    def latest(self) -> Sample | None:
        return self.kept[-1] if self.kept else None

    def keep(self, sample: Sample) -> None:
        self.kept.append(sample)


@dataclass
class _Depths:
    signals: Signals

    def read(self) -> dict[str, Depth]:
        return {queue: Depth(visible=full, in_flight=0, delayed=0) for queue, full in self.signals.full.items()}


@dataclass
class _Flows:
    signals: Signals

    def read(self, queues: Iterable[str]) -> dict[str, Flow]:
        return {queue: self.signals.flows[queue] for queue in queues if queue in self.signals.flows}


def test_every_queue_is_looked_at_and_the_sample_kept_for_the_next() -> None:
    signals = Signals(full=dict.fromkeys(CONCURRENCY, 0))
    first = signals.survey().tick(NOW)
    assert (signals.kept, set(first.queues), first.seconds) == ([first], set(CONCURRENCY), None)
    signals.full["low"] = 40
    signals.count("low", Flow(started=20, finished=20))
    second = signals.survey().tick(NOW + MINUTE)
    assert signals.kept == [first, second]
    assert (second.seconds, second.queues["low"].arrival_per_minute) == (60, 60)
    assert second.queues["high"].arrival_per_minute == 0


def test_what_ended_in_the_long_lane_is_told_as_well() -> None:
    signals = Signals(full=dict.fromkeys(CONCURRENCY, 0))
    signals.survey().tick(NOW)
    signals.count("long", Flow(finished=3, failed=1))
    sample = signals.survey().tick(NOW + MINUTE)
    assert (sample.lanes["long"].finished, sample.lanes["long"].failed, sample.lanes["short"].finished) == (3, 1, 0)


def test_what_was_there_before_the_first_look_is_not_told_as_new() -> None:
    signals = Signals(full=dict.fromkeys(CONCURRENCY, 0), flows={"high": Flow(started=900, finished=900, failed=9)})
    first = signals.survey().tick(NOW)
    assert (first.lanes["short"].started, first.failure_rate, first.lateness_p99) == (0, None, None)


def test_a_queue_that_cannot_be_read_does_not_hide_the_others() -> None:
    signals = Signals(full={"high": 5, "intake": 0})
    sample = signals.survey().tick(NOW)
    assert {queue: one.depth for queue, one in sample.queues.items()} == {"high": 5, "low": None, "intake": 0}


def test_a_tick_that_comes_twice_counts_nothing_twice() -> None:
    signals = Signals(full=dict.fromkeys(CONCURRENCY, 0))
    signals.survey().tick(NOW)
    signals.count("high", Flow(started=6, finished=6))
    told = [signals.survey().tick(NOW + MINUTE).lanes["short"].finished for _ in range(2)]
    assert told == [6, 0]
