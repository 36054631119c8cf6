"""The history of the queues in intervals of five minutes, and their usual rates."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from punctual.domain.forecasts.queue_backlog import Sample
from punctual.domain.forecasts.queue_history import Hour, Point, history_of, hours_read, with_sample
from tests.unit.domain.forecasts.deadlines import backlog

HOUR, MINUTE, DAY = timedelta(hours=1), timedelta(minutes=1), timedelta(days=1)
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def sample(at: datetime, depth: int | None, rate: float | None = None) -> Sample:
    one = replace(backlog(0, None), depth=depth, arrival_per_minute=rate, finished_per_minute=rate)
    return Sample(
        at=at,
        seconds=60,
        queues={"low": one},
        lanes={},
        lateness_p99_seconds=None,
        failure_percent=None,
        memory={},
    )


def recorded(*samples: Sample) -> Hour:
    hour: Hour = {}
    for one in samples:
        hour = with_sample(hour, one)
    return hour


def point(at: datetime, rate: float) -> Point:
    return Point(at=at, depth=1, samples=2, arrived=2 * rate, finished=2 * rate)


def test_a_point_has_the_highest_depth_and_the_mean_rates_of_its_interval() -> None:
    hour = recorded(
        sample(NOON, 5), sample(NOON + MINUTE, 9, 10), sample(NOON + 4 * MINUTE, 1, 20), sample(NOON + 5 * MINUTE, 2, 7)
    )
    first, second = hour["low"]
    assert (first.at, first.depth, first.arrival_per_minute) == (NOON, 9, 15)
    assert (second.at, second.depth, second.finished_per_minute) == (NOON + 5 * MINUTE, 2, 7)


def test_a_point_without_rates_has_none() -> None:
    [only] = recorded(sample(NOON, 5))["low"]
    assert (only.depth, only.arrival_per_minute, only.finished_per_minute) == (5, None, None)


def test_a_queue_that_could_not_be_read_adds_nothing() -> None:
    assert recorded(sample(NOON, None))["low"] == ()
    assert [one.depth for one in recorded(sample(NOON, 3), sample(NOON + 6 * MINUTE, None))["low"]] == [3]


def test_the_points_of_the_last_24_hours_are_shown_in_order() -> None:
    now = NOON + 30 * MINUTE
    hours = [{"low": [point(now, 3)]}, {"low": [point(now - DAY + MINUTE, 1)]}, {"low": [point(now - DAY, 9)]}]
    assert [one.arrival_per_minute for one in history_of("low", hours, now).points] == [1, 3]
    assert history_of("high", hours, now).points == []


def test_the_usual_rate_is_the_median_of_the_same_hour_on_previous_days() -> None:
    days = [{"low": [point(NOON - n * DAY, rate)]} for n, rate in ((1, 10), (2, 30), (3, 20))]
    today = [{"low": [point(NOON, 500)]}, {"low": [point(NOON - HOUR, 400)]}]
    history = history_of("low", [*days, *today], NOON + MINUTE)
    assert (history.usual_arrival_per_minute, history.usual_finished_per_minute) == (20, 20)


def test_the_usual_rate_is_that_of_the_last_24_hours_if_there_is_no_previous_day() -> None:
    today = [{"low": [point(NOON - n * HOUR, 10 * n)]} for n in (1, 2, 3)]
    assert history_of("low", today, NOON + MINUTE).usual_arrival_per_minute == 20
    assert history_of("low", [], NOON).usual_arrival_per_minute is None


def test_the_hours_to_read_cover_a_day_and_the_same_hour_of_a_week() -> None:
    hours = hours_read(NOON + 30 * MINUTE)
    assert len(hours) == len(set(hours)) == 31
    assert {NOON - n * HOUR for n in range(25)} | {NOON - n * DAY for n in range(8)} == set(hours)
