"""An execution as an item."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.aws.dynamodb.execution_item import execution_to_item, item_to_execution
from punctual.aws.dynamodb.items import plain, typed
from punctual.aws.dynamodb.job_item import item_to_job
from punctual.domain.errors import Unreadable
from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, PartSample, ProgressSample
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.executions.remedy import CauseCode, Remedy, RemedyAction
from punctual.domain.lane import Lane
from punctual.domain.status import Status
from tests.unit.aws.jobs import JOB, JSON, NOW


@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans())
def test_an_execution_survives_the_round_trip_through_an_item(parameters: dict[str, object], is_leader: bool) -> None:
    job = replace(JOB, parameters=parameters)
    execution = execution_of(job, NOW + timedelta(minutes=1), status=Status.QUEUED, now=NOW, is_leader=is_leader)
    assert item_to_execution(plain(typed(execution_to_item(execution)))) == execution


def test_an_outlook_survives_the_round_trip_through_an_item() -> None:
    outlook = Outlook(
        state=DeadlineState.AT_RISK,
        probability=0.5,
        median_end=NOW,
        p95_end=NOW,
        cause="waits",
        remedy="raise it",
        cause_code=CauseCode.QUEUE_WAIT,
        remedies=(Remedy(RemedyAction.RAISE_SETTING, "concurrency.low", "to 3"),),
        since=NOW - timedelta(hours=1),
        runs_used=12,
        checked_at=NOW,
        progress_samples=(ProgressSample(NOW, 25.5),),
        part_samples=(PartSample(3, 1800, 40.0),),
    )
    execution = replace(execution_of(JOB, NOW, status=Status.QUEUED, now=NOW), outlook=outlook)
    assert item_to_execution(plain(typed(execution_to_item(execution)))).outlook == outlook


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
    assert execution_to_item(typical)["needs_follow_up"] is None
    assert execution_to_item(replace(typical, **field))["needs_follow_up"] is True


def test_an_item_of_another_kind_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="not a job"):
        item_to_job({"job_id": "x"})
    with pytest.raises(Unreadable, match="not an execution"):
        item_to_execution({"job_id": "x"})
