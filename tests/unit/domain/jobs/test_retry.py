from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.jobs.retry import RetryPolicy


def test_the_max_backoff_doubles_until_it_is_capped() -> None:
    policy = RetryPolicy(max_attempts=9, backoff_seconds=10, backoff_rate=2, max_backoff_seconds=60)
    assert [policy.max_backoff(attempt) for attempt in range(1, 6)] == [10, 20, 40, 60, 60]


def test_jitter_ranges_from_zero_to_the_max_backoff() -> None:
    policy = RetryPolicy(backoff_seconds=10)
    assert policy.backoff(1, lambda low, _high: low) == timedelta(0)
    assert policy.backoff(2, lambda _low, high: high) == timedelta(seconds=20)


@given(st.integers(1, 10_000), st.floats(0, 86_400), st.floats(1, 10), st.floats(0, 86_400))
def test_the_backoff_never_exceeds_the_cap(attempt: int, first: float, rate: float, cap: float) -> None:
    assert 0 <= RetryPolicy(99, first, rate, cap).max_backoff(attempt) <= cap


def test_no_attempt_follows_the_last_one() -> None:
    policy = RetryPolicy(max_attempts=3)
    assert [policy.allows_after(attempt) for attempt in (1, 2, 3)] == [True, True, False]
