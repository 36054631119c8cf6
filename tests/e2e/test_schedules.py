"""What is far ahead when the tests begin, and has come by now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from punctual.domain.instant import from_text
from tests.e2e.punctual import Punctual


def test_a_job_beyond_the_horizon_is_queued_by_the_dispatcher_in_time(
    punctual: Punctual, begun: dict[str, dict[str, Any]]
) -> None:
    [execution] = punctual.ended(begun["far"], seconds=300)
    due = from_text(execution["scheduled_at"])
    planned_at = from_text(punctual.get(f"/jobs/{execution['job_id']}")["created_at"])
    queued_at, started_at = from_text(execution["queued_at"]), from_text(execution["started_at"])
    assert planned_at + timedelta(seconds=60) < queued_at < due  # not at once, which is the planner's, and not late
    assert due <= started_at < due + timedelta(seconds=6)  # a worker has to be started for it


def test_a_long_job_beyond_the_horizon_is_started_by_its_schedule_to_the_second(
    punctual: Punctual, begun: dict[str, dict[str, Any]]
) -> None:
    [ended] = punctual.ended(begun["far and long"], seconds=300)
    execution = punctual.get(f"/executions/{ended['execution_id']}")
    assert (execution["status"], execution["result"]["value"]) == ("succeeded", {"hello": "later"})
    lateness = from_text(execution["parts"][0]["asked_at"]) - from_text(execution["scheduled_at"])
    assert timedelta() <= lateness < timedelta(seconds=4)
    left = punctual.aws("scheduler").list_schedules(GroupName=punctual.stack["schedule_group"])["Schedules"]
    assert execution["execution_id"] not in [one["Name"] for one in left]
