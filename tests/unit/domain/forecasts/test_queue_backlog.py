"""Samples of a queue, and the forecast of its backlog."""

from __future__ import annotations

import heapq
import json
import random
from bisect import bisect_right
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from punctual.domain.forecasts.queue_backlog import (
    MAX_DRAIN_MINUTES,
    Backlog,
    BacklogLimits,
    Sample,
    read_sample,
    sample_of,
)
from punctual.domain.forecasts.queue_capacity import Depth
from punctual.domain.forecasts.queue_flow import Flow, FlowCounter
from punctual.domain.metrics import Metric
from tests.unit.domain.forecasts.sampled_queue import (
    LIMITS,
    MINUTE,
    NO_FLOW,
    SECOND,
    START,
    WORKERS,
    SampledQueue,
    backlogged,
    depth,
    late,
)

# depth and rates


def test_the_first_sample_has_no_rates_and_no_forecast() -> None:
    first = SampledQueue().sample_after(7, in_flight=2)
    assert (first.depth, first.in_flight, first.delayed) == (7, 2, 0)
    assert (first.arrival_per_minute, first.finished_per_minute, first.capacity_per_minute) == (None, None, None)
    assert (first.drain_minutes, first.drains, first.oldest_seconds, first.minutes_until_breach) == (None,) * 4


def test_an_empty_queue_has_drain_time_zero_even_in_the_first_sample() -> None:
    first = SampledQueue().sample_after(0)
    assert (first.drain_minutes, first.oldest_seconds, first.minutes_until_breach) == (0, 0, None)


def test_delayed_messages_are_not_part_of_the_backlog() -> None:
    waiting = {"normal": Depth(visible=0, in_flight=0, delayed=5000)}
    sample = sample_of(START, waiting, {}, None, concurrency={"normal": 1}, limits=LIMITS)
    assert (sample.queues["normal"].delayed, sample.queues["normal"].drain_minutes) == (5000, 0)


# forecast


def test_a_queue_drains_when_the_arrival_rate_is_below_the_capacity() -> None:
    queue = backlogged(done=600)
    assert queue.sample_after(5000, in_flight=WORKERS, finished=600, late=late(_60=600)).drains is True
    assert queue.sample_after(6000, in_flight=WORKERS, finished=600, late=late(_60=600)).drains is False


def test_a_backlog_without_throughput_never_drains() -> None:
    queue = backlogged(done=600)
    queue.sample_after(5400)  # the messages in flight may have been finished
    stuck = queue.sample_after(5400)
    assert (stuck.capacity_per_minute, stuck.drain_minutes, stuck.minutes_until_breach) == (0, MAX_DRAIN_MINUTES, 0)
    assert queue.sample_after(5400, after=5 * SECOND).drain_minutes == MAX_DRAIN_MINUTES
    queue.sample_after(0)
    assert queue.sample_after(600).drain_minutes == pytest.approx(1.05)  # at the full speed of its workers


def test_a_backlog_that_never_had_throughput_never_drains() -> None:
    queue = SampledQueue()
    queue.sample_after(7)
    assert queue.sample_after(7).drain_minutes == MAX_DRAIN_MINUTES


def test_the_limit_in_minutes_applies_to_the_drain_time() -> None:
    queue = backlogged(in_flight=0, done=600, was=12_000)  # the limit is 18,000 messages: 30 minutes
    soon = queue.sample_after(12_000, finished=600, late=late(_60=600))
    assert soon.minutes_until_breach == pytest.approx(6000 / 600)
    assert queue.sample_after(18_000, finished=600, late=late(_60=600)).minutes_until_breach == 0


def test_the_limit_in_messages_applies_when_it_is_lower() -> None:
    queue = backlogged(in_flight=0, done=600, was=6000)
    queue.limits = BacklogLimits(minutes=30, messages=7000)
    assert queue.sample_after(6400, finished=600, late=late(_60=600)).minutes_until_breach == pytest.approx(600 / 1000)
    assert queue.sample_after(7000, finished=600, late=late(_60=600)).minutes_until_breach == 0


def test_without_a_known_capacity_only_the_limit_in_messages_is_forecast() -> None:
    queue = SampledQueue()
    queue.sample_after(0)
    assert queue.sample_after(1000).minutes_until_breach == pytest.approx(99)


def test_a_shrinking_backlog_has_no_breach_forecast() -> None:
    queue = backlogged(done=600)
    assert queue.sample_after(4800, in_flight=WORKERS, finished=600, late=late(_60=600)).minutes_until_breach is None


def test_a_growing_queue_below_its_capacity_has_no_breach_forecast() -> None:
    queue = SampledQueue()
    queue.sample_after(0, finished=600, busy_ms=600_000)
    shown = queue.sample_after(50, finished=250, busy_ms=250_000)
    assert (shown.arrival_per_minute, shown.drains, shown.minutes_until_breach) == (300, True, None)


# age of the oldest message


def test_the_oldest_message_has_waited_since_the_due_instant_of_the_last_start() -> None:
    queue = SampledQueue()
    queue.sample_after(500)
    later = queue.sample_after(500, started=60, waited=(100 * SECOND, 5 * SECOND))
    assert later.oldest_seconds == 105


def test_new_messages_are_not_as_old_as_the_last_start() -> None:
    queue = SampledQueue()
    queue.sample_after(0, started=1, waited=(SECOND, timedelta()))
    for _ in range(60):
        queue.sample_after(0)
    assert queue.sample_after(500).oldest_seconds == 60


def test_one_redelivered_message_does_not_make_the_others_old() -> None:
    queue = SampledQueue()
    queue.sample_after(0)
    assert queue.sample_after(5, started=1, waited=(timedelta(hours=1), SECOND)).oldest_seconds == 60


def test_the_age_of_the_oldest_message_is_known_from_the_second_sample_on() -> None:
    queue = SampledQueue()
    assert queue.sample_after(5, started=1, waited=(SECOND, timedelta(hours=1))).oldest_seconds is None
    assert queue.sample_after(5).oldest_seconds == 60


def test_the_oldest_message_ages_while_nothing_starts() -> None:
    queue = SampledQueue()
    queue.sample_after(0)
    assert [queue.sample_after(5).oldest_seconds for _ in range(3)] == [60, 120, 180]
    assert queue.sample_after(0, started=5).oldest_seconds == 0


# unreadable queues, clock changes and counter resets


def test_an_unreadable_queue_is_unknown_and_keeps_its_capacity() -> None:
    queue = backlogged(done=600)
    before = queue.sample_after(4800, in_flight=WORKERS, finished=600, late=late(_60=600)).capacity_per_minute
    unread = queue.sample_after(None, finished=600)
    assert (unread.depth, unread.in_flight, unread.delayed, unread.drain_minutes, unread.drains) == (None,) * 5
    assert (unread.oldest_seconds, unread.minutes_until_breach, unread.arrival_per_minute) == (None,) * 3
    again = queue.sample_after(3600, finished=600)
    assert (again.arrival_per_minute, again.capacity_per_minute) == (None, before)
    assert again.drain_minutes == pytest.approx(3600 / (before or 0), 0.001)


@pytest.mark.parametrize("back", [timedelta(days=-1), timedelta(), timedelta(milliseconds=999)])
def test_a_clock_that_goes_back_or_stops_leaves_out_rates_but_not_counts(back: timedelta) -> None:
    queue = backlogged(done=600)
    before = queue.sample_after(4800, in_flight=WORKERS, finished=600, late=late(_60=600))
    odd = queue.sample_after(4790, in_flight=WORKERS, after=back, finished=10)
    assert (odd.arrival_per_minute, odd.capacity_per_minute) == (None, before.capacity_per_minute)
    assert odd.oldest_seconds == before.oldest_seconds == 120
    assert queue.sample is not None
    assert (queue.sample.seconds, queue.sample.lanes["short"].finished) == (None, 10)
    assert queue.sample_after(4190, in_flight=WORKERS, finished=600).finished_per_minute == 600


def test_a_counter_reset_never_produces_negative_rates() -> None:
    queue = backlogged(done=600)
    queue.flow = NO_FLOW
    later = queue.sample_after(5400, in_flight=WORKERS, finished=30)
    assert (later.finished_per_minute, later.arrival_per_minute) == (30, 30)


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(0, 10**6),
            st.integers(0, 1000),
            st.integers(-100_000, 10_000_000),
            st.integers(0, 10**5),
            st.integers(0, 10**9),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_figure_is_ever_negative_and_every_sample_can_be_stored(readings: list[Any]) -> None:
    queue = SampledQueue()
    for visible, in_flight, milliseconds, count, busy_ms in readings:
        passing = timedelta(milliseconds=milliseconds)
        queue.flow = NO_FLOW if count % 7 == 0 else queue.flow
        queue.sample_after(
            visible,
            in_flight=in_flight,
            after=passing,
            waited=(count * SECOND, passing),
            finished=count,
            busy_ms=busy_ms,
        )
        assert queue.sample is not None
        assert read_sample(json.dumps(queue.sample.to_fields(), allow_nan=False)) == queue.sample
        shown = queue.sample.to_fields()["queues"]["normal"]
        assert all(value is None or value >= 0 for value in shown.values())


# the sample


def full_sample() -> Sample:
    concurrency = {"high": 5, "normal": 5, "intake": 2}
    empty = dict.fromkeys(concurrency, depth(0))
    first = sample_of(START, empty, {}, None, concurrency=concurrency, limits=LIMITS)
    flows = {
        "high": Flow(started=60, finished=60, failed=25, busy_ms=60_000, late=late(_0_25=60)),
        "normal": Flow(started=40, finished=40, busy_ms=40_000, late=late(_0_25=38, _5=2)),
        "intake": Flow(started=900, finished=900, busy_ms=900, late=late(_1800=900)),
        "long": Flow(finished=1, failed=1),
    }
    depths = {"high": depth(3), "normal": depth(0), "intake": depth(70)}
    return sample_of(START + MINUTE, depths, flows, first, concurrency=concurrency, limits=LIMITS)


def test_a_sample_contains_throughput_lateness_and_failure_rate_of_each_lane() -> None:
    sample = full_sample()
    short, long = sample.lanes["short"], sample.lanes["long"]
    assert (short.started, short.finished, short.failed) == (100, 100, 25)  # intake messages are not executions
    assert (long.started, long.finished, long.failed) == (0, 1, 1)
    assert sample.failure_percent == 25
    assert sample.lateness_p99_seconds == pytest.approx(3.5)


def test_alarm_metrics_show_the_worst_queue_and_zero_when_idle() -> None:
    sample = full_sample()
    assert sample.figures() == {
        Metric.BACKLOG_MESSAGES: 70,
        Metric.BACKLOG_DRAIN_MINUTES: 0.03,
        Metric.OLDEST_MESSAGE_SECONDS: 60,
        Metric.DISPATCH_LATENESS_P99: sample.lateness_p99_seconds,
        Metric.WORKER_FAILURE_RATE: 25,
    }
    idle = sample_of(START, {"low": depth(0)}, {}, None, concurrency={"low": 1}, limits=LIMITS)
    assert set(idle.figures().values()) == {0.0}
    assert len(idle.figures()) == 5


def test_a_metric_unknown_for_all_queues_is_left_out() -> None:
    unread = sample_of(START, {}, {}, None, concurrency={"low": 1}, limits=LIMITS)
    assert set(unread.figures()) == {Metric.DISPATCH_LATENESS_P99, Metric.WORKER_FAILURE_RATE}


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"at": "2026-11-16T12:00:00.000Z", "queues": {"high": 1}}'])
def test_a_sample_of_another_format_is_ignored(text: str) -> None:
    assert read_sample(text) is None
    fields = full_sample().to_fields()
    assert read_sample(json.dumps(fields | {"mood": "fine"})) is None
    assert read_sample(json.dumps(fields)) is not None


# simulation of a backlog from its first to its last minute


class Workers:
    """Messages and the workers that process them in order, in virtual time. Workers flush their counters at intervals.

    ``handling`` is the time that a message takes besides its task. It is not part of the counted run time.
    """

    def __init__(self, arrivals: list[float], workers: int, run_seconds: float, handling: float) -> None:
        self.workers = workers
        free = [(0.0, worker) for worker in range(workers)]
        self.arrivals, self.starts, runs = sorted(arrivals), [], []
        for arrived in self.arrivals:
            freed, worker = heapq.heappop(free)
            start = max(arrived, freed)
            end = start + run_seconds + handling
            heapq.heappush(free, (end, worker))
            self.starts.append(start)
            runs.append((end, arrived, start, worker))
        self.ends = [run[0] for run in runs]
        flushed: list[tuple[float, Flow]] = [(0.0, NO_FLOW)]
        counters = [FlowCounter() for _ in range(workers)]
        for end, arrived, start, worker in runs:
            counters[worker].count_start("normal", _at(arrived), _at(start))
            counters[worker].count_end("normal", run_seconds * SECOND, succeeded=True)
            counters[worker].flush(lambda _, flow, end=end: flushed.append((end, flow)), _at(end), pytest.fail)  # type: ignore[misc]
        self.flushed_at = [end for end, _ in flushed]
        self.flows = list(accumulate((flow for _, flow in flushed), Flow.plus))

    def depth(self, second: float) -> Depth:
        started = bisect_right(self.starts, second)
        return depth(bisect_right(self.arrivals, second) - started, started - bisect_right(self.ends, second))

    def samples(self, seconds: int) -> Iterator[tuple[int, Backlog]]:
        """One sample per minute."""
        sample = None
        for second in range(0, seconds, 60):
            flows = {"normal": self.flows[bisect_right(self.flushed_at, second) - 1]}
            concurrency = {"normal": self.workers}
            depths = {"normal": self.depth(second)}
            sample = sample_of(_at(second), depths, flows, sample, concurrency=concurrency, limits=LIMITS)
            yield second, sample.queues["normal"]

    def minutes_until_all_have_started(self, second: float) -> float:
        return (self.starts[bisect_right(self.arrivals, second) - 1] - second) / 60


def _at(second: float) -> datetime:
    return START + second * SECOND


def poisson(randomness: random.Random, per_second: float, start: float, end: float) -> Iterator[float]:
    second = start
    while per_second and (second := second + randomness.expovariate(per_second)) < end:
        yield second


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # a smaller backlog is no simpler
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    seed=st.integers(0, 2**32),
    workers=st.integers(2, 10),
    load=st.floats(0.2, 0.9),
    drain_minutes=st.floats(5, 20),
    spread=st.sampled_from([0.0, 5.0, 40.0]),
    handling=st.sampled_from([0.0, 0.1, 1.0]),
    history=st.booleans(),
    data=st.data(),
)
def test_a_backlog_drains_when_forecast(
    seed: int,
    workers: int,
    load: float,
    drain_minutes: float,
    spread: float,
    handling: float,
    history: bool,
    data: st.DataObject,
) -> None:
    """The forecast holds from the first sample of the backlog with a history of runs, from the second without."""
    randomness = random.Random(seed)
    run_seconds = data.draw(st.floats(1, 200 if history else 60))
    per_second = workers / (run_seconds + handling)
    size = int(min(max(per_second * 60 * drain_minutes, 15 * workers), 3000))
    begin = randomness.uniform(0, 59) + (int(20 * run_seconds + 1800) if history else 0)
    end = begin + spread + 2 * size / per_second
    arrivals = [*poisson(randomness, load * per_second, 0 if history else begin, end)]
    arrivals += [begin + randomness.uniform(0, spread) for _ in range(size)]
    if history and handling:
        arrivals += [100.0] * int(4 * 60 * per_second)
    queue = Workers(arrivals, workers, run_seconds, handling)
    samples = [(second, shown) for second, shown in queue.samples(int(end)) if second >= begin + spread]
    judged = [(second, shown) for second, shown in samples[0 if history else 1 :] if (shown.depth or 0) >= 8 * workers]
    assert judged
    for second, shown in judged:
        assert shown.drain_minutes == pytest.approx(queue.minutes_until_all_have_started(second), rel=0.25)
