"""Histograms: buckets and quantiles."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.statistics.histogram import duration_bucket, middle_of, quantile

DURATIONS = st.integers(1, 30 * 86_400_000)


@given(DURATIONS)
def test_the_middle_of_a_bucket_is_within_6_percent(milliseconds: int) -> None:
    assert abs(middle_of(duration_bucket(milliseconds)) * 1000 - milliseconds) <= 0.06 * milliseconds + 1


@given(st.lists(DURATIONS, min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_is_within_6_percent_of_the_exact_one(durations: list[int], share: float) -> None:
    exact = sorted(durations)[-(-int(share * 100) * len(durations) // 100) - 1]
    found = quantile(Counter(map(duration_bucket, durations)), share)
    assert found is not None
    assert abs(found * 1000 - exact) <= 0.06 * exact + 1


def test_an_empty_histogram_has_no_quantile() -> None:
    assert quantile({}, 0.5) is None


def test_no_duration_and_a_negative_one_are_in_the_first_bucket() -> None:
    assert duration_bucket(0) == duration_bucket(-5) == duration_bucket(1) == 0
