from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from punctual.domain.errors import Unreadable
from punctual.domain.executions.work_order import WorkOrder, read_work_order
from punctual.domain.lane import Priority

ORDER = WorkOrder(
    job_id="j",
    execution_id="e",
    attempt=2,
    not_before=datetime(2026, 11, 16, tzinfo=UTC),
    priority=Priority.LOW,
    owner="quality",
)


def test_an_order_reads_back_as_it_was_written() -> None:
    assert read_work_order(ORDER.to_body()) == ORDER


@pytest.mark.parametrize("name", json.loads(ORDER.to_body()))
def test_an_order_that_lacks_anything_is_unreadable(name: str) -> None:
    fields = json.loads(ORDER.to_body())
    del fields[name]
    with pytest.raises(Unreadable, match=name):
        read_work_order(json.dumps(fields))


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '"text"', "7"])
def test_what_is_not_an_object_is_unreadable(body: str) -> None:
    with pytest.raises(Unreadable, match="not a work order"):
        read_work_order(body)
