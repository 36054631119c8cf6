"""Cron at clock changes, with manually computed test vectors."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.instant import from_text
from punctual.domain.schedules.cron import Cron, Fold, Gap, Occurrence

# zone, cron, the wall time that does not exist, the shifted instant, the next regular run
GAPS = [
    # 02:00 EST (-5) becomes 03:00 EDT (-4) at 07:00Z
    ("America/New_York", "30 2 * * *", "2026-03-08T02:30", "2026-03-08T07:30Z", "2026-03-09T06:30Z"),
    # 01:00 GMT (0) becomes 02:00 BST (+1) at 01:00Z
    ("Europe/London", "30 1 * * *", "2026-03-29T01:30", "2026-03-29T01:30Z", "2026-03-30T00:30Z"),
    # in the tz database Ireland's summer time is standard time; the wall-clock times equal London's
    ("Europe/Dublin", "30 1 * * *", "2026-03-29T01:30", "2026-03-29T01:30Z", "2026-03-30T00:30Z"),
    # 02:00 (+10:30) becomes 02:30 (+11) at 15:30Z
    ("Australia/Lord_Howe", "15 2 * * *", "2026-10-04T02:15", "2026-10-03T15:45Z", "2026-10-04T15:15Z"),
    # 00:00 (+2) becomes 01:00 (+3) at 22:00Z the day before
    ("Africa/Cairo", "30 0 * * *", "2026-04-24T00:30", "2026-04-23T22:30Z", "2026-04-24T21:30Z"),
    # midnight itself is missing: 00:00 (-3) becomes 01:00 (-2) at 03:00Z
    ("America/Sao_Paulo", "0 0 * * *", "2018-11-04T00:00", "2018-11-04T03:00Z", "2018-11-05T02:00Z"),
    # the whole of 30 December is missing: 29 December 24:00 (-10) becomes 31 December 00:00 (+14) at 10:00Z
    ("Pacific/Apia", "0 12 30 12 *", "2011-12-30T12:00", "2011-12-30T22:00Z", "2012-12-29T22:00Z"),
]

# zone, cron, the wall time that occurs twice, its first instant, its second instant
FOLDS = [
    # 02:00 EDT (-4) becomes 01:00 EST (-5) at 06:00Z
    ("America/New_York", "30 1 * * *", "2026-11-01T01:30", "2026-11-01T05:30Z", "2026-11-01T06:30Z"),
    # 02:00 BST (+1) becomes 01:00 GMT (0) at 01:00Z
    ("Europe/London", "30 1 * * *", "2026-10-25T01:30", "2026-10-25T00:30Z", "2026-10-25T01:30Z"),
    ("Europe/Dublin", "30 1 * * *", "2026-10-25T01:30", "2026-10-25T00:30Z", "2026-10-25T01:30Z"),
    # 02:00 (+11) becomes 01:30 (+10:30) at 15:00Z
    ("Australia/Lord_Howe", "45 1 * * *", "2026-04-05T01:45", "2026-04-04T14:45Z", "2026-04-04T15:15Z"),
    # 24:00 (+3) becomes 23:00 (+2) at 21:00Z
    ("Africa/Cairo", "30 23 * * *", "2026-10-29T23:30", "2026-10-29T20:30Z", "2026-10-29T21:30Z"),
    # 04:00 (+14) becomes 03:00 (+13) at 14:00Z the day before
    ("Pacific/Apia", "30 3 * * *", "2012-04-01T03:30", "2012-03-31T13:30Z", "2012-03-31T14:30Z"),
    # a permanent change of the offset: 02:00 (+4) becomes 01:00 (+3) at 22:00Z the day before
    ("Europe/Moscow", "30 1 * * *", "2014-10-26T01:30", "2014-10-25T21:30Z", "2014-10-25T22:30Z"),
]


def shown(occurrences: Iterable[Occurrence]) -> list[str]:
    """One line each, such as ``01:30 05:30Z repeated``."""
    lines = []
    for found in occurrences:
        at = f"{found.at:%H:%MZ}" if found.at else "never"
        lines.append(f"{found.local:%H:%M} {at} {found.flag or ''}".strip())
    return lines


def coming(cron: Cron, after: str, count: int) -> list[str]:
    return shown(islice(cron.occurrences(from_text(after)), count))


@pytest.mark.parametrize("fold", Fold)
@pytest.mark.parametrize(("zone", "cron", "local", "shifted", "following"), GAPS)
def test_a_nonexistent_time_is_shifted_by_the_gap_or_skipped(zone, cron, local, shifted, following, fold):
    missing, hours_before = datetime.fromisoformat(local), from_text(shifted) - timedelta(hours=20)
    shift, skip = (Cron.parse(cron, zone, gap, fold) for gap in Gap)
    first, second = islice(shift.occurrences(hours_before), 2)
    assert (first, second.at) == (Occurrence(missing, from_text(shifted), "shifted"), from_text(following))
    first, second = islice(skip.occurrences(hours_before), 2)
    assert (first, second.at) == (Occurrence(missing, None, "skipped"), from_text(following))


@pytest.mark.parametrize("gap", Gap)
@pytest.mark.parametrize(("zone", "cron", "local", "first", "last"), FOLDS)
def test_a_repeated_time_runs_according_to_the_fold_policy(zone, cron, local, first, last, gap):
    chosen = {Fold.FIRST: [first], Fold.LAST: [last], Fold.BOTH: [first, last]}
    for fold, instants in chosen.items():
        hours_before = from_text(first) - timedelta(hours=20)
        found = islice(Cron.parse(cron, zone, gap, fold).occurrences(hours_before), len(instants))
        expected = [Occurrence(datetime.fromisoformat(local), from_text(at), "repeated") for at in instants]
        assert list(found) == expected


@pytest.mark.parametrize(("zone", "cron", "shifted", "following"), [(*row[:2], *row[3:]) for row in GAPS])
def test_a_search_from_after_the_gap_still_finds_shifted_runs(zone, cron, shifted, following):
    shift, at = Cron.parse(cron, zone), from_text(shifted)
    assert shift.next_after(at - timedelta(seconds=1)) == at
    assert shift.next_after(at) == from_text(following)
    assert shift.previous_before(from_text(following)) == at


@pytest.mark.parametrize(("zone", "cron", "first", "last"), [(*row[:2], *row[3:]) for row in FOLDS])
def test_a_search_from_between_the_two_passes_finds_the_second(zone, cron, first, last):
    both, only_last = Cron.parse(cron, zone, fold="both"), Cron.parse(cron, zone, fold="last")
    assert both.next_after(from_text(first)) == only_last.next_after(from_text(first)) == from_text(last)
    assert both.previous_before(from_text(last)) == from_text(first)
    assert Cron.parse(cron, zone).next_after(from_text(first)) > from_text(last)


def test_fold_both_runs_the_repeated_hour_twice_in_order_of_instants():
    cron = Cron.parse("*/30 * * * *", "America/New_York", fold="both")
    assert coming(cron, "2026-11-01T04:30Z", 5) == [
        "01:00 05:00Z repeated",
        "01:30 05:30Z repeated",
        "01:00 06:00Z repeated",
        "01:30 06:30Z repeated",
        "02:00 07:00Z",
    ]


@pytest.mark.parametrize("cron", ["*/30 * * * *", "*/30 1 * * *", "0,30 * * * *", "@hourly", "0 */1 * * *"])
def test_a_wildcard_minute_or_hour_runs_through_the_repeated_hour_by_default(cron):
    assert Cron.parse(cron, "America/New_York").fold is Fold.BOTH
    assert Cron.parse(cron, "America/New_York", fold="first").fold is Fold.FIRST


@pytest.mark.parametrize("cron", ["30 1 * * *", "0,30 1-4 * * *", "0 0-23 * * SUN", "1-59/2 1 */2 * *", "@daily"])
def test_fixed_times_run_once_in_the_repeated_hour_by_default(cron):
    assert Cron.parse(cron, "America/New_York").fold is Fold.FIRST


def test_fold_first_and_last_run_in_one_pass_of_the_repeated_hour():
    first, last = (Cron.parse("*/30 * * * *", "America/New_York", fold=fold) for fold in ("first", "last"))
    assert coming(first, "2026-11-01T05:00Z", 2) == ["01:30 05:30Z repeated", "02:00 07:00Z"]
    assert coming(last, "2026-11-01T04:00Z", 2) == ["00:30 04:30Z", "01:00 06:00Z repeated"]


def test_a_shifted_run_at_the_instant_of_a_regular_run_is_one_run():
    cron = Cron.parse("30 1-4 * * *", "America/New_York")
    assert coming(cron, "2026-03-08T06:00Z", 3) == ["01:30 06:30Z", "03:30 07:30Z", "04:30 08:30Z"]


def test_a_shifted_run_is_ordered_among_regular_runs():
    cron = Cron.parse("0,20 2,3 * * *", "America/New_York")
    assert coming(cron, "2026-03-08T06:00Z", 2) == ["03:00 07:00Z", "03:20 07:20Z"]
    cron = Cron.parse("40 2 * * *", "America/New_York")
    assert coming(cron, "2026-03-08T07:10Z", 1) == ["02:40 07:40Z shifted"]


def test_skipped_times_are_listed_between_the_runs_before_and_after_the_gap():
    cron = Cron.parse("*/30 * * * *", "America/New_York", "skip")
    assert coming(cron, "2026-03-08T06:00Z", 4) == [
        "01:30 06:30Z",
        "02:00 never skipped",
        "02:30 never skipped",
        "03:00 07:00Z",
    ]
    assert coming(cron, "2026-03-08T07:00Z", 1) == ["03:30 07:30Z"]
    up_to_the_gap = Cron.parse("0,59 1-2 * * *", "America/New_York", "skip")
    assert coming(up_to_the_gap, "2026-03-08T06:00Z", 2) == ["01:59 06:59Z", "02:00 never skipped"]


def test_a_missing_day_neither_loses_nor_duplicates_a_daily_run():
    cron = Cron.parse("0 12 * * *", "Pacific/Apia")
    found = list(islice(cron.occurrences(from_text("2011-12-29T12:00Z")), 3))
    assert [occurrence.at.day for occurrence in found] == [29, 30, 31]
    assert [occurrence.local.day for occurrence in found] == [29, 31, 1]


def test_a_search_ends_if_all_times_of_the_schedule_are_nonexistent():
    cron = Cron.parse("*/5 2 * 3 SUN#2", "America/New_York", "skip")
    assert cron.next_after(from_text("2026-01-01T00:00Z")) is None


@pytest.mark.parametrize(("name", "choices"), [("gap", "shift, skip"), ("fold", "first, last, both")])
def test_an_unknown_policy_is_rejected_with_the_valid_choices(name, choices):
    with pytest.raises(Invalid, match=f"'never' is not one of {choices}") as refused:
        Cron.parse("0 2 * * *", **{name: "never"})
    assert refused.value.field == f"schedule.{name}"


def test_whitespace_is_normalized_and_spelling_is_kept():
    assert Cron.parse("  0  2 * *   Sun ").expression == "0 2 * * Sun"


def test_a_search_near_the_maximum_date_finds_nothing_and_does_not_fail():
    cron = Cron.parse("0 2 * * *", "Pacific/Apia")
    for instant in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        assert cron.next_after(instant) is None
        assert cron.previous_before(instant) is None


def test_a_naive_datetime_is_rejected():
    with pytest.raises(TypeError):
        Cron.parse("0 2 * * *").next_after(datetime(2026, 1, 1))  # noqa: DTZ001
