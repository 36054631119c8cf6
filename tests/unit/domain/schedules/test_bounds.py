"""Bounds of a schedule: start, end, maximum number of runs and jitter."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.instant import from_text
from punctual.domain.schedules.bounds import Bounded
from punctual.domain.schedules.schedule import from_stored, parse_schedule
from tests.unit.domain.schedules.submitted import SUBMITTED_AT, dues, schedule_of


def test_the_start_and_the_end_are_inclusive():
    daily = schedule_of(cron="0 2 * * *", starts_at="2026-12-01T02:00:00Z", ends_at="2026-12-03T03:00:00+01:00")
    assert dues(daily) == [from_text(f"2026-12-0{n}T02:00Z") for n in (1, 2, 3)]
    assert daily.next_after(from_text("2026-12-03T02:00Z")) is None
    assert daily.previous_before(from_text("2027-01-01T00:00Z")) == from_text("2026-12-03T02:00Z")
    assert daily.previous_before(from_text("2026-12-01T02:00Z")) is None


@pytest.mark.parametrize(
    "spec",
    [{"cron": "*/20 * * * *"}, {"every_seconds": 60}, {"every_seconds": 60, "starts_at": "2026-11-20T00:00:00Z"}],
)
@pytest.mark.parametrize("runs", [1, 7])
def test_max_runs_is_counted_from_the_submission(spec, runs):
    schedule = schedule_of(**spec, max_runs=runs)
    assert len(dues(schedule)) == runs
    assert dues(schedule)[-1] == schedule.last_at
    assert dues(schedule) == dues(schedule_of(**spec))[:runs]


def test_a_run_at_the_instant_of_submission_counts():
    schedule = schedule_of(every_seconds=60, starts_at="2026-11-16T12:00:00.123Z", max_runs=2)
    assert dues(schedule) == [SUBMITTED_AT, SUBMITTED_AT + timedelta(seconds=60)]


def test_the_earlier_of_end_and_max_runs_ends_the_schedule():
    early = schedule_of(cron="0 2 * * *", ends_at="2026-11-19T00:00:00Z", max_runs=5)
    assert len(dues(early)) == 2
    late = schedule_of(cron="0 2 * * *", ends_at="2026-12-19T00:00:00Z", max_runs=5)
    assert len(dues(late)) == 5
    assert late.until == late.last_at == from_text("2026-11-21T02:00Z")


def test_a_last_run_beyond_the_horizon_is_not_computed():
    yearly = schedule_of(cron="0 0 1 1 *", max_runs=10_000)
    assert yearly.last_at is None
    assert yearly.next_after(SUBMITTED_AT) == from_text("2027-01-01T00:00Z")
    assert schedule_of(every_seconds=31_622_400, max_runs=10_000).last_at is None


def test_skipped_dates_do_not_count_towards_max_runs():
    schedule = schedule_of(cron="0 2 * * *", skip=["weekends"], max_runs=5)
    assert schedule.last_at == from_text("2026-11-23T02:00Z")


SPECS = [
    {"cron": "0 2 * * *", "starts_at": "2026-12-01T02:00:00Z"},
    {"every_seconds": 60, "ends_at": "2026-12-01T02:00:00Z", "jitter_seconds": 60},
    {"cron": "0 2 * * *", "max_runs": 3, "skip": ["weekends"], "on_skip": "next_business_day"},
    {"every_seconds": 60, "starts_at": "2026-12-01T02:00:00Z", "max_runs": 10_000, "skip": ["2026-12-25"]},
]


@pytest.mark.parametrize("spec", SPECS)
def test_a_bounded_schedule_round_trips_through_api_and_storage(spec):
    schedule = schedule_of(**spec)
    assert isinstance(schedule, Bounded)
    assert (schedule.kind, schedule.recurring) == ("cron" if "cron" in spec else "every", True)
    assert parse_schedule(schedule.to_spec(), now=SUBMITTED_AT) == schedule
    stored = json.loads(json.dumps(schedule.to_stored()))
    assert from_stored(stored) == schedule
    assert stored["kind"] == schedule.kind


def test_a_schedule_without_bounds_is_not_wrapped():
    for spec in ({"cron": "0 2 * * *"}, {"every_seconds": 60}, {"queue": True}, {"at": "2026-12-01T00:00:00Z"}):
        schedule = schedule_of(**spec)
        assert not isinstance(schedule, Bounded)
        assert schedule.jitter_seconds == 0


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"starts_at": "2026-12-02T00:00Z", "ends_at": "2026-12-01T00:00Z"}, "ends_at", "before schedule.starts_at"),
        ({"ends_at": "2026-11-16T11:59Z"}, "ends_at", "is in the past"),
        ({"starts_at": "2037-01-01T00:00Z"}, "starts_at", "ten years"),
        ({"starts_at": "2026-12-02"}, "starts_at", "with an offset or a Z"),
        ({"ends_at": 7}, "ends_at", "must be text"),
        ({"max_runs": 0}, "max_runs", "from 1 to 10,000"),
        ({"max_runs": 10_001}, "max_runs", "from 1 to 10,000"),
        ({"max_runs": True}, "max_runs", "whole number"),
        ({"jitter_seconds": -1}, "jitter_seconds", "from 0 to 3,600"),
        ({"jitter_seconds": 3601}, "jitter_seconds", "from 0 to 3,600"),
        ({"jitter_seconds": 1.5}, "jitter_seconds", "whole number"),
    ],
)
def test_an_invalid_bound_is_rejected_naming_the_field(spec, field, message):
    for recurring in ({"cron": "0 2 * * *"}, {"every_seconds": 7200}):
        with pytest.raises(Invalid) as refused:
            schedule_of(**recurring, **spec)
        assert refused.value.field == f"schedule.{field}"
        assert message in refused.value.message


def test_jitter_longer_than_the_interval_is_rejected_naming_both():
    with pytest.raises(Invalid, match=r"61 is longer than schedule.every_seconds, 60") as refused:
        schedule_of(every_seconds=60, jitter_seconds=61)
    assert refused.value.field == "schedule.jitter_seconds"
    assert schedule_of(every_seconds=60, jitter_seconds=60).jitter_seconds == 60


@pytest.mark.parametrize(
    ("cron", "most"),
    [("* * * * *", 60), ("*/15 * * * *", 900), ("0,59 * * * *", 60), ("0 9-17 * * MON-FRI", 3600), ("0 0 1 1 *", 3600)],
)
def test_jitter_longer_than_the_shortest_gap_of_a_cron_is_rejected_naming_both(cron: str, most: int) -> None:
    assert schedule_of(cron=cron, jitter_seconds=most).jitter_seconds == most
    if most < 3600:
        with pytest.raises(Invalid, match=r"schedule\.cron.*give at most that") as refused:
            schedule_of(cron=cron, jitter_seconds=most + 1)
        assert refused.value.field == "schedule.jitter_seconds"


@pytest.mark.parametrize("day", ["2026-03-07", "2026-10-31"])
def test_a_clock_change_does_not_make_jitter_too_long(day: str) -> None:
    spec = {"cron": "30 * * * *", "timezone": "America/New_York", "fold": "both", "jitter_seconds": 3600}
    schedule = parse_schedule(spec, now=datetime.fromisoformat(f"{day}T12:00:00Z"))
    assert schedule.jitter_seconds == 3600
