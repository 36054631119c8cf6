from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.identity import execution_id
from punctual.domain.requests.execution_filter import DeadlineValue, ExecutionFilter, execution_filter_of
from punctual.domain.status import Status
from tests.unit.aws.jobs import JOB

DUE = datetime(2026, 11, 16, 12, tzinfo=UTC)
EXECUTION = Execution(
    job_id=JOB.job_id,
    execution_id=execution_id(JOB.job_id, DUE),
    owner="quality",
    task="echo",
    scheduled_at=DUE,
    status=Status.SUCCEEDED,
    job_name="Nightly",
    tags={"dataset": "orders", "tier": "gold"},
    worker_id="w",
    deadline_at=DUE + timedelta(hours=1),
    ended_at=DUE,
)
ORDERS, GOLD = ("dataset", "orders"), ("tier", "gold")
MATCHING: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"job_id": JOB.job_id}, {"job_id": "another"}),
    ({"owner": "quality"}, {"owner": "finance"}),
    ({"statuses": frozenset({Status.SUCCEEDED, Status.FAILED})}, {"statuses": frozenset({Status.FAILED})}),
    ({"task": "echo"}, {"task": "ech"}),
    ({"job_name": "NIGHT"}, {"job_name": "ightly"}),
    ({"tags": (ORDERS, GOLD)}, {"tags": (ORDERS, ("tier", "silver"))}),
    ({"origins": frozenset({Origin.SCHEDULE})}, {"origins": frozenset({Origin.RUN})}),
    ({"worker_id": "w"}, {"worker_id": "v"}),
    ({"deadlines": frozenset({DeadlineValue.MET})}, {"deadlines": frozenset({DeadlineValue.MISSED})}),
    ({"since": DUE}, {"since": DUE + timedelta(seconds=1)}),
    ({"until": DUE + timedelta(seconds=1)}, {"until": DUE}),
]


@pytest.mark.parametrize(("matching", "other"), MATCHING, ids=lambda fields: next(iter(fields)))
def test_an_execution_has_to_match_every_field(matching: dict[str, Any], other: dict[str, Any]) -> None:
    assert ExecutionFilter(**matching).matches(EXECUTION)
    assert not ExecutionFilter(**other).matches(EXECUTION)
    assert not ExecutionFilter(**{"owner": "quality", "task": "echo", **other}).matches(EXECUTION)


def test_an_execution_without_a_name_and_a_deadline_matches_no_filter_on_them() -> None:
    plain = replace(EXECUTION, job_name=None, deadline_at=None)
    assert ExecutionFilter().matches(plain)
    assert not ExecutionFilter(job_name="n").matches(plain)
    assert not ExecutionFilter(deadlines=frozenset(DeadlineValue)).matches(plain)


@pytest.mark.parametrize("fields", [one for pair in MATCHING for one in pair])
def test_a_filter_of_executions_reads_back_from_its_stored_form(fields: dict[str, Any]) -> None:
    where = ExecutionFilter(**fields)
    assert execution_filter_of(json.loads(json.dumps(where.to_spec()))) == where
    assert ExecutionFilter().to_spec() == {}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"job_id": JOB.job_id}, True),
        ({"until": DUE}, True),
        ({"statuses": frozenset({Status.SCHEDULED, Status.FAILED})}, True),
        ({"statuses": frozenset({Status.FAILED})}, False),
        ({"statuses": frozenset({Status.FAILED}), "until": DUE, "job_id": JOB.job_id}, False),
    ],
)
def test_executions_that_are_not_due_yet_are_included_on_request(fields: dict[str, Any], expected: bool) -> None:
    assert ExecutionFilter(**fields).includes_planned is expected
