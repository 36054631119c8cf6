"""Partitions: how an execution is split into pieces that run in parallel."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.errors import Invalid, TooLarge
from punctual.domain.instant import from_text
from punctual.domain.jobs.partitions import (
    MAX_PARTITIONS,
    Partition,
    Partitions,
    PartitionUnit,
    check_partitions,
    parse_partitions,
)
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import window_of
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import At, Now, PerMessage, Schedule, parse_schedule

NOW = datetime(2026, 11, 15, 7, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEW_YORK = "America/New_York"
WEEKLY = Cron.parse("0 2 * * SUN", NEW_YORK)


def partitions_of(spec: object) -> Partitions:
    partitions = parse_partitions(spec)
    assert partitions is not None
    return partitions


def refusal(spec: object) -> Invalid:
    with pytest.raises(Invalid) as refused:
        parse_partitions(spec)
    return refused.value


def week_before(due: str) -> DataWindow:
    window = window_of(WEEKLY, from_text(due), WindowUnit.WEEK)
    assert window is not None
    return window


WEEK = week_before("2026-11-15T07:00Z")


@pytest.mark.parametrize(
    ("spec", "partitions", "shown"),
    [
        (7, Partitions(count=7), {"count": 7}),
        ({"count": 7}, Partitions(count=7), {"count": 7}),
        ({"count": 1, "at_once": 1}, Partitions(count=1, at_once=1), {"count": 1, "at_once": 1}),
        ({"by": "day"}, Partitions(by=PartitionUnit.DAY), {"by": "day"}),
        ({"by": "hour", "at_once": 24}, Partitions(by=PartitionUnit.HOUR, at_once=24), {"by": "hour", "at_once": 24}),
        (["a", None], Partitions(of=("a", None)), {"of": ["a", None]}),
        ({"of": [{"id": 1.5}], "at_once": 1}, Partitions(of=({"id": 1.5},), at_once=1), None),
        ({"count": 7, "by": None, "of": None, "at_once": None}, Partitions(count=7), {"count": 7}),
    ],
)
def test_every_form_is_parsed_and_round_trips_through_its_spec(
    spec: object, partitions: Partitions, shown: dict[str, object] | None
) -> None:
    assert parse_partitions(spec) == partitions
    assert partitions.to_spec() == (shown or spec)
    assert parse_partitions(json.loads(json.dumps(partitions.to_spec()))) == partitions


def test_a_job_without_a_partitions_spec_has_no_partitions() -> None:
    assert parse_partitions(None) is None


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (0, "partitions", "must be a whole number from 1 to 200"),
        (201, "partitions", "from 1 to 200"),
        (True, "partitions", "must be a number such as 7, a list, or an object"),
        (7.0, "partitions", "must be a number such as 7"),
        ("day", "partitions", 'or an object such as {"by": "day"}'),
        ([], "partitions", "has 0 elements; give from 1 to 200"),
        (list(range(201)), "partitions", "has 201 elements"),
        ([float("nan")], "partitions", "not JSON"),
        ({}, "partitions", "needs one of count, by, of; omit partitions to run without splitting"),
        ({"at_once": 2}, "partitions", "needs one of"),
        ({"count": 7, "by": "day"}, "partitions", "has count and by, which are mutually exclusive"),
        ({"size": 7}, "partitions.size", "is not a known field; use count, by, of, at_once"),
        ({"count": 0}, "partitions.count", "from 1 to 200"),
        ({"count": "7"}, "partitions.count", "must be a whole number"),
        ({"count": True}, "partitions.count", "must be a whole number"),
        ({"by": "week"}, "partitions.by", "'week' is not one of day, hour"),
        ({"by": ["day"]}, "partitions.by", "is not one of day, hour"),
        ({"of": "north"}, "partitions.of", "must be a list"),
        ({"of": []}, "partitions.of", "has 0 elements"),
        ({"count": 7, "at_once": 0}, "partitions.at_once", "from 1 to 7; omit it to run all at once"),
        ({"count": 7, "at_once": 8}, "partitions.at_once", "from 1 to 7"),
        ({"of": [1, 2], "at_once": 3}, "partitions.at_once", "from 1 to 2"),
        ({"by": "day", "at_once": 201}, "partitions.at_once", "from 1 to 200"),
        ({"by": "day", "at_once": 1.0}, "partitions.at_once", "must be a whole number"),
        ({"by": "day", "at_once": True}, "partitions.at_once", "must be a whole number"),
    ],
)
def test_invalid_partitions_are_rejected_naming_the_field(spec: object, field: str, message: str) -> None:
    refused = refusal(spec)
    assert refused.field == field
    assert message in refused.message


def test_a_list_of_partitions_has_the_size_limit_of_parameters() -> None:
    with pytest.raises(TooLarge):
        parse_partitions({"of": ["x" * 64 * 1024]})


def test_counted_partitions_share_the_whole_window() -> None:
    assert partitions_of(3).split(WEEK, NEW_YORK) == [Partition(number, 3, None, WEEK) for number in range(3)]
    assert partitions_of(2).split(None, "UTC") == [Partition(0, 2), Partition(1, 2)]


def test_a_list_gives_each_partition_its_element() -> None:
    found = partitions_of(["north", None]).split(WEEK, NEW_YORK)
    assert found == [Partition(0, 2, "north", WEEK), Partition(1, 2, None, WEEK)]


def test_partition_names_sort_in_numeric_order() -> None:
    names = [partition.name for partition in partitions_of(200).split(None, "UTC")]
    assert (names[0], names[3], names[-1]) == ("0000", "0003", "0199")
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("due", "hours"),
    [
        ("2026-11-15T07:00Z", [24, 24, 24, 24, 24, 24, 24]),
        ("2026-03-15T06:00Z", [23, 24, 24, 24, 24, 24, 24]),
        ("2026-11-08T07:00Z", [25, 24, 24, 24, 24, 24, 24]),
    ],
)
def test_a_week_has_seven_days_even_if_a_clock_change_shortens_or_lengthens_one(due: str, hours: list[int]) -> None:
    week = week_before(due)
    days = partitions_of({"by": "day"}).split(week, NEW_YORK)
    assert [(day.number, day.count) for day in days] == [(number, 7) for number in range(7)]
    assert [(day.window.end - day.window.start) / HOUR for day in days if day.window] == hours
    by_hour = partitions_of({"by": "hour"}).split(week, NEW_YORK)
    assert len(by_hour) == sum(hours)
    assert {piece.window.end - piece.window.start for piece in by_hour if piece.window} == {HOUR}


def test_a_window_that_starts_within_a_day_has_partial_first_and_last_slices() -> None:
    window = window_of(WEEKLY, from_text("2026-11-15T07:00Z"))
    days = partitions_of({"by": "day"}).split(window, NEW_YORK)
    assert [(day.window.end - day.window.start) / HOUR for day in days if day.window] == [22, *[24] * 6, 2]


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from([NEW_YORK, "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Antarctica/Troll"]),
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
    st.timedeltas(timedelta(milliseconds=1), timedelta(days=8)),
    st.sampled_from(PartitionUnit),
)
def test_slices_are_contiguous(zone: str, start: datetime, length: timedelta, unit: PartitionUnit) -> None:
    window = DataWindow(start, start + length)
    pieces = Partitions(by=unit).split(window, zone)
    slices = [piece.window for piece in pieces if piece.window]
    assert (slices[0].start, slices[-1].end) == (window.start, window.end)
    assert all(earlier.end == later.start for earlier, later in pairwise(slices))
    assert [piece.number for piece in pieces] == list(range(pieces[0].count))


@pytest.mark.parametrize("schedule", [Now(NOW), At(NOW), PerMessage()])
def test_splitting_by_day_is_rejected_for_a_job_without_windows(schedule: Schedule) -> None:
    with pytest.raises(Invalid) as refused:
        check_partitions(partitions_of({"by": "day"}), schedule, None)
    assert refused.value.field == "partitions.by"
    assert "has no data window to split: give count or of instead" in refused.value.message
    check_partitions(partitions_of(7), schedule, None)
    check_partitions(partitions_of(["a"]), schedule, None)


@pytest.mark.parametrize(
    ("by", "schedule", "unit", "fits"),
    [
        ("day", WEEKLY, None, True),
        ("hour", WEEKLY, None, True),
        ("hour", WEEKLY, WindowUnit.WEEK, True),
        ("day", WEEKLY, WindowUnit.MONTH, True),
        ("hour", WEEKLY, WindowUnit.MONTH, False),
        ("hour", Cron.parse("0 0 1 * *"), None, False),
        ("hour", Cron.parse("0 0 1 * *"), WindowUnit.DAY, True),
        ("hour", Cron.parse("0 0 1-5 * *"), None, False),
        ("day", Cron.parse("@yearly"), None, False),
        ("hour", Every(199 * 3600, NOW), None, True),
        ("hour", Every(201 * 3600, NOW), None, False),
    ],
)
def test_a_schedule_whose_windows_have_too_many_slices_is_rejected_at_submission(
    by: str, schedule: Schedule, unit: WindowUnit | None, fits: bool
) -> None:
    partitions = partitions_of({"by": by})
    if fits:
        check_partitions(partitions, schedule, unit)
        return
    with pytest.raises(Invalid, match=f"has more {by}s than the {MAX_PARTITIONS} allowed") as refused:
        check_partitions(partitions, schedule, unit)
    assert refused.value.field == "partitions.by"


def test_a_window_with_too_many_slices_is_rejected_and_not_split_partially() -> None:
    partitions, end = partitions_of({"by": "hour"}), NOW + MAX_PARTITIONS * HOUR
    assert len(partitions.split(DataWindow(NOW, end), "UTC")) == MAX_PARTITIONS
    with pytest.raises(Invalid, match="split it by day") as refused:
        partitions.split(DataWindow(NOW, end + HOUR), "UTC")
    assert refused.value.field == "partitions.by"


def test_splitting_without_a_window_is_rejected() -> None:
    with pytest.raises(Invalid, match="there is no data window to split by day"):
        partitions_of({"by": "day"}).split(None, "UTC")


@pytest.mark.parametrize(
    ("on_skip", "unit"), [("skip", None), ("next_business_day", None), ("next_business_day", WindowUnit.DAY)]
)
def test_the_window_across_skipped_dates_must_fit_too(on_skip: str, unit: WindowUnit | None) -> None:
    """Skipping Monday to Friday makes a window of ten days (240 hours); skipping three days makes one of four days."""
    by_hour = partitions_of({"by": "hour"})
    for days, fits in ((range(15, 18), True), (range(14, 19), False)):
        dates = [f"2027-06-{day}" for day in days]
        schedule = parse_schedule({"cron": "0 2 * * *", "skip": ["weekends", *dates], "on_skip": on_skip}, now=NOW)
        if fits:
            check_partitions(by_hour, schedule, unit)
        else:
            with pytest.raises(Invalid, match="more hours than the 200 allowed"):
                check_partitions(by_hour, schedule, unit)


def test_the_only_window_of_a_schedule_with_one_run_must_fit() -> None:
    schedule = parse_schedule({"cron": "0 2 1 * *", "starts_at": "2027-01-01T00:00:00Z", "max_runs": 1}, now=NOW)
    with pytest.raises(Invalid, match="more hours than the 200 allowed"):
        check_partitions(partitions_of({"by": "hour"}), schedule, None)
