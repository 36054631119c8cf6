"""A job is done when nothing of it lives any more, and nothing more comes: however it got there."""

from __future__ import annotations

from datetime import timedelta

import pytest

from punctual.domain.instant import to_text
from tests.integration.mishaps import just_before
from tests.integration.world import World


def state(world: World, job_id: str) -> str:
    return str(world.request("GET", f"/jobs/{job_id}")[1]["state"])


def play(world: World, job_id: str, story: str) -> None:
    for step in story.split():
        match step:
            case "pause" | "resume":
                assert world.request("POST", f"/jobs/{job_id}/{step}")[0] == 200
            case "edit":
                assert world.request("PATCH", f"/jobs/{job_id}", {"parameters": {"at": to_text(world.now)}})[0] == 200
                world.pass_time(1)
            case "run":
                assert world.request("POST", f"/jobs/{job_id}/run", {})[0] == 201
            case "past":
                world.pass_time(125)
                world.tick()
            case "settle":
                world.settle_down()


@pytest.mark.parametrize("policy", ["run_latest", "skip"])
@pytest.mark.parametrize(
    "story",
    [
        "settle pause settle past settle resume",
        "settle pause past resume",
        "settle pause settle past run resume",  # what a person asked for still lives when it goes on
        "settle pause past settle resume",  # its instant was skipped although the pause was heard of late
        "settle pause edit past settle resume",
        "settle edit settle pause settle edit run settle past settle resume",
        "settle past pause edit settle run resume",
    ],
)
def test_what_was_to_run_once_is_done_after_a_pause_over_its_time(world: World, story: str, policy: str) -> None:
    schedule = {"at": to_text(world.now + timedelta(seconds=70))}
    job_id = world.submit(schedule=schedule, misfire={"policy": policy, "grace_seconds": 0})["job_id"]
    play(world, job_id, story)
    world.run_for(180, step=60)
    assert state(world, job_id) == "done"


def test_the_last_of_so_many_still_ends_its_job_when_it_was_edited_late(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 60, "max_runs": 2}, overlap="allow")["job_id"]
    world.deliver_streams()
    world.deliver_streams()
    world.pass_time(130)
    play(world, job_id, "edit settle")  # both have come due, and neither has started
    assert [(one["status"], one["parameters"] != {}) for one in world.executions(job_id)] == [("succeeded", True)] * 2
    assert state(world, job_id) == "done"


def test_a_last_one_that_was_cancelled_before_an_edit_made_it_the_last_does_not_keep_its_job(world: World) -> None:
    job_id = world.submit(schedule={"cron": "*/2 * * * *"}, overlap="allow")["job_id"]
    world.settle_down()
    last = world.executions(job_id)[-1]
    assert world.request("PUT", f"/executions/{last['execution_id']}/cancel")[0] == 200
    world.settle_down()
    schedule = {"cron": "*/2 * * * *", "ends_at": last["scheduled_at"]}
    assert world.request("PATCH", f"/jobs/{job_id}", {"schedule": schedule})[0] == 200
    world.run_for(600, step=60)
    assert state(world, job_id) == "done"


def test_a_job_that_gets_other_rules_just_as_it_is_found_to_be_over_is_not_done(world: World) -> None:
    job_id = world.submit()["job_id"]
    schedule = {"at": to_text(world.now + timedelta(hours=1))}
    edited: list[str] = []

    def edit() -> None:
        assert world.request("PATCH", f"/jobs/{job_id}", {"schedule": schedule})[0] == 200
        edited.append(job_id)

    with just_before("UpdateItem", edit, '"done"'):
        world.settle_down()
    assert (edited, state(world, job_id)) == ([job_id], "active")
    world.run_for(3700, step=60)
    assert [one["status"] for one in world.executions(job_id)] == ["succeeded"] * 2
    assert state(world, job_id) == "done"
