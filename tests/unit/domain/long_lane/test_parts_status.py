from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from punctual.domain.executions.execution import Failure, Result
from punctual.domain.executions.progress import Progress
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.parts_status import outcome_of_parts, status_of_parts
from punctual.domain.status import Status

AT = datetime(2026, 11, 16, tzinfo=UTC)
PLAIN = Part(
    execution_id="e",
    name="all",
    job_id="j",
    owner="o",
    status=Status.QUEUED,
    cpu=1024,
    memory_mb=2048,
    latest_start=AT,
    expected_seconds=60,
)


def partitions(*statuses: Status, **fields: Any) -> list[Part]:
    return [
        replace(PLAIN, name=f"{n:04d}", number=n, count=len(statuses), status=status, **fields)
        for n, status in enumerate(statuses)
    ]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([Status.QUEUED, Status.QUEUED], None),
        ([Status.WAITING, Status.QUEUED], Status.WAITING),
        ([Status.WAITING, Status.STARTING], Status.STARTING),
        ([Status.WAITING, Status.RUNNING, Status.RETRYING], Status.RUNNING),
        ([Status.SUCCEEDED, Status.RETRYING], Status.RETRYING),
        ([Status.SUCCEEDED, Status.FAILED], None),
    ],
)
def test_an_execution_has_the_status_of_its_most_advanced_live_part(
    statuses: list[Status], expected: Status | None
) -> None:
    found = status_of_parts(partitions(*statuses))
    assert (found.status if found else None) == expected


def test_an_execution_with_a_single_part_takes_over_its_fields() -> None:
    part = replace(PLAIN, status=Status.RUNNING, attempt=2, task_arn="a/b/c", progress=Progress(percent=40))
    found = status_of_parts([part])
    assert found is not None
    assert (found.attempt, found.worker_id, found.progress) == (2, "c", Progress(percent=40))


def test_the_progress_of_partitions_is_averaged() -> None:
    some = partitions(Status.SUCCEEDED, Status.RUNNING, Status.WAITING)
    some[1] = replace(some[1], progress=Progress(percent=50))
    found = status_of_parts(some)
    assert found is not None
    assert found.progress == Progress(percent=50, message="1 of 3 partitions done", done=1, total=3)
    assert found.reason == "parts: 1 waiting, 1 running, 1 succeeded"


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([Status.SUCCEEDED, Status.SUCCEEDED], Status.SUCCEEDED),
        ([Status.SUCCEEDED, Status.TIMED_OUT], Status.TIMED_OUT),
        ([Status.FAILED, Status.TIMED_OUT], Status.FAILED),
        ([Status.CANCELLED, Status.CANCELLED], Status.CANCELLED),
    ],
)
def test_an_execution_ends_with_the_worst_status_of_its_parts(statuses: list[Status], expected: Status) -> None:
    assert outcome_of_parts(partitions(*statuses), Result(value=1)).status is expected


def test_a_successful_execution_has_a_result_and_an_unsuccessful_one_the_first_error() -> None:
    good = outcome_of_parts(partitions(Status.SUCCEEDED), Result(value=1))
    assert (good.result, good.reason, good.error) == (Result(value=1), None, None)
    failure = Failure(type="ValueError", message="bad")
    bad = outcome_of_parts([replace(one, error=failure) for one in partitions(Status.FAILED)], Result(value=1))
    assert (bad.result, bad.error) == (None, failure)
    assert bad.reason == "1 of 1 parts did not succeed: 0000"
