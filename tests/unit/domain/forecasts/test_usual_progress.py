from __future__ import annotations

import pytest

from punctual.domain.forecasts.usual_progress import usual_progress


def test_the_usual_progress_is_the_mean_of_what_earlier_runs_had_done_by_then() -> None:
    assert usual_progress([100, 100, 100, 50, 200], 50) == pytest.approx((50 + 50 + 50 + 100 + 25) / 5)


def test_a_run_that_is_longer_than_all_earlier_ones_would_usually_be_done() -> None:
    assert usual_progress([10, 20, 0, 20, 10], 60) == 100


def test_four_runs_are_too_few_for_a_usual_progress() -> None:
    assert usual_progress([10] * 4, 5) is None
