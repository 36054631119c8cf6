from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from punctual.domain.forecasts.queue_backlog import BacklogLimits, Sample
from punctual.domain.forecasts.queue_capacity import Depth
from punctual.domain.forecasts.queue_flow import Flow
from punctual.stages.watch.measure import QueueSampler

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
CONCURRENCY = {"high": 10, "low": 2, "intake": 2}


@dataclass
class Signals:
    """Queue depths, counters and samples, in memory."""

    depths: dict[str, int] = field(default_factory=dict)
    flows: dict[str, Flow] = field(default_factory=dict)
    kept: list[Sample] = field(default_factory=list)

    def sampler(self) -> QueueSampler:
        return QueueSampler(_Depths(self), _Flows(self), self, CONCURRENCY, BacklogLimits(minutes=30, messages=1000))

    def count(self, queue: str, more: Flow) -> None:
        self.flows[queue] = self.flows.get(queue, Flow()).plus(more)

    def latest(self) -> Sample | None:
        return self.kept[-1] if self.kept else None

    def store(self, sample: Sample) -> None:
        self.kept.append(sample)


@dataclass
class _Depths:
    signals: Signals

    def read(self) -> dict[str, Depth]:
        return {queue: Depth(visible=depth, in_flight=0, delayed=0) for queue, depth in self.signals.depths.items()}


@dataclass
class _Flows:
    signals: Signals

    def read(self, queues: Iterable[str]) -> dict[str, Flow]:
        return {queue: self.signals.flows[queue] for queue in queues if queue in self.signals.flows}


def test_every_queue_is_sampled_and_the_sample_is_stored_for_the_next_one() -> None:
    signals = Signals(depths=dict.fromkeys(CONCURRENCY, 0))
    first = signals.sampler().sample(NOW)
    assert (signals.kept, set(first.queues), first.seconds) == ([first], set(CONCURRENCY), None)
    signals.depths["low"] = 40
    signals.count("low", Flow(started=20, finished=20))
    second = signals.sampler().sample(NOW + MINUTE)
    assert signals.kept == [first, second]
    assert (second.seconds, second.queues["low"].arrival_per_minute) == (60, 60)
    assert second.queues["high"].arrival_per_minute == 0


def test_a_sample_includes_the_long_lane() -> None:
    signals = Signals(depths=dict.fromkeys(CONCURRENCY, 0))
    signals.sampler().sample(NOW)
    signals.count("long", Flow(finished=3, failed=1))
    sample = signals.sampler().sample(NOW + MINUTE)
    assert (sample.lanes["long"].finished, sample.lanes["long"].failed, sample.lanes["short"].finished) == (3, 1, 0)


def test_the_first_sample_does_not_report_earlier_counts_as_new() -> None:
    signals = Signals(depths=dict.fromkeys(CONCURRENCY, 0), flows={"high": Flow(started=900, finished=900, failed=9)})
    first = signals.sampler().sample(NOW)
    assert (first.lanes["short"].started, first.failure_percent, first.lateness_p99_seconds) == (0, None, None)


def test_an_unreadable_queue_does_not_affect_the_others() -> None:
    signals = Signals(depths={"high": 5, "intake": 0})
    sample = signals.sampler().sample(NOW)
    assert {queue: one.depth for queue, one in sample.queues.items()} == {"high": 5, "low": None, "intake": 0}


def test_a_second_sample_in_the_same_minute_reports_no_count_twice() -> None:
    signals = Signals(depths=dict.fromkeys(CONCURRENCY, 0))
    signals.sampler().sample(NOW)
    signals.count("high", Flow(started=6, finished=6))
    finished = [signals.sampler().sample(NOW + MINUTE).lanes["short"].finished for _ in range(2)]
    assert finished == [6, 0]
