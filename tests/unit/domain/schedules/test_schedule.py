"""The kinds of schedule: parsing, storage, API representation, preview, and the first and last due instant."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from punctual.domain.errors import Invalid, Unreadable
from punctual.domain.instant import from_text
from punctual.domain.schedules.cron import Cron, Fold, Gap, OccurrenceFlag
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.named_calendars import WEEKENDS
from punctual.domain.schedules.schedule import (
    At,
    Now,
    PerMessage,
    check_comes_due,
    from_stored,
    last_due,
    parse_schedule,
    preview,
)
from tests.unit.domain.schedules.submitted import SUBMITTED_AT, dues, schedule_of

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


def test_a_queue_job_is_never_due_by_time():
    schedule = parse_schedule({"queue": True}, now=NOW)
    assert schedule == PerMessage()
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


@pytest.mark.parametrize(
    "rule",
    [
        {"starts_at": "2026-12-01T00:00Z"},
        {"ends_at": "2026-12-01T00:00Z"},
        {"max_runs": 3},
        {"jitter_seconds": 5},
        {"skip": ["weekends"]},
        {"on_skip": "skip"},
    ],
)
@pytest.mark.parametrize("once", [{"at": "2026-12-01T00:00:00Z"}, {"queue": True}, {}])
def test_bounds_are_rejected_for_a_schedule_that_does_not_recur(once, rule):
    with pytest.raises(Invalid, match="requires cron or every_seconds") as refused:
        schedule_of(**once, **rule)
    assert refused.value.field == f"schedule.{next(iter(rule))}"


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


def test_a_preview_ends_at_the_end_of_the_schedule():
    schedule = schedule_of(cron="0 2 * * *", skip=["2026-11-18", "2026-11-21"], max_runs=3)
    found = preview(schedule, SUBMITTED_AT, 10)
    assert [(one.local.day, one.at is not None) for one in found] == [(17, True), (18, False), (19, True), (20, True)]


def test_a_preview_lists_each_skipped_date_once_and_flags_moved_runs():
    hourly = schedule_of(cron="0 * * * *", skip=[WEEKENDS, "2026-11-23"])
    found = preview(hourly, from_text("2026-11-20T22:30Z"), 2)
    assert [(one.local.strftime("%a %H:%M"), one.at is not None, one.flag) for one in found] == [
        ("Fri 23:00", True, None),
        ("Sat 00:00", False, OccurrenceFlag.EXCLUDED),
        ("Sun 00:00", False, OccurrenceFlag.EXCLUDED),
        ("Mon 00:00", False, OccurrenceFlag.EXCLUDED),
        ("Tue 00:00", True, None),
    ]
    first = schedule_of(cron="30 2 1 * *", skip=[WEEKENDS], on_skip="next_business_day")
    [moved, own] = preview(first, from_text("2026-10-15T00:00Z"), 2)
    assert (moved.local.strftime("%a %d"), moved.at.strftime("%a %d"), moved.flag) == (
        "Sun 01",
        "Mon 02",
        OccurrenceFlag.MOVED,
    )
    assert own.flag is None
    daily = schedule_of(every_seconds=86_400, skip=[WEEKENDS], on_skip="next_business_day")
    assert {one.flag for one in preview(daily, SUBMITTED_AT, 20)} == {None}


def test_a_preview_shows_skipped_dates_between_runs_that_are_far_apart():
    weekly = schedule_of(cron="0 2 * * SUN", skip=["2026-11-22", "2026-11-25", "2026-12-06"])
    found = preview(weekly, SUBMITTED_AT, 2)
    assert [(one.local.strftime("%d.%m."), one.flag) for one in found] == [
        ("22.11.", OccurrenceFlag.EXCLUDED),
        ("29.11.", None),
        ("06.12.", OccurrenceFlag.EXCLUDED),
        ("13.12.", None),
    ]


@pytest.mark.parametrize(
    "spec",
    [
        {"at": "2026-12-24T18:00:00Z"},
        {"every_seconds": 60, "max_runs": 7},
        {"every_seconds": 60, "ends_at": "2026-11-16T12:30:30Z"},
        {"cron": "*/20 * * * *", "max_runs": 3, "skip": ["weekends"]},
        {"cron": "0 2 * * *", "starts_at": "2026-12-01T00:00:00Z", "ends_at": "2026-12-03T02:00:00Z"},
    ],
)
def test_the_last_due_instant_of_a_finite_schedule_is_known(spec):
    schedule = schedule_of(**spec)
    assert last_due(schedule) == dues(schedule)[-1]


@pytest.mark.parametrize(
    "spec", [{"every_seconds": 60}, {"cron": "0 2 * * *", "starts_at": "2026-12-01T00:00:00Z"}, {"queue": True}]
)
def test_a_schedule_without_an_end_has_no_last_due_instant(spec):
    assert last_due(schedule_of(**spec)) is None


def test_an_end_before_the_first_due_instant_is_rejected():
    with pytest.raises(Invalid, match="never comes due before 2026-11-16T13:00") as refused:
        check_comes_due(schedule_of(cron="0 2 * * *", ends_at="2026-11-16T13:00Z"), SUBMITTED_AT)
    assert refused.value.field == "schedule.ends_at"


@pytest.mark.parametrize(
    "spec",
    [
        {"cron": "0 2 * * SAT"},
        {"cron": "* * * * SAT,SUN", "timezone": "America/New_York"},
        {"every_seconds": 7 * 86_400, "starts_at": "2026-11-21T12:00:00Z"},
    ],
)
def test_a_schedule_whose_every_date_is_skipped_is_rejected(spec):
    with pytest.raises(Invalid, match=r"all dates of schedule\.\w+ are skipped") as refused:
        check_comes_due(schedule_of(**spec, skip=["weekends"]), SUBMITTED_AT)
    assert refused.value.field == "schedule.skip"
    check_comes_due(schedule_of(**spec, skip=["weekends"], on_skip="next_business_day"), SUBMITTED_AT)
