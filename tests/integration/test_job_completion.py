"""A job becomes ``done`` when it has no live execution and no further instant, in every order of events."""

from __future__ import annotations

from datetime import timedelta

import pytest

from punctual.domain.instant import to_text
from tests.integration.faults import just_before
from tests.integration.world import World


def state(world: World, job_id: str) -> str:
    return str(world.request("GET", f"/jobs/{job_id}")[1]["state"])


def perform(world: World, job_id: str, actions: str) -> None:
    for action in actions.split():
        match action:
            case "pause" | "resume":
                assert world.request("POST", f"/jobs/{job_id}/{action}")[0] == 200
            case "edit":
                assert world.request("PATCH", f"/jobs/{job_id}", {"parameters": {"at": to_text(world.now)}})[0] == 200
                world.pass_time(1)
            case "run":
                assert world.request("POST", f"/jobs/{job_id}/run", {})[0] == 201
            case "pass":
                world.pass_time(125)
                world.tick()
            case "idle":
                world.run_until_idle()


@pytest.mark.parametrize("policy", ["run_latest", "skip"])
@pytest.mark.parametrize(
    "actions",
    [
        "idle pause idle pass idle resume",
        "idle pause pass resume",
        "idle pause idle pass run resume",  # the manual run is still live at the resume
        "idle pause pass idle resume",  # the planner sees the pause only after the instant
        "idle pause edit pass idle resume",
        "idle edit idle pause idle edit run idle pass idle resume",
        "idle pass pause edit idle run resume",
    ],
)
def test_a_one_time_job_paused_past_its_instant_becomes_done(world: World, actions: str, policy: str) -> None:
    schedule = {"at": to_text(world.now + timedelta(seconds=70))}
    job_id = world.submit(schedule=schedule, misfire={"policy": policy, "grace_seconds": 0})["job_id"]
    perform(world, job_id, actions)
    world.run_for(180, step=60)
    assert state(world, job_id) == "done"


def test_the_last_execution_of_max_runs_finishes_its_job_after_a_late_edit(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 60, "max_runs": 2}, overlap="allow")["job_id"]
    world.deliver_streams()
    world.deliver_streams()
    world.pass_time(130)
    perform(world, job_id, "edit idle")  # both executions are due, and neither has started
    assert [(one["status"], one["parameters"] != {}) for one in world.executions(job_id)] == [("succeeded", True)] * 2
    assert state(world, job_id) == "done"


def test_a_job_becomes_done_although_its_last_execution_was_cancelled_before_an_edit_made_it_the_last(
    world: World,
) -> None:
    job_id = world.submit(schedule={"cron": "*/2 * * * *"}, overlap="allow")["job_id"]
    world.run_until_idle()
    last = world.executions(job_id)[-1]
    assert world.request("PUT", f"/executions/{last['execution_id']}/cancel")[0] == 200
    world.run_until_idle()
    schedule = {"cron": "*/2 * * * *", "ends_at": last["scheduled_at"]}
    assert world.request("PATCH", f"/jobs/{job_id}", {"schedule": schedule})[0] == 200
    world.run_for(600, step=60)
    assert state(world, job_id) == "done"


def test_a_job_edited_just_before_it_is_marked_done_stays_active(world: World) -> None:
    job_id = world.submit()["job_id"]
    schedule = {"at": to_text(world.now + timedelta(hours=1))}
    edited: list[str] = []

    def edit() -> None:
        assert world.request("PATCH", f"/jobs/{job_id}", {"schedule": schedule})[0] == 200
        edited.append(job_id)

    with just_before("UpdateItem", edit, '"done"'):
        world.run_until_idle()
    assert (edited, state(world, job_id)) == ([job_id], "active")
    world.run_for(3700, step=60)
    assert [one["status"] for one in world.executions(job_id)] == ["succeeded"] * 2
    assert state(world, job_id) == "done"
