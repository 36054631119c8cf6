from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import exp, log
from statistics import mean

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from punctual.domain.forecasts.forecast import Forecast, Pace, Wait, forecast, remaining
from punctual.domain.forecasts.run_history import KEPT_RUNS, MIN_RUNS, append_run_times, expected_seconds
from punctual.domain.forecasts.run_time import RunTime, run_time_of

HOUR = 3600
DAY = 24 * HOUR
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
ALMOST = 1 - 1e-9
"""Tolerance for floating-point sums."""

SECONDS = st.integers(0, 3 * DAY)
SHARES = st.floats(0.01, 0.99)
MOMENTS = st.floats(0, 4 * DAY)
HISTORIES = st.lists(SECONDS, min_size=MIN_RUNS, max_size=KEPT_RUNS)
RUN_TIMES = st.builds(
    run_time_of,
    st.one_of(st.just([]), HISTORIES),
    st.one_of(st.none(), st.integers(1, 3 * DAY)),
    st.integers(1, 3 * DAY),
)
WAITS = st.builds(Wait, st.floats(0, DAY), st.floats(0, DAY))
FRACTIONS = st.floats(0, 1)
properties = settings(max_examples=200, deadline=None, derandomize=True)


@st.composite
def paces(draw: st.DrawFn) -> Pace:
    pace = Pace(fraction=draw(FRACTIONS), elapsed=draw(st.floats(1, 4 * DAY)))
    if draw(st.booleans()):
        return replace(pace, earlier_fraction=draw(FRACTIONS), earlier_elapsed=draw(MOMENTS))
    return pace


def around(seconds: float, share: float = 0.05, runs: int = KEPT_RUNS, seed: int = 1) -> list[int]:
    """Random run times around so many seconds."""
    draw = random.Random(seed)
    return [round(seconds * exp(draw.gauss(0, share))) for _ in range(runs)]


def without_trend(runs: list[int]) -> list[int]:
    """The same runs in an order that shows no drift."""
    rising = sorted(runs)
    return [*rising[::2], *reversed(rising[1::2])]


def run_time(runs: list[int], timeout: int = 7 * DAY) -> RunTime:
    return run_time_of(runs, None, timeout)


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


@pytest.mark.parametrize("runs", [(), (60,), (60, 60, 60, 60)])
def test_fewer_than_five_runs_are_ignored(runs: tuple[int, ...]) -> None:
    assert expected_seconds(runs, declared=8 * HOUR, timeout=12 * HOUR) == 8 * HOUR


def test_without_runs_and_declaration_the_time_out_is_expected() -> None:
    assert expected_seconds((), declared=None, timeout=12 * HOUR) == 12 * HOUR


def test_five_runs_take_precedence_over_the_declaration() -> None:
    assert expected_seconds((50, 40, 30, 20, 10), declared=8 * HOUR, timeout=12 * HOUR) == 40


def test_nine_runs_in_ten_take_no_longer_than_expected() -> None:
    assert expected_seconds(tuple(range(1, 51)), declared=None, timeout=HOUR) == 45


@given(st.lists(st.integers(0, HOUR), min_size=4, max_size=60), st.integers(HOUR, 1000 * HOUR))
def test_a_single_outlier_is_never_the_expected_run_time(runs: list[int], outlier: int) -> None:
    assert expected_seconds([*runs, outlier], declared=None, timeout=0) <= max(runs)


@given(st.lists(st.integers(0, HOUR), min_size=5, max_size=60))
def test_with_few_runs_at_least_four_in_five_take_no_longer_than_expected(runs: list[int]) -> None:
    expected = expected_seconds(runs, declared=None, timeout=0)
    assert expected in runs
    assert sum(run <= expected for run in runs) >= len(runs) * 0.8


def test_the_newest_runs_are_kept_in_order_and_the_oldest_dropped() -> None:
    runs = append_run_times(range(KEPT_RUNS), 1000, 1001)
    assert len(runs) == KEPT_RUNS
    assert runs[0] == 2
    assert runs[-2:] == (1000, 1001)


# Run time


@properties
@given(RUN_TIMES, st.floats(0, 1), st.floats(0, 1), MOMENTS)
def test_quantiles_and_probabilities_are_monotonic(taking: RunTime, one: float, other: float, elapsed: float) -> None:
    taking = taking.given(elapsed)
    assert taking.quantile(min(one, other)) * ALMOST <= taking.quantile(max(one, other))
    assert (
        taking.end_probability(min(one, other) * DAY) * ALMOST <= taking.end_probability(max(one, other) * DAY) + 1e-9
    )


@properties
@given(RUN_TIMES, SHARES, MOMENTS)
def test_the_end_probability_is_the_inverse_of_the_quantile(taking: RunTime, share: float, elapsed: float) -> None:
    taking = taking.given(elapsed)
    assume(elapsed < taking.timeout)
    seconds = taking.quantile(share)
    expected = 1.0 if seconds >= taking.timeout else pytest.approx(share, abs=1e-5)
    assert taking.end_probability(seconds) == expected


@properties
@given(RUN_TIMES, SHARES, MOMENTS, MOMENTS)
def test_a_longer_elapsed_time_never_shortens_the_total_run_time(
    taking: RunTime, share: float, one: float, other: float
) -> None:
    sooner, later = (taking.given(elapsed).quantile(share) for elapsed in sorted((one, other)))
    assert sooner >= min(one, other)
    assert later >= max(one, other)
    assert sooner * ALMOST <= later


@properties
@given(RUN_TIMES, MOMENTS, MOMENTS)
def test_the_longest_given_elapsed_time_applies(taking: RunTime, one: float, other: float) -> None:
    assert taking.given(one).given(other) == taking.given(max(one, other))


@properties
@given(HISTORIES, st.integers(1, 3 * DAY), SHARES)
def test_no_run_exceeds_its_time_out(runs: list[int], timeout: int, share: float) -> None:
    taking = run_time_of(runs, None, timeout)
    assert taking.quantile(share) <= timeout
    assert taking.end_probability(timeout) == 1


def test_a_run_past_its_time_out_ends_now_without_success() -> None:
    late = forecast_of(run_time(around(HOUR), timeout=2 * HOUR), started=0, now=3 * HOUR, deadline=4 * HOUR)
    assert (late.median_end, late.p95_end, late.probability) == (after(3), after(3), 0)


def test_a_run_that_its_time_out_will_stop_misses_its_deadline() -> None:
    """30% after five hours: it needs more than its time-out of twelve hours, however late the deadline is."""
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


@properties
@given(st.lists(st.integers(1, 100), min_size=2, max_size=24), st.integers(2, 20))
def test_more_variation_between_runs_widens_the_forecast(differences: list[int], times: int) -> None:
    """The same runs around the same median, once with all deviations multiplied by ``times``."""

    def varying(by: int) -> RunTime:
        either_way = [sign * by * one for one in differences for sign in (-1, 1)]
        return run_time(without_trend([10**5 + 10 * one for one in (*either_way, 0)]))

    narrow, wide = varying(1), varying(times)
    assert wide.quantile(0.5) == pytest.approx(narrow.quantile(0.5), abs=1)
    assert wide.quantile(0.95) - wide.quantile(0.5) > narrow.quantile(0.95) - narrow.quantile(0.5)


@properties
@given(st.lists(st.integers(1, HOUR), min_size=KEPT_RUNS - 1, max_size=KEPT_RUNS - 1), st.integers(HOUR, 7 * DAY))
def test_one_outlier_in_fifty_moves_p95_no_further_than_to_the_longest_other_run(runs: list[int], outlier: int) -> None:
    assert run_time(without_trend([*runs, outlier])).quantile(0.95) <= max(runs) + 0.5


@pytest.mark.parametrize("place", [0, 25, 49])
def test_one_outlier_in_fifty_hardly_moves_p95(place: int) -> None:
    runs = around(8 * HOUR)
    usual = run_time(runs).quantile(0.95)
    runs[place] = 100 * HOUR
    assert usual * 0.98 <= run_time(runs).quantile(0.95) <= usual * 1.05


@pytest.mark.parametrize("runs", [MIN_RUNS, 10, 19])
def test_one_outlier_among_few_runs_bounds_p95_and_does_not_move_the_median(runs: int) -> None:
    taking = run_time([*around(HOUR, runs=runs - 1), 50 * HOUR])
    assert taking.quantile(0.95) <= 50 * HOUR * 1.5
    assert taking.quantile(0.5) == pytest.approx(HOUR, rel=0.1)


@pytest.mark.parametrize("each", [0.01, -0.01, 0.05])
def test_a_drift_is_extrapolated_to_the_next_run(each: float) -> None:
    runs = [round(seconds * exp(each * number)) for number, seconds in enumerate(around(2 * HOUR))]
    following = 2 * HOUR * exp(each * KEPT_RUNS)
    assert run_time(runs).quantile(0.5) == pytest.approx(following, rel=0.04)
    assert abs(log(run_time(without_trend(runs)).quantile(0.5) / following)) > 20 * abs(each)


def test_an_extrapolated_drift_widens_the_forecast() -> None:
    def width(each: float, seed: int) -> float:
        runs = [round(one * exp(each * i)) for i, one in enumerate(around(2 * HOUR, runs=12, seed=seed))]
        return log(run_time(runs).quantile(0.95) / run_time(runs).quantile(0.5))

    assert mean(width(0.1, seed) for seed in range(40)) > 1.02 * mean(width(0, seed) for seed in range(40))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_an_exact_drift_still_has_some_spread(share: float) -> None:
    taking = run_time([10 * 2**number for number in range(12)])
    assert taking.quantile(share) == pytest.approx(10 * 2**12, rel=0.02)
    assert taking.end_probability(taking.quantile(share)) == pytest.approx(share, abs=1e-5)


def test_an_insignificant_drift_is_ignored() -> None:
    runs = around(2 * HOUR)
    assert run_time(runs) == run_time(without_trend(runs))


def test_with_fewer_than_five_runs_the_declaration_is_the_median() -> None:
    taking = run_time_of((60, 60, 60, 60), HOUR, DAY)
    assert taking.quantile(0.5) == pytest.approx(HOUR)
    assert taking.quantile(0.95) == pytest.approx(1.5 * HOUR)
    assert run_time_of((60, 60, 60, 60, 60), HOUR, DAY).quantile(0.5) == pytest.approx(60, abs=1)


def test_a_declaration_beyond_the_time_out_is_capped_at_it() -> None:
    assert run_time_of((), 2 * HOUR, HOUR).quantile(0.5) == HOUR


def test_a_run_far_beyond_its_declaration_needs_a_share_of_its_elapsed_time_more() -> None:
    taking = run_time_of((), HOUR, 7 * DAY).given(10 * HOUR)
    assert taking.quantile(0.5) > 10.5 * HOUR
    assert taking.quantile(0.95) > 14 * HOUR


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_without_information_the_run_time_is_uniform_up_to_the_time_out(share: float) -> None:
    taking = run_time_of((), None, HOUR)
    assert taking.quantile(share) == pytest.approx(share * HOUR)
    assert taking.given(HOUR / 2).quantile(share) == pytest.approx((1 + share) * HOUR / 2)


@pytest.mark.parametrize("runs", [MIN_RUNS, 18, 19, 20, KEPT_RUNS])
def test_quantiles_are_strictly_increasing_between_runs(runs: int) -> None:
    taking = run_time(without_trend(around(HOUR, runs=runs)))
    seconds = [taking.quantile(thousandth / 1000) for thousandth in range(1001)]
    assert seconds == sorted(seconds)
    assert len(set(seconds)) == len(seconds)


@pytest.mark.parametrize("seconds", [0, 1, 60, 8 * HOUR])
def test_identical_runs_still_have_some_spread(seconds: int) -> None:
    taking = run_time([seconds] * KEPT_RUNS)
    assert taking.quantile(0.5) == pytest.approx(seconds, abs=0.5)
    assert taking.quantile(0.5) < taking.quantile(0.95) <= seconds + 0.5
    assert taking.given(seconds + 1).quantile(0.95) > seconds + 1 + seconds / 100


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
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] > 1 / 60


def test_without_history_the_pace_determines_the_forecast() -> None:
    assert hours_in_all(2, 0.1, taking=run_time_of((), None, 7 * DAY)) == pytest.approx(20, rel=0.05)


def test_a_recent_slowdown_delays_the_end_and_a_speed_up_advances_it() -> None:
    def ends(earlier: float | None) -> float:
        pace = Pace(fraction=0.5, elapsed=4 * HOUR, earlier_fraction=earlier, earlier_elapsed=3 * HOUR)
        return remaining(EIGHT_HOURS, 4 * HOUR, pace).quantile(0.5) / HOUR

    steady = ends(0.375)
    assert steady == pytest.approx(ends(None))
    assert ends(0.48) > steady + 3
    assert ends(0.1) < steady - 1
    assert ends(0.9) == ends(0.5)


def test_a_stalled_run_ends_later_with_every_minute() -> None:
    def stalled(minutes: int) -> Forecast:
        elapsed = 4 * HOUR + 60 * minutes
        pace = Pace(fraction=0.5, elapsed=elapsed, earlier_fraction=0.5, earlier_elapsed=4 * HOUR)
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
            pace = replace(pace, earlier_fraction=fraction, earlier_elapsed=stalled_at)
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
