from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.executions.progress import Progress, completed, progress_of


def test_percent_is_clamped_to_0_and_100() -> None:
    assert [progress_of(percent).percent for percent in (-5, 0, 40, 100, 250)] == [0, 0, 40, 100, 100]


def test_percent_is_computed_from_done_and_total() -> None:
    assert progress_of(done=3, total=4, message="days") == Progress(percent=75, message="days", done=3, total=4)
    assert progress_of(total=4) == Progress(percent=0, total=4)
    assert progress_of(done=9, total=4) == Progress(percent=100, done=9, total=4)


def test_a_given_percent_takes_precedence_over_done_and_total() -> None:
    assert progress_of(10, "the large ones first", 3, 4) == Progress(
        percent=10, message="the large ones first", done=3, total=4
    )
    assert progress_of(10, done=3) == Progress(percent=10, done=3)


def test_a_long_message_is_truncated() -> None:
    assert progress_of(1, "x" * 501).message == "x" * 500


def test_completed_work_has_100_percent_whether_it_reported_progress_or_not() -> None:
    assert completed(None) == Progress(percent=100)
    assert completed(Progress(percent=99.4, message="rows", done=994, total=1000)) == Progress(
        percent=100, message="rows", done=1000, total=1000
    )
    assert completed(Progress(percent=40, done=4)) == Progress(percent=100, done=4)


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ({}, "give percent, or done and total"),
        ({"done": 3}, "give percent, or done and total"),
        ({"total": 0}, "total must be greater than 0, not 0"),
        ({"percent": 5, "total": -1}, "total must be greater than 0"),
        ({"percent": float("nan")}, "not NaN"),
        ({"done": float("nan"), "total": 4}, "not NaN"),
        ({"done": float("inf"), "total": float("inf")}, "or infinity"),
    ],
)
def test_a_report_without_usable_numbers_raises(report: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        progress_of(**report)


@given(st.floats(0, 1e12), st.floats(1e-6, 1e12))
def test_a_computed_percent_is_always_within_0_and_100(done: float, total: float) -> None:
    assert 0 <= progress_of(done=done, total=total).percent <= 100
