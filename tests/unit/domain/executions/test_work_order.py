from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from punctual.domain.errors import Unreadable
from punctual.domain.executions.work_order import AGED_AFTER, WorkOrder, aged_priority, read_work_order
from punctual.domain.lane import Priority

ORDER = WorkOrder(
    job_id="j",
    execution_id="e",
    attempt=2,
    not_before=datetime(2026, 11, 16, tzinfo=UTC),
    priority=Priority.LOW,
    owner="quality",
)


def test_a_work_order_survives_a_round_trip_through_its_message_body() -> None:
    assert read_work_order(ORDER.to_body()) == ORDER


@pytest.mark.parametrize("name", json.loads(ORDER.to_body()))
def test_a_work_order_without_a_required_field_is_unreadable(name: str) -> None:
    fields = json.loads(ORDER.to_body())
    del fields[name]
    with pytest.raises(Unreadable, match=name):
        read_work_order(json.dumps(fields))


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '"text"', "7"])
def test_a_body_that_is_not_a_json_object_is_unreadable(body: str) -> None:
    with pytest.raises(Unreadable, match="not a work order"):
        read_work_order(body)


@pytest.mark.parametrize(
    ("priority", "attempt", "late", "expected"),
    [
        (Priority.LOW, 0, timedelta(), Priority.LOW),
        (Priority.LOW, 1, timedelta(), Priority.NORMAL),
        (Priority.LOW, 0, AGED_AFTER * 2, Priority.NORMAL),
        (Priority.LOW, 3, AGED_AFTER * 2, Priority.HIGH),
        (Priority.NORMAL, 1, timedelta(), Priority.HIGH),
        (Priority.HIGH, 9, AGED_AFTER * 9, Priority.HIGH),
    ],
)
def test_waiting_and_retries_raise_the_priority(
    priority: Priority, attempt: int, late: timedelta, expected: Priority
) -> None:
    assert aged_priority(priority, attempt, late) is expected
