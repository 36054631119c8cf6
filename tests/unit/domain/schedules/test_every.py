"""A schedule with a fixed interval."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.instant import from_text
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import parse_schedule
from tests.unit.domain.schedules.submitted import SUBMITTED_AT, dues, schedule_of


def test_an_interval_is_counted_from_its_submission():
    schedule = parse_schedule({"every_seconds": 60}, now=SUBMITTED_AT)
    assert schedule == Every(60, SUBMITTED_AT)
    assert schedule.next_after(SUBMITTED_AT - timedelta(days=1)) == SUBMITTED_AT + timedelta(seconds=60)
    assert schedule.next_after(SUBMITTED_AT) == SUBMITTED_AT + timedelta(seconds=60)
    assert schedule.next_after(SUBMITTED_AT + timedelta(seconds=60)) == SUBMITTED_AT + timedelta(seconds=120)
    assert schedule.next_after(SUBMITTED_AT + timedelta(seconds=179.5)) == SUBMITTED_AT + timedelta(seconds=180)


def test_an_interval_with_a_start_is_counted_from_its_start():
    hourly = schedule_of(every_seconds=3600, starts_at="2026-12-01T00:30:00Z")
    assert dues(hourly, limit=2) == [from_text("2026-12-01T00:30Z"), from_text("2026-12-01T01:30Z")]
    since_long = schedule_of(every_seconds=3600, starts_at="2020-01-01T00:30:00Z")
    assert since_long.next_after(SUBMITTED_AT) == from_text("2026-11-16T12:30Z")


intervals = st.integers(1, 31_622_400)
instants = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(intervals, instants, instants)
def test_an_interval_is_due_at_every_multiple_of_its_seconds(seconds, anchor, instant):
    schedule = Every(seconds, anchor)
    following, previous = schedule.next_after(instant), schedule.previous_before(instant)
    assert following > instant
    assert (following - anchor) % timedelta(seconds=seconds) == timedelta(0)
    assert following > anchor
    if previous is None:
        assert instant <= anchor + timedelta(seconds=seconds)
    else:
        assert previous < instant <= schedule.next_after(previous)
