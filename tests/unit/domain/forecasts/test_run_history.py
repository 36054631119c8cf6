"""The kept run times of a job, and the run time expected from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.forecasts.run_history import KEPT_RUNS, append_run_times, expected_seconds
from tests.unit.domain.forecasts.run_times import HOUR


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
