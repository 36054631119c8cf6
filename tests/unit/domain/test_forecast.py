from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.forecast import KEPT_RUNS, expected_seconds, noted

HOUR = 3600


@pytest.mark.parametrize("runs", [(), (60,), (60, 60, 60, 60)])
def test_few_runs_are_not_relied_on(runs: tuple[int, ...]) -> None:
    assert expected_seconds(runs, declared=8 * HOUR, timeout=12 * HOUR) == 8 * HOUR


def test_without_runs_and_without_a_declaration_the_time_out_is_expected() -> None:
    assert expected_seconds((), declared=None, timeout=12 * HOUR) == 12 * HOUR


def test_five_runs_are_believed_before_the_declaration() -> None:
    assert expected_seconds((50, 40, 30, 20, 10), declared=8 * HOUR, timeout=12 * HOUR) == 40


def test_nine_runs_in_ten_take_no_longer_than_expected() -> None:
    assert expected_seconds(tuple(range(1, 51)), declared=None, timeout=HOUR) == 45


@given(st.lists(st.integers(0, HOUR), min_size=4, max_size=60), st.integers(HOUR, 1000 * HOUR))
def test_one_outlier_is_never_what_is_expected(runs: list[int], outlier: int) -> None:
    assert expected_seconds([*runs, outlier], declared=None, timeout=0) <= max(runs)


@given(st.lists(st.integers(0, HOUR), min_size=5, max_size=60))
def test_however_few_the_runs_four_in_five_take_no_longer_than_expected(runs: list[int]) -> None:
    expected = expected_seconds(runs, declared=None, timeout=0)
    assert expected in runs
    assert sum(run <= expected for run in runs) >= len(runs) * 0.8


def test_the_newest_runs_are_kept_in_order_and_the_oldest_forgotten() -> None:
    runs = noted(range(KEPT_RUNS), 1000, 1001)
    assert len(runs) == KEPT_RUNS
    assert runs[0] == 2
    assert runs[-2:] == (1000, 1001)
