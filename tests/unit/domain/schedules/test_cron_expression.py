"""The supported cron expressions."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from itertools import islice

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.schedules.cron import Cron


@pytest.mark.parametrize(
    ("cron", "dates"),
    [
        ("0 0 29 2 *", ["2028-02-29", "2032-02-29"]),
        ("0 0 * 2 1#5", ["2044-02-29", "2072-02-29"]),
        ("0 0 L * *", ["2026-01-31", "2026-02-28", "2026-03-31"]),
        ("0 0 15,L 2 *", ["2026-02-15", "2026-02-28", "2027-02-15"]),
        ("0 0 * * L5", ["2026-01-30", "2026-02-27"]),
        ("0 0 * * friL", ["2026-01-30", "2026-02-27"]),
        ("0 0 * * 2#3", ["2026-01-20", "2026-02-17"]),
        ("0 0 * * MON,FRI#1", ["2026-01-02", "2026-01-05", "2026-01-12"]),
        ("0 0 13 * FRI", ["2026-01-02", "2026-01-09", "2026-01-13"]),
        ("0 0 3 * 2#3", ["2026-01-03", "2026-01-20", "2026-02-03"]),
        ("0 0 31 2 MON", ["2026-02-02", "2026-02-09"]),
        ("0 0 * * sat-mon", ["2026-01-03", "2026-01-04", "2026-01-05", "2026-01-10"]),
        ("0 0 * * 5-7", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-09"]),
        ("0 0 * * 7", ["2026-01-04", "2026-01-11"]),
        ("0 0 * NOV-JAN/2 0", ["2026-01-04", "2026-01-11"]),
        ("0 0 10-10 * *", ["2026-01-10", "2026-02-10"]),
        ("0 0 31/5 * *", ["2026-01-31", "2026-03-31"]),
        ("0 0 */1 * MON", ["2026-01-05", "2026-01-12"]),
        ("0 0 */2 * MON", ["2026-01-05", "2026-01-19", "2026-02-09"]),
        ("0 0 */2 * MON,3#1", ["2026-01-05", "2026-01-07", "2026-01-19"]),
        ("0 0 */2 * *", ["2026-01-03", "2026-01-05"]),
        ("0 0 5,6 * */2", ["2026-01-06", "2026-02-05", "2026-03-05"]),
        ("0 0 L * */2", ["2026-01-31", "2026-02-28", "2026-03-31"]),
        ("0 0 L * */5", ["2026-05-31", "2026-07-31"]),
        ("0 0 */2 * */6", ["2026-01-03", "2026-01-11", "2026-01-17"]),
        ("0 0 1-31/2 * MON", ["2026-01-03", "2026-01-05"]),
        ("@weekly", ["2026-01-04", "2026-01-11"]),
        ("@Monthly", ["2026-02-01", "2026-03-01"]),
        ("@yearly", ["2027-01-01", "2028-01-01"]),
        ("@annually", ["2027-01-01"]),
        ("@daily", ["2026-01-02"]),
        ("@midnight", ["2026-01-02"]),
    ],
)
def test_an_expression_matches_its_dates(cron, dates):
    found = Cron.parse(cron).occurrences(datetime(2026, 1, 1, tzinfo=UTC))
    assert [f"{occurrence.at:%Y-%m-%d}" for occurrence in islice(found, len(dates))] == dates


@pytest.mark.parametrize(
    ("cron", "times"),
    [
        ("*/25 6 * * *", ["06:00", "06:25", "06:50"]),
        ("50/4 6 * * *", ["06:50", "06:54", "06:58"]),
        ("59/5 6,7 * * *", ["06:59", "07:59"]),
        ("0 5-5 * * *", ["05:00", "05:00"]),
        ("0 22-2/2 * * *", ["02:00", "22:00", "00:00", "02:00"]),
        ("10-14/2,30 6 * * *", ["06:10", "06:12", "06:14", "06:30"]),
        ("@hourly", ["01:00", "02:00"]),
    ],
)
def test_an_expression_matches_its_times(cron, times):
    found = Cron.parse(cron).occurrences(datetime(2026, 1, 1, 0, 30, tzinfo=UTC))
    assert [f"{occurrence.at:%H:%M}" for occurrence in islice(found, len(times))] == times


@pytest.mark.parametrize(
    ("cron", "message"),
    [
        ("", "has 0 fields"),
        ("0 2 * *", "has 4 fields"),
        ("0 0 2 * * SUN", "has 6 fields; five are needed: minute, hour, .*seconds and years are not supported"),
        ("0 0 2 * * SUN 2027", "has 7 fields"),
        ("0 25 * * *", "'25' is not a valid hour: use numbers from 0 to 23"),
        ("0 0 0 * *", "day of month"),
        ("0 0 * 13 *", "names from JAN to DEC"),
        ("0 0 * * 8", "names from SUN to SAT"),
        ("0 0 * * MONDAY", "'MONDAY' is not a valid day of week"),
        ("0 0 * * 2#6", "'2#6'"),
        ("0 0 * * L", "'L' is not a valid day of week"),
        ("0 0 L-3 * *", "'L' is not a valid day of month|'L-3'"),
        ("0 0 15W * *", "'15W'"),
        ("0 0 ? * MON", "write \\* for any"),
        ("0 0 1,,2 * *", "''"),
        ("-5 0 * * *", "'-5'"),
        ("\u0663 0 * * *", "minute"),
        ("*/0 * * * *", "a step of minute must be from 1 to 60"),
        ("*/90 * * * *", "use every_seconds"),
        ("0 0 31 2 *", "never matches"),
        ("0 0 30,31 FEB *", "never matches"),
        ("0 0 31 4,6,9,11 *", "never matches"),
        ("0 0 31 2 */2", "never matches"),
        ("0 0 */15 * MON#2", r"never matches: no day \*/15 of a month is also MON#2"),
        ("@reboot", "not one of @yearly"),
        ("@every 5m", "not one of @yearly"),
        ("H 2 * * *", r"hashed \(H\) and random \(R\)"),
        ("R(0-29) 2 * * *", r"hashed \(H\) and random \(R\)"),
        ("0," * 300 + "0 * * * *", "the limit is 500"),
        (5, "must be text"),
    ],
)
def test_an_invalid_expression_is_rejected_with_a_remedy(cron, message):
    with pytest.raises(Invalid, match=message) as refused:
        Cron.parse(cron)
    assert refused.value.field == "schedule.cron"


def test_parsing_a_stored_schedule_does_not_import_croniter():
    code = """
import sys
from punctual.domain.schedules.schedule import parse_schedule
from punctual.domain.instant import now
parse_schedule({"cron": "0 2 * * SUN"}, now=now())
sys.exit("croniter" in sys.modules)
"""
    environment = {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0
