"""The three forms of a deadline."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.instant import from_text
from punctual.domain.jobs.deadline import Deadline, check_deadline, parse_deadline
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import At, Now, PerMessage, Schedule

DUE = datetime(2026, 11, 15, 7, tzinfo=UTC)
TUESDAY_MIDNIGHT = {"by": {"cron": "0 0 * * WED", "timezone": "America/New_York"}}
SPECS = [{"within_seconds": 3600}, TUESDAY_MIDNIGHT, {"at": "2026-11-18T05:00:00.000Z"}]


def deadline_of(spec: dict[str, object]) -> Deadline:
    deadline = parse_deadline(spec)
    assert deadline is not None
    return deadline


@pytest.mark.parametrize(
    ("spec", "expected"),
    list(zip(SPECS, ["2026-11-15T08:00Z", "2026-11-18T05:00Z", "2026-11-18T05:00Z"], strict=True)),
)
def test_each_form_gives_the_deadline_of_an_execution(spec: dict[str, object], expected: str) -> None:
    assert deadline_of(spec).of(DUE) == from_text(expected)


@pytest.mark.parametrize("spec", SPECS)
def test_a_deadline_round_trips_through_its_spec(spec: dict[str, object]) -> None:
    deadline = deadline_of(spec)
    assert deadline.to_spec() == spec
    assert parse_deadline(json.loads(json.dumps(deadline.to_spec()))) == deadline


def test_a_job_without_a_deadline_spec_has_no_deadline() -> None:
    assert parse_deadline(None) is None
    check_deadline(None, PerMessage())


def test_a_deadline_cron_without_a_time_zone_uses_the_schedules() -> None:
    deadline = parse_deadline({"by": {"cron": "0 0 * * WED"}}, timezone="America/New_York")
    assert deadline == parse_deadline(TUESDAY_MIDNIGHT)


def test_a_deadline_instant_may_have_any_utc_offset() -> None:
    assert deadline_of({"at": "2026-11-18T00:00:00-05:00"}).at == from_text("2026-11-18T05:00Z")


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({}, "deadline", "give exactly one of within_seconds, by and at"),
        ({"within_seconds": 5, **TUESDAY_MIDNIGHT}, "deadline", "exactly one"),
        ({"within_seconds": 5, "at": "2026-11-18T05:00Z"}, "deadline", "exactly one"),
        ({**TUESDAY_MIDNIGHT, "at": "2026-11-18T05:00Z"}, "deadline", "exactly one"),
        ({"at": "Tuesday"}, "deadline.at", "'Tuesday' is not an instant"),
        ({"at": "2026-11-18T05:00"}, "deadline.at", "an offset or a Z"),
        ({"at": 1_800_000_000}, "deadline.at", "is not an instant"),
        ({"at": "9999-01-01T00:00Z"}, "deadline.at", "is out of range"),
        ({"by": {"cron": "0 0 31 2 *"}}, "deadline.by.cron", ""),
        ({"by": {"cron": "@daily", "timezone": "Mars"}}, "deadline.by.timezone", "not an IANA time zone"),
    ],
)
def test_an_invalid_deadline_is_rejected_naming_the_field(spec: dict[str, object], field: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_deadline(spec)
    assert refused.value.field == field
    assert message in refused.value.message


@pytest.mark.parametrize("schedule", [Now(DUE), At(DUE)])
def test_a_deadline_instant_must_be_after_the_start_of_a_one_time_job(schedule: Schedule) -> None:
    check_deadline(Deadline(at=DUE + timedelta(milliseconds=1)), schedule)
    for at in (DUE, DUE - timedelta(days=1)):
        with pytest.raises(Invalid) as refused:
            check_deadline(Deadline(at=at), schedule)
        assert refused.value.field == "deadline.at"
        assert "is not after the scheduled start, 2026-11-15T07:00:00.000Z" in refused.value.message


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (
            Cron.parse("0 2 * * SUN"),
            "a job that recurs has no single deadline: use deadline.by or deadline.within_seconds",
        ),
        (Every(60, DUE), "a job that recurs"),
        (PerMessage(), "a job that runs for every message has no single deadline"),
    ],
)
def test_a_deadline_instant_is_rejected_for_a_job_that_runs_more_than_once(schedule: Schedule, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_deadline(deadline_of({"at": "2036-11-18T05:00Z"}), schedule)
    assert refused.value.field == "deadline.at"
    assert message in refused.value.message


@pytest.mark.parametrize("spec", SPECS[:2])
@pytest.mark.parametrize("schedule", [Now(DUE), At(DUE), Cron.parse("0 2 * * SUN"), Every(60, DUE), PerMessage()])
def test_relative_deadlines_are_valid_with_every_schedule(spec: dict[str, object], schedule: Schedule) -> None:
    check_deadline(deadline_of(spec), schedule)
