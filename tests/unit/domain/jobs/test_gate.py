from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.instant import in_milliseconds
from punctual.domain.jobs.gate import Gate, Rate, WhenFull, of_entry, queue_key
from punctual.domain.lane import Priority

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@given(
    starts=st.integers(1, 20),
    per_seconds=st.integers(1, 600),
    waits=st.lists(st.integers(0, 120), min_size=1, max_size=80),
)
def test_a_rate_is_kept_on_average_and_any_interval_has_less_than_twice_its_starts(
    starts: int, per_seconds: int, waits: list[int]
) -> None:
    """Token bucket: a burst up to the limit after an idle period, then the steady rate."""
    rate, now, reserved, started = Rate(starts, per_seconds), NOW, None, []
    for wait in waits:
        now += timedelta(seconds=wait)
        start, reserved = rate.reserve(reserved, now)
        assert start >= now
        started.append(start)
        assert (start, reserved) == (in_milliseconds(start), in_milliseconds(reserved)), "whole milliseconds, as stored"
    assert started == sorted(started)
    span = timedelta(seconds=per_seconds)
    for first in started:
        assert sum(first <= start < first + span for start in started) <= 2 * starts - 1
    lasted = (started[-1] - started[0]) / span
    assert len(started) <= starts * (lasted + 1) + 1e-6


def test_after_an_idle_period_a_burst_up_to_the_limit_starts_at_once() -> None:
    rate, reserved, starts = Rate(3, 60), None, []
    for _ in range(5):
        start, reserved = rate.reserve(reserved, NOW)
        starts.append((start - NOW).total_seconds())
    assert starts == [0, 0, 0, 20, 40]


@given(starts=st.integers(1, 20), per_seconds=st.integers(1, 600), others=st.integers(0, 50))
def test_the_starts_before_a_delayed_start_are_those_reserved(starts: int, per_seconds: int, others: int) -> None:
    rate, reserved, found = Rate(starts, per_seconds), None, []
    for _ in range(others + 1):
        start, reserved = rate.reserve(reserved, NOW)
        assert rate.before(start, NOW) == sum(NOW < other < start for other in found)
        found.append(start)


def test_rounding_the_interval_never_exceeds_the_rate() -> None:
    rate, reserved, start = Rate(7, 1), None, NOW
    for _ in range(7_001):
        start, reserved = rate.reserve(reserved, NOW)
    assert start >= NOW + timedelta(seconds=999)


@pytest.mark.parametrize(
    "gate", [Gate("job#a", 1, WhenFull.SKIP), Gate("key#t#c", 5), Gate("key#t#c", None, rate=Rate(2, 60))]
)
def test_a_gate_round_trips_through_a_work_order(gate: Gate) -> None:
    assert of_entry(gate.to_entry()) == gate


@given(waited=st.integers(0, 3600), priority=st.sampled_from(Priority), other=st.sampled_from(Priority))
def test_a_waiter_twenty_minutes_ahead_precedes_any_priority(waited: int, priority: Priority, other: Priority) -> None:
    earlier = queue_key("a", NOW, priority)
    later = queue_key("b", NOW + timedelta(minutes=20, seconds=waited + 1), other)
    assert earlier < later
