"""The expected end of an execution, before its start and while it runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from punctual.domain.forecasts.forecast import Forecast, Wait, forecast, remaining
from punctual.domain.forecasts.pace import Pace
from punctual.domain.forecasts.run_time import RunTime, run_time_of
from tests.unit.domain.forecasts.run_times import (
    ALMOST,
    DAY,
    HOUR,
    MOMENTS,
    RUN_TIMES,
    SHARES,
    around,
    properties,
    run_time,
)

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
WAITS = st.builds(Wait, st.floats(0, DAY), st.floats(0, DAY))
FRACTIONS = st.floats(0, 1)


@st.composite
def paces(draw: st.DrawFn) -> Pace:
    pace = Pace(fraction=draw(FRACTIONS), elapsed=draw(st.floats(1, 4 * DAY)))
    if draw(st.booleans()):
        return replace(pace, samples=((draw(MOMENTS), draw(FRACTIONS)),))
    return pace


EIGHT_HOURS = run_time(around(8 * HOUR))


def forecast_of(
    taking: RunTime,
    *,
    started: float | None = None,
    now: float = 0,
    not_before: float = 0,
    wait: Wait | None = None,
    pace: Pace | None = None,
    deadline: float | None = None,
) -> Forecast:
    """A forecast whose instants are seconds after ``NOW``."""
    return forecast(
        now=NOW + timedelta(seconds=now),
        run_time=taking,
        not_before=NOW + timedelta(seconds=not_before),
        wait=wait or Wait(),
        started_at=None if started is None else NOW + timedelta(seconds=started),
        pace=pace,
        deadline_at=None if deadline is None else NOW + timedelta(seconds=deadline),
    )


def after(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)


# Progress


def hours_in_all(elapsed: float, fraction: float, share: float = 0.5, taking: RunTime = EIGHT_HOURS) -> float:
    pace = Pace(fraction=fraction, elapsed=elapsed * HOUR)
    return elapsed + remaining(taking, elapsed * HOUR, pace).quantile(share) / HOUR


def test_slow_progress_reveals_a_missed_deadline_that_the_elapsed_time_does_not() -> None:
    pace = Pace(fraction=0.3, elapsed=5 * HOUR)
    with_progress = forecast_of(EIGHT_HOURS, started=0, now=5 * HOUR, pace=pace, deadline=10 * HOUR)
    without_progress = forecast_of(EIGHT_HOURS, started=0, now=5 * HOUR, deadline=10 * HOUR)
    assert with_progress.median_end > after(14)
    assert with_progress.probability is not None
    assert with_progress.probability < 0.01
    assert without_progress.probability is not None
    assert without_progress.probability > 0.99


def test_the_first_progress_report_changes_nothing_but_ten_percent_do() -> None:
    usual = EIGHT_HOURS.quantile(0.5) / HOUR
    assert hours_in_all(1, 0.001) == pytest.approx(usual, rel=0.001)
    assert hours_in_all(1, 0.0) == pytest.approx(usual)
    assert hours_in_all(2, 0.1) > 1.8 * usual


def test_a_fast_run_ends_sooner() -> None:
    assert hours_in_all(2, 0.5) == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize("percent", range(0, 100, 3))
def test_rounded_progress_at_the_usual_pace_raises_no_doubt(percent: int) -> None:
    """Reported in whole percent, just before the next one: it seems slower than it is."""
    elapsed = 8 * HOUR * (percent + 0.9) / 100
    pace = Pace(fraction=percent / 100, elapsed=elapsed)
    assert remaining(EIGHT_HOURS, elapsed, pace).end_probability(9.5 * HOUR - elapsed) > 0.95


def test_more_progress_narrows_the_forecast_but_never_to_certainty() -> None:
    spreads = []
    for percent in (5, 10, 20, 40, 60, 80, 90, 95, 99, 100):
        elapsed = 16 * percent / 100
        spreads.append(hours_in_all(elapsed, percent / 100, 0.95) - hours_in_all(elapsed, percent / 100, 0.5))
    assert spreads[:-1] == sorted(spreads[:-1], reverse=True)
    assert spreads[-2] == pytest.approx(spreads[-1], rel=0.01)  # at 99% as at 100%, up to one percent may be left
    assert spreads[-1] > 1 / 60


def test_without_history_the_pace_determines_the_forecast() -> None:
    assert hours_in_all(2, 0.1, taking=run_time_of((), None, 7 * DAY)) == pytest.approx(20, rel=0.05)


def test_a_recent_slowdown_delays_the_end_and_a_speed_up_advances_it() -> None:
    def ends(earlier: float | None) -> float:
        samples = () if earlier is None else ((3 * HOUR, earlier),)
        pace = Pace(fraction=0.5, elapsed=4 * HOUR, samples=samples, precision=0.001)
        return remaining(EIGHT_HOURS, 4 * HOUR, pace).quantile(0.5) / HOUR

    steady = ends(0.375)
    assert steady == pytest.approx(ends(None), rel=0.01)
    assert ends(0.48) > steady + 3
    assert ends(0.1) < steady - 1
    assert ends(0.9) == ends(0.5)


def test_a_stalled_run_ends_later_with_every_minute() -> None:
    def stalled(minutes: int) -> Forecast:
        elapsed = 4 * HOUR + 60 * minutes
        pace = Pace(fraction=0.5, elapsed=elapsed, samples=((4 * HOUR, 0.5),))
        return forecast_of(EIGHT_HOURS, started=0, now=elapsed, pace=pace, deadline=9 * HOUR)

    five, thirty, sixty = stalled(5), stalled(30), stalled(60)
    assert five.median_end < thirty.median_end < sixty.median_end
    assert five.p95_end < thirty.p95_end < sixty.p95_end
    assert (five.probability or 0) > 0.95 > 0.05 > (thirty.probability or 0) > (sixty.probability or 0)


def test_a_run_without_new_progress_reports_counts_as_stalled() -> None:
    last_report = Pace(fraction=0.5, elapsed=4 * HOUR)
    assert forecast_of(EIGHT_HOURS, started=0, now=6 * HOUR, pace=last_report).median_end > after(11)


@properties
@given(RUN_TIMES, FRACTIONS, st.floats(1, 4 * DAY), st.booleans(), MOMENTS, MOMENTS, SHARES)
def test_a_stalled_run_never_ends_sooner(
    taking: RunTime, fraction: float, stalled_at: float, known: bool, one: float, other: float, share: float
) -> None:
    def ends(since: float) -> float:
        pace = Pace(fraction=fraction, elapsed=stalled_at + since)
        if known:
            pace = replace(pace, samples=((stalled_at, fraction),))
        return stalled_at + since + remaining(taking, stalled_at + since, pace).quantile(share)

    assert ends(min(one, other)) * ALMOST <= ends(max(one, other)) + 1e-6


@properties
@given(RUN_TIMES, paces(), MOMENTS, MOMENTS, SHARES)
def test_a_run_without_new_progress_reports_never_ends_sooner(
    taking: RunTime, pace: Pace, one: float, other: float, share: float
) -> None:
    sooner, later = (
        elapsed + remaining(taking, elapsed, pace).quantile(share)
        for elapsed in sorted((max(one, pace.elapsed), max(other, pace.elapsed)))
    )
    assert sooner * ALMOST <= later + 1e-6


# Expected end


@properties
@given(RUN_TIMES, MOMENTS, MOMENTS, st.one_of(st.none(), MOMENTS), WAITS, st.one_of(st.none(), paces()), MOMENTS)
def test_the_median_end_is_never_before_now_nor_after_the_p95_end(
    taking: RunTime,
    now: float,
    not_before: float,
    started: float | None,
    wait: Wait,
    pace: Pace | None,
    deadline: float,
) -> None:
    expected_end = forecast_of(
        taking, now=now, not_before=not_before, started=started, wait=wait, pace=pace, deadline=deadline
    )
    assert NOW + timedelta(seconds=now) <= expected_end.median_end <= expected_end.p95_end
    assert expected_end.probability is not None
    assert 0 <= expected_end.probability <= 1
    if deadline < now:
        assert expected_end.probability == 0


@properties
@given(RUN_TIMES, st.booleans(), WAITS, MOMENTS, MOMENTS, MOMENTS)
def test_time_passing_without_progress_never_improves_the_forecast(
    taking: RunTime, runs: bool, wait: Wait, one: float, other: float, deadline: float
) -> None:
    sooner, later = (
        forecast_of(taking, started=0 if runs else None, wait=wait, now=now, deadline=deadline)
        for now in sorted((one, other))
    )
    tolerance = timedelta(milliseconds=20)
    assert sooner.median_end <= later.median_end + tolerance
    assert sooner.p95_end <= later.p95_end + tolerance
    assert sooner.probability is not None
    assert later.probability is not None
    assume(deadline < taking.timeout)
    assert sooner.probability >= later.probability - 1e-9


def test_before_the_start_the_end_is_the_earliest_start_plus_wait_plus_run_time() -> None:
    half = EIGHT_HOURS.quantile(0.5) / HOUR
    assert forecast_of(EIGHT_HOURS).median_end == after(half)
    assert forecast_of(EIGHT_HOURS, now=HOUR, not_before=3 * HOUR).median_end == after(3 + half)
    assert forecast_of(EIGHT_HOURS, now=3 * HOUR, not_before=HOUR).median_end == after(3 + half)
    waits = forecast_of(EIGHT_HOURS, not_before=3 * HOUR, wait=Wait(2 * HOUR, 2 * HOUR))
    assert abs(waits.median_end - after(5 + half)) < timedelta(seconds=1)


def test_p95_of_wait_and_run_is_less_than_the_sum_of_both_p95() -> None:
    taking, wait = run_time(around(8 * HOUR, 0.2)), Wait(2 * HOUR, 5 * HOUR)
    either = max(taking.quantile(0.5) + 5 * HOUR, taking.quantile(0.95) + 2 * HOUR) / HOUR
    both = (taking.quantile(0.95) + 5 * HOUR) / HOUR
    assert after(either) < forecast_of(taking, wait=wait).p95_end < after(both)


@pytest.mark.parametrize("wait", [Wait(600, 3600), Wait(0, 3600), Wait(600, 600)])
def test_the_quantiles_of_a_wait_match_its_median_and_p95(wait: Wait) -> None:
    assert wait.quantile(0.5) == pytest.approx(wait.median)
    assert wait.quantile(0.95) == pytest.approx(wait.p95)
    assert wait.quantile(0.01) >= 0


def test_the_latest_safe_start_leaves_the_p95_run_time() -> None:
    before = forecast_of(EIGHT_HOURS, wait=Wait(HOUR, HOUR), deadline=20 * HOUR)
    assert before.latest_safe_start == after(20 - EIGHT_HOURS.quantile(0.95) / HOUR)
    assert forecast_of(EIGHT_HOURS, started=0, now=HOUR, deadline=20 * HOUR).latest_safe_start is None


def test_without_a_deadline_there_is_no_probability_and_no_latest_safe_start() -> None:
    free = forecast_of(EIGHT_HOURS)
    assert (free.probability, free.latest_safe_start) == (None, None)


def test_a_start_at_the_latest_safe_start_meets_the_deadline_with_95_percent() -> None:
    latest = forecast_of(EIGHT_HOURS, deadline=20 * HOUR).latest_safe_start
    assert latest is not None
    starts = (latest - NOW).total_seconds()
    assert forecast_of(EIGHT_HOURS, now=starts, deadline=20 * HOUR).probability == pytest.approx(0.95, abs=1e-4)


def test_a_run_past_its_time_out_ends_now_without_success() -> None:
    late = forecast_of(run_time(around(HOUR), timeout=2 * HOUR), started=0, now=3 * HOUR, deadline=4 * HOUR)
    assert (late.median_end, late.p95_end, late.probability) == (after(3), after(3), 0)


def test_a_run_that_its_time_out_will_stop_misses_its_deadline() -> None:
    """30% after five hours: it needs more than its timeout of twelve hours, however late the deadline is."""
    pace = Pace(fraction=0.3, elapsed=5 * HOUR)
    doomed = forecast_of(
        run_time(around(8 * HOUR), timeout=12 * HOUR), started=0, now=5 * HOUR, deadline=24 * HOUR, pace=pace
    )
    assert doomed.median_end == after(12)
    assert doomed.probability is not None
    assert doomed.probability < 0.1
    waits = forecast_of(run_time(around(8 * HOUR), timeout=4 * HOUR), now=0, deadline=24 * HOUR, wait=Wait(60, 90))
    assert waits.probability is not None
    assert waits.probability < 0.1
