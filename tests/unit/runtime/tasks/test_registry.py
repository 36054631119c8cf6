from __future__ import annotations

from datetime import date

import pytest

from punctual.domain.errors import Invalid
from punctual.runtime.tasks.registry import Catalog, calendar, task

catalog = Catalog()


def test_the_shipped_tasks_are_registered() -> None:
    assert {"echo", "sleep", "fail", "queue.process", "http.call"} <= set(catalog.names)


def test_an_unknown_task_is_rejected_with_a_list_of_registered_tasks() -> None:
    with pytest.raises(Invalid, match=r"there is no task 'eccho'; registered tasks: .*echo") as refused:
        catalog.check_name("eccho")
    assert refused.value.field == "task"


@pytest.mark.parametrize(
    ("name", "parameters", "field"),
    [
        ("sleep", {}, "parameters"),
        ("sleep", {"seconds": "long"}, "parameters.seconds"),
        ("queue.process", {"records": [{}, 7]}, "parameters.records.1"),
        ("http.call", {"url": "https://example.com", "headers": {"a": 1}}, "parameters.headers.a"),
    ],
)
def test_invalid_parameters_name_the_field(name: str, parameters: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid, match="does not match the schema of task") as refused:
        catalog.check(name, parameters)
    assert refused.value.field == field


def test_a_task_without_a_schema_accepts_any_parameters() -> None:
    catalog.check("echo", {"what": ["ever", None, {"you": 1}]})


def test_the_same_task_name_in_two_modules_is_rejected() -> None:
    catalog.check_name("echo")
    with pytest.raises(ValueError, match="two tasks are named 'echo'"):
        task("echo")(lambda _context, _parameters: None)


def test_the_shipped_calendar_contains_only_weekdays() -> None:
    holidays = catalog.calendars()["holidays-us"]
    assert {date(2026, 12, 25), date(2027, 7, 5)} <= holidays
    assert all(day.weekday() < 5 for day in holidays)


def test_the_same_calendar_name_with_other_dates_is_rejected() -> None:
    calendar("test-days", ["2026-12-24"])
    calendar("test-days", ["2026-12-24"])
    assert catalog.calendars()["test-days"] == {date(2026, 12, 24)}
    with pytest.raises(ValueError, match="two calendars are named 'test-days'"):
        calendar("test-days", ["2026-12-31"])
    with pytest.raises(ValueError, match="not a date"):
        calendar("test-nights", ["Christmas"])
