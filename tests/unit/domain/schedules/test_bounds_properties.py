"""Property tests for bounds, against a reference that checks every due instant."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from punctual.domain.instant import to_text
from punctual.domain.schedules.bounds import Bounded
from punctual.domain.schedules.schedule import parse_schedule
from tests.unit.domain.schedules.skipped_dates import START, bases, dues, dues_backwards, hours, skipping


@settings(max_examples=60, deadline=None)
@given(bases, skipping, hours, st.integers(0, 500), hours)
def test_bounds_keep_exactly_the_instants_between_them(base, skip, begin, length, after):
    starts_at, ends_at = START + timedelta(hours=begin), START + timedelta(hours=begin + length)
    assume(ends_at >= START)
    bounds = {"starts_at": to_text(starts_at), "ends_at": to_text(ends_at)}
    schedule = parse_schedule({**base, **skip, **bounds}, now=START)
    assert isinstance(schedule, Bounded)
    instant = START + timedelta(hours=after)
    end = instant + timedelta(hours=500)
    unbounded = dues(schedule.base, instant, end)
    within = [due for due in unbounded if starts_at <= due <= ends_at]
    assert dues(schedule, instant, end) == within
    assert dues_backwards(schedule, instant, end) == within


@settings(max_examples=100, deadline=None)
@given(bases, skipping, st.integers(1, 60), st.one_of(st.none(), hours))
def test_max_runs_gives_exactly_that_many_runs(base, skip, runs, begin):
    start = {} if begin is None else {"starts_at": to_text(START + timedelta(hours=begin))}
    schedule = parse_schedule({**base, **skip, **start, "max_runs": runs}, now=START)
    assert len(dues(schedule, START, START + timedelta(days=4000))) == runs
    assert schedule.next_after(schedule.last_at) is None
