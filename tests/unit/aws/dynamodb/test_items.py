from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.aws.dynamodb.execution_item import execution_to_item, item_to_execution
from punctual.aws.dynamodb.items import plain, typed
from punctual.aws.dynamodb.job_item import item_to_job, job_to_item
from punctual.aws.sqs.work_queues import delay_seconds, group_id
from punctual.domain.errors import Unreadable
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.executions.work_order import work_order_for
from punctual.domain.identity import new_job_id
from punctual.domain.jobs.deadline import Deadline
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.every import Every
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
JOB = Job(
    job_id=new_job_id(NOW),
    name="n",
    owner="quality",
    created_by="ann",
    task="echo",
    schedule=Every(60, NOW),
    created_at=NOW,
    updated_at=NOW,
    deadline=Deadline(within_seconds=30),
    retry=RetryPolicy(5, 1.5, 2.5, 600),
    priority=Priority.LOW,
    dedupe_key="orders",
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_job_survives_the_round_trip_through_an_item(parameters: dict[str, object]) -> None:
    job = replace(JOB, parameters=parameters)
    assert item_to_job(plain(typed(job_to_item(job)))) == job


@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans())
def test_an_execution_survives_the_round_trip_through_an_item(parameters: dict[str, object], leads: bool) -> None:
    job = replace(JOB, parameters=parameters)
    execution = execution_of(job, NOW + timedelta(minutes=1), status=Status.QUEUED, now=NOW, leads=leads)
    assert item_to_execution(plain(typed(execution_to_item(execution)))) == execution


def test_a_typical_execution_fits_into_one_write_unit() -> None:
    execution = execution_of(replace(JOB, parameters={"dataset": "orders"}), NOW, status=Status.QUEUED, now=NOW)
    item = typed(execution_to_item(execution))
    assert sum(len(name) + len(str(next(iter(value.values())))) for name, value in item.items()) < 700


@pytest.mark.parametrize(
    "field",
    [{"is_last_of_job": True}, {"is_upstream": True}, {"notify": True}, {"deadline_at": NOW}, {"lane": Lane.LONG}],
)
def test_only_an_execution_that_needs_follow_up_is_marked(field: dict[str, Any]) -> None:
    typical = execution_of(replace(JOB, deadline=None), NOW, status=Status.QUEUED, now=NOW)
    assert execution_to_item(typical)["aftermath"] is None
    assert execution_to_item(replace(typical, **field))["aftermath"] is True


def test_an_item_of_another_kind_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="not a job"):
        item_to_job({"job_id": "x"})
    with pytest.raises(Unreadable, match="not an execution"):
        item_to_execution({"job_id": "x"})


@given(st.integers(-10_000, 10_000_000))
def test_a_work_order_is_delayed_by_whole_seconds_and_never_past_its_instant(milliseconds: int) -> None:
    execution = execution_of(JOB, NOW + timedelta(milliseconds=milliseconds), status=Status.QUEUED, now=NOW)
    delay = delay_seconds(work_order_for(execution, execution.scheduled_at), NOW)
    assert 0 <= delay <= 900
    assert delay * 1000 <= max(milliseconds, 0)
    if 0 <= milliseconds < 900_000:
        assert milliseconds - delay * 1000 < 1000


@pytest.mark.parametrize("owner", ["team-a", "ann@example.com", "Ünal", "a b", "x" * 200])
def test_every_owner_has_a_valid_sqs_message_group(owner: str) -> None:
    assert 1 <= len(group_id(owner)) <= 128
    assert group_id(owner).isascii()
    assert " " not in group_id(owner)
