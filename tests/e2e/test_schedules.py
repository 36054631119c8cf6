"""What is far ahead when the tests begin, and has come by now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from punctual.domain.instant import from_text
from tests.e2e.punctual import Punctual


def test_a_long_job_beyond_the_horizon_is_started_by_its_schedule_to_the_second(
    punctual: Punctual, far_ahead: dict[str, Any]
) -> None:
    [ended] = punctual.ended(far_ahead, seconds=300)
    execution = punctual.get(f"/executions/{ended['execution_id']}")
    assert (execution["status"], execution["result"]["value"]) == ("succeeded", {"hello": "later"})
    lateness = from_text(execution["parts"][0]["asked_at"]) - from_text(execution["scheduled_at"])
    assert timedelta() <= lateness < timedelta(seconds=4)
    left = punctual.aws("scheduler").list_schedules(GroupName=punctual.stack["schedule_group"])["Schedules"]
    assert execution["execution_id"] not in [one["Name"] for one in left]
