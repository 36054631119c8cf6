"""A stage without the long lane: the API refuses long jobs, and the settler and the monitor do without the lane."""

from __future__ import annotations

import pytest

from tests.integration.world import World

LONG = {"task": "echo", "lane": "long"}
OFF = {
    **dict.fromkeys(("LONG_VCPUS", "LONG_TASKS"), "0"),
    **dict.fromkeys(("STATE_MACHINE_ARN", "SCHEDULE_GROUP", "SCHEDULE_ROLE_ARN", "CLUSTER"), ""),
}


def switch_off(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deploy the stage without the lane."""
    for name, value in OFF.items():
        monkeypatch.setenv(name, value)
    world.start_processes()


def test_the_api_refuses_a_long_job_with_field_reason_and_fix(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    switch_off(world, monkeypatch)
    status, problem = world.request("POST", "/jobs", LONG)
    assert status == 422
    [error] = problem["errors"]
    assert error["field"] == "lane"
    assert error["message"] == (
        'the long lane of this stage is off: use "short", or let an administrator set `enabled = true` in the section '
        "[long] of the stage"
    )
    assert world.request("POST", "/jobs", {"task": "echo"})[0] == 201


def test_a_long_job_of_before_is_not_run_by_hand(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = world.submit(**LONG, schedule={"at": "2027-01-01T00:00:00Z"})
    switch_off(world, monkeypatch)
    status, problem = world.request("POST", f"/jobs/{job['job_id']}/run")
    assert (status, problem["errors"][0]["field"]) == (422, "lane")


def test_a_long_execution_of_before_is_dead_lettered_with_the_reason_when_it_is_due(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.submit(**LONG)
    switch_off(world, monkeypatch)
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    assert execution["status"] == "queued"
    [message] = world.receive("planner-dead")
    assert f"{execution['execution_id']} cannot start, because the long lane of this stage is off" in str(message)


def test_a_long_execution_of_before_can_be_cancelled(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = world.submit(**LONG, schedule={"at": "2027-01-01T00:00:00Z"})
    world.run_until_idle()
    switch_off(world, monkeypatch)
    [execution] = world.executions(job["job_id"])
    assert world.request("PUT", f"/executions/{execution['execution_id']}/cancel")[0] == 200
    world.run_until_idle()
    assert [one["status"] for one in world.executions(job["job_id"])] == ["cancelled"]
    assert world.receive("settler-dead") == []


def test_the_monitor_measures_a_stage_without_the_lane(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    switch_off(world, monkeypatch)
    assert world.monitor_tick()["figures"]["StateMachineFailures"] == 0
