"""The capacity of a queue's workers, as its samples show it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.unit.domain.forecasts.sampled_queue import MINUTE, SECOND, WORKERS, SampledQueue, backlogged, late

# arrivals and finished work


def test_arrivals_are_finished_messages_plus_growth() -> None:
    queue = SampledQueue()
    queue.sample_after(100, in_flight=4)
    later = queue.sample_after(130, in_flight=10, after=timedelta(seconds=30), finished=50, passed=4)
    assert (later.finished_per_minute, later.arrival_per_minute) == (108, 180)


def test_a_shrinking_queue_counts_as_finished_work_before_the_counters_arrive() -> None:
    queue = SampledQueue()
    queue.sample_after(100, in_flight=4)
    later = queue.sample_after(30, in_flight=4, finished=9)
    assert (later.finished_per_minute, later.arrival_per_minute) == (70, 0)


# capacity


def test_throughput_during_a_backlog_is_the_capacity() -> None:
    queue = backlogged(done=600, was=6000)
    assert queue.sample_after(
        4800, in_flight=WORKERS, finished=600, late=late(_300=600)
    ).drain_minutes == pytest.approx(8, 0.03)


def test_throughput_without_a_backlog_does_not_limit_the_capacity() -> None:
    queue = SampledQueue()
    queue.sample_after(0)
    later = queue.sample_after(0, finished=30, busy_ms=30_000)
    assert later.finished_per_minute == 30
    assert later.capacity_per_minute == pytest.approx(WORKERS * 60 / 1.05, 0.001)


@pytest.mark.parametrize("waits", [late(_1=10, _5=40), late(_5=10, _15=15, _60=25)], ids=["5 s", "30 s"])
def test_jobs_due_on_the_minute_are_not_taken_for_a_backlog(waits: tuple[int, ...]) -> None:
    """They wait in every sample and are done some seconds later."""
    queue = SampledQueue()
    queue.sample_after(50)
    for _ in range(5):
        later = queue.sample_after(50, finished=50, busy_ms=50_000, late=waits)
    assert later.capacity_per_minute == pytest.approx(WORKERS * 60 / 1.05, 0.001)


def test_fewer_waiting_messages_than_workers_are_no_backlog() -> None:
    queue = SampledQueue(workers=2)
    queue.sample_after(1, in_flight=2)
    later = queue.sample_after(1, in_flight=2, finished=6, busy_ms=60_000, late=late(_15=6))
    assert later.capacity_per_minute == pytest.approx(12, 0.01)


def test_messages_in_transit_are_not_taken_for_a_backlog() -> None:
    queue = SampledQueue(workers=1000)
    queue.sample_after(100)
    later = queue.sample_after(100, in_flight=50, finished=6000, busy_ms=6_000_000, late=late(_1=6000))
    assert later.capacity_per_minute == pytest.approx(1000 * 60 / 1.05, 0.001)


def test_the_capacity_is_remembered_for_the_next_backlog() -> None:
    queue = backlogged(done=300, in_flight=0)
    queue.sample_after(0, after=20 * MINUTE, finished=5700, busy_ms=5_700_000)
    for _ in range(100):
        queue.sample_after(0)
    assert queue.sample_after(1000).drain_minutes == pytest.approx(1000 / 300, 0.001)


def test_a_remembered_capacity_is_limited_by_the_current_run_time() -> None:
    queue = backlogged(done=600)
    queue.sample_after(0, finished=5400, busy_ms=5_400_000)
    queue.sample_after(0, finished=200, busy_ms=200 * 60_000)
    assert queue.sample_after(1000).capacity_per_minute == pytest.approx(10, 0.1)


def test_the_capacity_is_at_least_the_observed_throughput() -> None:
    queue = backlogged(done=60, in_flight=0)
    queue.sample_after(0, after=timedelta(hours=2), finished=5940, busy_ms=5_940_000)
    assert queue.sample_after(0, finished=300, busy_ms=300_000).capacity_per_minute == 300


def test_a_purged_queue_does_not_raise_the_capacity() -> None:
    queue = backlogged(done=60, in_flight=0)
    assert queue.sample_after(0).capacity_per_minute == 60


def test_small_capacity_changes_are_smoothed_and_large_ones_adopted_at_once() -> None:
    queue = backlogged(done=500, in_flight=0)
    assert queue.sample_after(4960, finished=540, busy_ms=540_000, late=late(_60=540)).capacity_per_minute == 520
    queue = backlogged(done=500, in_flight=0)
    assert queue.sample_after(5400, finished=100, busy_ms=100_000, late=late(_60=100)).capacity_per_minute == 100


def test_tasks_as_long_as_the_interval_are_forecast_by_their_run_time() -> None:
    queue = SampledQueue()
    waiting = 200
    queue.sample_after(waiting, in_flight=10)
    capacities = []
    for done in (0, 0, 0, 10, 0, 0, 0, 10, 0):  # ten workers in parallel, four minutes per task
        waiting -= done
        shown = queue.sample_after(waiting, in_flight=10, finished=done, busy_ms=done * 240_000, late=late(_300=done))
        capacities.append(shown.capacity_per_minute)
    assert capacities[:3] == [None] * 3
    assert capacities[3:] == [pytest.approx(2.5, 0.01)] * 6


def test_messages_hidden_after_a_failure_are_not_counted_as_workers() -> None:
    queue = backlogged(done=600, in_flight=80)
    hung = queue.sample_after(5400, in_flight=80)
    assert hung.capacity_per_minute == WORKERS


def test_one_outlier_hardly_changes_the_mean_run_time() -> None:
    queue = SampledQueue()
    queue.sample_after(0, finished=100, busy_ms=100 * 10_000)
    queue.sample_after(0, finished=1, busy_ms=60_000)
    assert queue.sample_after(100).capacity_per_minute == pytest.approx(60 * WORKERS / (10 + 50 / 11 + 0.05), abs=0.001)


def test_stuck_workers_lower_the_capacity_despite_their_old_run_time() -> None:
    queue = backlogged(done=600)
    hung = queue.sample_after(5400, in_flight=WORKERS)
    assert hung.capacity_per_minute is not None
    assert hung.capacity_per_minute <= WORKERS


@pytest.mark.parametrize("seconds", [5, 3600])
def test_an_interval_that_is_too_short_or_too_long_does_not_change_the_capacity(seconds: int) -> None:
    queue = backlogged(done=600)
    before = queue.sample_after(5400, in_flight=WORKERS, finished=600, late=late(_60=600)).capacity_per_minute
    later = queue.sample_after(5400, in_flight=WORKERS, after=seconds * SECOND, finished=2, late=late(_1800=2))
    assert later.capacity_per_minute == before
    assert later.finished_per_minute == pytest.approx(120 / seconds, abs=0.001)
