"""Executions beyond the horizon: submitted before the first test, due while the last tests run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from punctual.domain.instant import from_text
from tests.e2e.punctual import Punctual


def test_a_job_beyond_the_horizon_is_queued_by_the_dispatcher_in_time(
    punctual: Punctual, early_jobs: dict[str, dict[str, Any]]
) -> None:
    [execution] = punctual.wait_for_end(early_jobs["far"], seconds=300)
    due = from_text(execution["scheduled_at"])
    planned_at = from_text(punctual.get(f"/jobs/{execution['job_id']}")["created_at"])
    queued_at, started_at = from_text(execution["queued_at"]), from_text(execution["started_at"])
    assert planned_at + timedelta(seconds=60) < queued_at < due  # queued by the dispatcher, not by the planner at once
    assert due <= started_at


def test_a_long_job_beyond_the_horizon_is_started_by_its_one_time_schedule_in_time(
    punctual: Punctual, early_jobs: dict[str, dict[str, Any]]
) -> None:
    [ended] = punctual.wait_for_end(early_jobs["far and long"], seconds=300)
    execution = punctual.get(f"/executions/{ended['execution_id']}")
    assert (execution["status"], execution["result"]["value"]) == ("succeeded", {"hello": "later"})
    assert from_text(execution["parts"][0]["requested_at"]) >= from_text(execution["scheduled_at"])
    left = punctual.aws("scheduler").list_schedules(GroupName=punctual.stack["schedule_group"])["Schedules"]
    assert execution["execution_id"] not in [one["Name"] for one in left]
