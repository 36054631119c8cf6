"""The distribution of an execution's run time."""

from __future__ import annotations

from math import exp, log
from statistics import mean

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from punctual.domain.forecasts.run_history import KEPT_RUNS, MIN_RUNS
from punctual.domain.forecasts.run_time import RunTime, run_time_of
from tests.unit.domain.forecasts.run_times import (
    ALMOST,
    DAY,
    HISTORIES,
    HOUR,
    MOMENTS,
    RUN_TIMES,
    SHARES,
    around,
    properties,
    run_time,
    without_trend,
)


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
def test_no_run_exceeds_its_timeout(runs: list[int], timeout: int, share: float) -> None:
    taking = run_time_of(runs, None, timeout)
    assert taking.quantile(share) <= timeout
    assert taking.end_probability(timeout) == 1


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
def test_without_information_the_run_time_is_uniform_up_to_the_timeout(share: float) -> None:
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
