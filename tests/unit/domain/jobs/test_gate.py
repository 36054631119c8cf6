from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.errors import Invalid
from punctual.domain.executions.work_order import LATE, aged
from punctual.domain.instant import in_milliseconds
from punctual.domain.jobs.concurrency import Concurrency, parse_concurrency
from punctual.domain.jobs.gate import Gate, Rate, WhenFull, of_entry, turn_of
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.lane import Priority

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@given(
    starts=st.integers(1, 20),
    per_seconds=st.integers(1, 600),
    waits=st.lists(st.integers(0, 120), min_size=1, max_size=80),
)
def test_no_more_than_twice_the_limit_less_one_start_in_any_span_and_no_more_than_it_on_average(
    starts: int, per_seconds: int, waits: list[int]
) -> None:
    """As with every bucket: a burst of the limit after a rest, and the rate from then on."""
    rate, now, reserved, started = Rate(starts, per_seconds), NOW, None, []
    for wait in waits:
        now += timedelta(seconds=wait)
        start, reserved = rate.reserve(reserved, now)
        assert start >= now
        started.append(start)
        assert (start, reserved) == (in_milliseconds(start), in_milliseconds(reserved)), "as it is stored"
    assert started == sorted(started)
    span = timedelta(seconds=per_seconds)
    for first in started:
        assert sum(first <= one < first + span for one in started) <= 2 * starts - 1
    lasted = (started[-1] - started[0]) / span
    assert len(started) <= starts * (lasted + 1) + 1e-6


def test_after_a_rest_as_many_as_the_limit_start_at_once() -> None:
    rate, reserved, starts = Rate(3, 60), None, []
    for _ in range(5):
        start, reserved = rate.reserve(reserved, NOW)
        starts.append((start - NOW).total_seconds())
    assert starts == [0, 0, 0, 20, 40]


@given(starts=st.integers(1, 20), per_seconds=st.integers(1, 600), others=st.integers(0, 50))
def test_before_one_that_is_put_off_are_as_many_starts_as_are_reserved(
    starts: int, per_seconds: int, others: int
) -> None:
    rate, reserved, found = Rate(starts, per_seconds), None, []
    for _ in range(others + 1):
        start, reserved = rate.reserve(reserved, NOW)
        assert rate.before(start, NOW) == sum(NOW < one < start for one in found)
        found.append(start)


def test_a_span_that_does_not_divide_evenly_lets_no_more_through() -> None:
    rate, reserved, start = Rate(7, 1), None, NOW
    for _ in range(7_001):
        start, reserved = rate.reserve(reserved, NOW)
    assert start >= NOW + timedelta(seconds=999)


@pytest.mark.parametrize(
    "gate", [Gate("job#a", 1, WhenFull.SKIP), Gate("key#t#c", 5), Gate("key#t#c", None, rate=Rate(2, 60))]
)
def test_a_gate_survives_its_way_through_an_order(gate: Gate) -> None:
    assert of_entry(gate.to_entry()) == gate


def test_only_allowing_overlap_needs_no_gate() -> None:
    assert [rule for rule in Overlap if rule.gate("a") is None] == [Overlap.ALLOW]


@given(waited=st.integers(0, 3600), priority=st.sampled_from(Priority), other=st.sampled_from(Priority))
def test_whoever_has_waited_for_twenty_minutes_longer_goes_first_whatever_the_priority(
    waited: int, priority: Priority, other: Priority
) -> None:
    earlier = turn_of("a", NOW, priority)
    later = turn_of("b", NOW + timedelta(minutes=20, seconds=waited + 1), other)
    assert earlier < later


@pytest.mark.parametrize(
    ("priority", "attempt", "late", "expected"),
    [
        (Priority.LOW, 0, timedelta(), Priority.LOW),
        (Priority.LOW, 1, timedelta(), Priority.NORMAL),
        (Priority.LOW, 0, LATE * 2, Priority.NORMAL),
        (Priority.LOW, 3, LATE * 2, Priority.HIGH),
        (Priority.NORMAL, 1, timedelta(), Priority.HIGH),
        (Priority.HIGH, 9, LATE * 9, Priority.HIGH),
    ],
)
def test_waiting_raises_priority(priority: Priority, attempt: int, late: timedelta, expected: Priority) -> None:
    assert aged(priority, attempt, late) is expected


def test_a_key_is_filled_in_from_the_parameters_and_belongs_to_its_owner() -> None:
    rule = Concurrency(key="{region}/customer-{id}", limit=2)
    assert rule.gate("team-a", {"region": "eu", "id": 7}).name == "key#team-a#eu/customer-7"


@pytest.mark.parametrize("value", [None, 1.5, True, [1], {"a": 1}])
def test_a_key_takes_text_and_whole_numbers_only(value: object) -> None:
    with pytest.raises(Invalid, match="names the parameter 'id'"):
        Concurrency(key="c-{id}", limit=1).gate("team-a", {"id": value})


def test_what_the_api_shows_of_a_key_is_what_it_takes() -> None:
    rule = Concurrency(key="c-{id}", limit=2, rate=Rate(10, 60))
    assert parse_concurrency(rule.to_spec()) == rule
