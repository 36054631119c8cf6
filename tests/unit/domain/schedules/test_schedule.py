"""The kinds of schedule: parsing, storage, API representation and preview."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.errors import Invalid, Unreadable
from punctual.domain.instant import from_text
from punctual.domain.schedules.cron import Cron, Fold, Gap, OccurrenceFlag
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import At, Now, Queue, from_stored, parse_schedule, preview

NOW = datetime(2026, 11, 15, 7, 0, 0, 123000, UTC)
SPECS = [
    None,
    {"at": "2026-12-24T18:00:00.000Z"},
    {"cron": "0 2 * * SUN", "timezone": "America/New_York", "gap": "skip", "fold": "both"},
    {"every_seconds": 60},
    {"queue": True},
]


def refusal(spec: object) -> Invalid:
    with pytest.raises(Invalid) as refused:
        parse_schedule(spec, now=NOW)
    return refused.value


def test_a_job_without_a_schedule_is_due_at_its_submission():
    schedule = parse_schedule(None, now=NOW)
    assert schedule == Now(NOW)
    assert schedule.next_after(NOW - timedelta(milliseconds=1)) == NOW
    assert schedule.next_after(NOW) is None


def test_at_is_due_once_and_may_have_any_utc_offset():
    schedule = parse_schedule({"at": "2026-11-15T08:30:00+01:00"}, now=NOW)
    assert schedule == At(from_text("2026-11-15T07:30:00Z"))
    assert schedule.next_after(NOW) == schedule.at
    assert schedule.next_after(schedule.at) is None


def test_at_may_be_a_few_seconds_in_the_past_because_of_clock_skew():
    assert parse_schedule({"at": "2026-11-15T06:59:56Z"}, now=NOW).kind == "at"


def test_cron_has_default_time_zone_and_policies():
    assert parse_schedule({"cron": "0 2 * * *"}, now=NOW) == Cron("0 2 * * *", "UTC", Gap.SHIFT, Fold.FIRST)
    assert parse_schedule(SPECS[2], now=NOW) == Cron("0 2 * * SUN", "America/New_York", Gap.SKIP, Fold.BOTH)


def test_an_interval_is_counted_from_its_submission():
    schedule = parse_schedule({"every_seconds": 60}, now=NOW)
    assert schedule == Every(60, NOW)
    assert schedule.next_after(NOW - timedelta(days=1)) == NOW + timedelta(seconds=60)
    assert schedule.next_after(NOW) == NOW + timedelta(seconds=60)
    assert schedule.next_after(NOW + timedelta(seconds=60)) == NOW + timedelta(seconds=120)
    assert schedule.next_after(NOW + timedelta(seconds=179.5)) == NOW + timedelta(seconds=180)


def test_a_queue_job_is_never_due_by_time():
    schedule = parse_schedule({"queue": True}, now=NOW)
    assert schedule == Queue()
    assert schedule.next_after(NOW) is None


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({}, "schedule", "needs one of at, cron, every_seconds, queue; omit schedule to run now"),
        ("0 2 * * *", "schedule", "must be an object"),
        ({"timezone": "UTC"}, "schedule", "needs one of"),
        ({"at": "2027-01-01T00:00Z", "cron": "0 2 * * *"}, "schedule", "has at and cron"),
        ({"every_seconds": 5, "queue": True}, "schedule", "has every_seconds and queue"),
        ({"crom": "0 2 * * *"}, "schedule.crom", "is not a known field"),
        ({"at": "2027-01-01T00:00Z", "timezone": "UTC"}, "schedule.timezone", "requires cron"),
        ({"every_seconds": 5, "fold": "both"}, "schedule.fold", "requires cron"),
        ({"at": "2026-11-15T06:59:54Z"}, "schedule.at", "is in the past"),
        ({"at": "2037-01-01T00:00Z"}, "schedule.at", "ten years"),
        ({"at": "2027-01-01T00:00:00"}, "schedule.at", "an offset or a Z"),
        ({"at": "2027-01-01"}, "schedule.at", "an offset or a Z"),
        ({"at": "tomorrow"}, "schedule.at", "is not an instant"),
        ({"at": "0001-01-01T00:00:00+14:00"}, "schedule.at", "is not an instant"),
        ({"at": 1_800_000_000}, "schedule.at", "must be text"),
        ({"cron": "0 2 * *"}, "schedule.cron", "has 4 fields"),
        ({"cron": None}, "schedule.cron", "must be text"),
        ({"cron": "0 2 * * *", "timezone": "Mars"}, "schedule.timezone", "not an IANA time zone"),
        ({"cron": "0 2 * * *", "gap": "jump"}, "schedule.gap", "shift, skip"),
        ({"cron": "0 2 * * *", "fold": ["both"]}, "schedule.fold", "first, last, both"),
        ({"every_seconds": 0}, "schedule.every_seconds", "from 1 to 31,622,400"),
        ({"every_seconds": 31_622_401}, "schedule.every_seconds", "from 1 to 31,622,400"),
        ({"every_seconds": 60.0}, "schedule.every_seconds", "whole number"),
        ({"every_seconds": True}, "schedule.every_seconds", "whole number"),
        ({"every_seconds": "60"}, "schedule.every_seconds", "whole number"),
        ({"queue": False}, "schedule.queue", "must be true"),
        ({"queue": 1}, "schedule.queue", "must be true"),
    ],
)
def test_an_invalid_schedule_is_rejected_naming_the_field(spec, field, message):
    refused = refusal(spec)
    assert refused.field == field
    assert message in refused.message


@pytest.mark.parametrize("spec", SPECS)
def test_a_schedule_round_trips_through_its_spec(spec):
    schedule = parse_schedule(spec, now=NOW)
    assert schedule.to_spec() == spec
    assert parse_schedule(schedule.to_spec(), now=NOW) == schedule


@pytest.mark.parametrize("spec", SPECS)
def test_a_schedule_round_trips_through_storage(spec):
    schedule = parse_schedule(spec, now=NOW)
    assert from_stored(json.loads(json.dumps(schedule.to_stored()))) == schedule


def test_an_instant_is_truncated_to_milliseconds():
    for spec in (None, {"every_seconds": 5}, {"at": "2026-11-15T08:00:00.123456Z"}):
        schedule = parse_schedule(spec, now=NOW.replace(microsecond=123456))
        assert from_stored(schedule.to_stored()) == schedule


@pytest.mark.parametrize("stored", [{}, {"kind": "tide"}, {"kind": "at"}, {"kind": "at", "at": "soon"}, None])
def test_a_malformed_stored_schedule_is_unreadable(stored):
    with pytest.raises(Unreadable):
        from_stored(stored)


def test_only_cron_and_interval_schedules_recur():
    kinds = {schedule.kind: schedule.recurring for schedule in (parse_schedule(spec, now=NOW) for spec in SPECS)}
    assert kinds == {"now": False, "at": False, "cron": True, "every": True, "queue": False}


def test_a_preview_counts_only_runs_and_also_lists_skipped_occurrences():
    cron = Cron.parse("30 2 * * *", "America/New_York", "skip")
    found = preview(cron, from_text("2026-03-07T00:00Z"), 2)
    assert [occurrence.local.day for occurrence in found] == [7, 8, 9]
    assert [occurrence.flag for occurrence in found] == [None, OccurrenceFlag.SKIPPED, None]


@pytest.mark.parametrize(("spec", "count"), [(None, 0), (SPECS[1], 1), (SPECS[2], 5), (SPECS[3], 5), (SPECS[4], 0)])
def test_a_preview_ends_when_the_schedule_ends(spec, count):
    found = preview(parse_schedule(spec, now=NOW), NOW, 5)
    assert len(found) == count
    assert all(occurrence.at > NOW for occurrence in found)


def test_a_preview_of_zero_occurrences_is_empty():
    assert preview(Every(60, NOW), NOW, 0) == []


def test_a_preview_of_a_schedule_that_never_runs_terminates():
    cron = Cron.parse("* 2 * 3 SUN#2", "America/New_York", "skip")
    found = preview(cron, NOW, 3)
    assert 0 < len(found) <= 2_003
    assert all(occurrence.at is None for occurrence in found)


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
