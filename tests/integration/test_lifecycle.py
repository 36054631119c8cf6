"""The path of an execution from submission to history, through the real handlers."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

from punctual.domain.instant import from_text, to_text
from tests.integration.world import World


def test_a_job_without_a_schedule_runs_immediately_and_is_done(world: World) -> None:
    job = world.submit(parameters={"greeting": "hello"})
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    assert execution["status"] == "succeeded"
    assert execution["result"]["value"] == {"greeting": "hello"}
    assert execution["attempt"] == 1
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "done"


def test_a_job_for_an_instant_never_starts_early(world: World) -> None:
    due = world.now + timedelta(minutes=10)
    job = world.submit(schedule={"at": to_text(due)})
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    assert execution["status"] == "scheduled"
    world.run_for(590, step=5)
    assert world.executions(job["job_id"])[0]["status"] == "queued"
    world.run_for(15)
    [execution] = world.executions(job["job_id"])
    assert execution["status"] == "succeeded"
    assert from_text(execution["started_at"]) >= due


def test_a_recurring_job_runs_and_records_every_instant(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60})
    world.run_for(605, step=5)
    ended = [one for one in world.executions(job["job_id"]) if one["status"] == "succeeded"]
    dues = [from_text(one["scheduled_at"]) for one in ended]
    assert len(dues) == 10
    assert {later - earlier for earlier, later in itertools.pairwise(dues)} == {timedelta(seconds=60)}


def test_a_job_for_a_recent_instant_runs_immediately(world: World) -> None:
    job = world.submit(schedule={"at": to_text(world.now - timedelta(seconds=4))})
    world.run_until_idle()
    assert [one["status"] for one in world.executions(job["job_id"])] == ["succeeded"]


def test_a_job_that_runs_every_second_is_planned_up_to_the_horizon_in_one_invocation(world: World) -> None:
    jobs = [{"task": "echo", "schedule": {"every_seconds": 1}} for _ in range(3)]
    made = world.request("POST", "/jobs/batch", {"jobs": jobs})[1]["items"]
    world.deliver_streams()
    for job in made:
        page = world.request("GET", f"/jobs/{job['job_id']}/executions?limit=1&status=scheduled")[1]
        [latest] = page["items"]
        assert latest["status"] == "scheduled"
        assert from_text(latest["scheduled_at"]) == world.now + timedelta(seconds=241)


def test_a_success_that_needs_no_follow_up_is_kept_for_a_shorter_time(world: World) -> None:
    brief = world.submit(schedule={"every_seconds": 60})
    failing = world.submit(task="fail", parameters={"fatal": True}, schedule={"every_seconds": 60})
    last_of_its_job = world.submit()
    world.run_for(65, step=5)
    assert _days_kept(world, brief, "succeeded") == {35}
    assert _days_kept(world, failing, "failed") == {90}
    assert _days_kept(world, last_of_its_job, "succeeded") == {90}


def _days_kept(world: World, job: dict[str, Any], status: str) -> set[int]:
    items = [one for one in world.items("executions") if one["job_id"]["S"] == job["job_id"]]
    return {
        round((int(one["expires_at"]["N"]) - from_text(one["ended_at"]["S"]).timestamp()) / 86_400)
        for one in items
        if one["status"]["S"] == status
    }
