"""Which events are notified: failures by default, ends without a run on request, and overruns without a deadline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.long_lane import LongLane, start_part
from tests.integration.world import World

FATAL = {"task": "fail", "parameters": {"fatal": True}}
CRON = {"cron": "0 8 * * *", "timezone": "Europe/Berlin"}


def events(world: World) -> list[str]:
    return sorted(one["event"] for one in world.deliver_notices())


def run_next(world: World) -> None:
    """Let a minute pass, and run what came due."""
    world.run_for(61, step=61)


# failures


def test_a_failure_is_notified_by_default_with_cause_remedy_and_link(world: World) -> None:
    job = world.submit(name="orders", **FATAL)
    world.run_until_idle()
    [notice] = world.deliver_notices()
    assert (notice["event"], notice["title"], notice["job_id"]) == ("failed", "orders failed", job["job_id"])
    [execution] = world.executions(job["job_id"])
    link = f"https://api.example.com/console/executions/{execution['execution_id']}"
    assert notice["facts"]["link"] == link
    for line in ("Cause: ", "Remedy: ", f"Job: orders ({job['job_id']})", f"Link: {link}"):
        assert f"\n{line}" in notice["text"]


def test_a_failure_of_a_recurring_job_is_notified_by_default(world: World) -> None:
    world.submit(name="orders", schedule={"every_seconds": 60}, **FATAL)
    run_next(world)
    assert events(world) == ["failed"]


def test_the_times_of_a_notice_are_local_in_the_zone_of_the_job(world: World) -> None:
    job = world.submit(name="orders", schedule=CRON, **FATAL)
    status, _ = world.request("POST", f"/jobs/{job['job_id']}/run")
    assert status == 201
    world.run_until_idle()
    [notice] = world.deliver_notices()
    assert "+01:00 Europe/Berlin\n" in notice["text"].split("Due: ")[1]


def test_a_job_can_disable_notices(world: World) -> None:
    world.submit(notify={"on": []}, **FATAL)
    world.run_until_idle()
    assert events(world) == []


def test_a_successful_recurring_execution_still_needs_no_follow_up(world: World) -> None:
    world.submit(schedule={"every_seconds": 60})
    run_next(world)
    assert [item for item in world.items("executions") if "needs_follow_up" in item] == []


def test_the_former_name_of_a_missed_deadline_is_accepted(world: World) -> None:
    job = world.submit(notify={"on": ["missed"]}, deadline={"within_seconds": 600}, **FATAL)
    assert job["notify"]["on"] == ["deadline_missed"]
    world.run_until_idle()
    assert events(world) == ["deadline_missed"]


# executions that did not run


@pytest.mark.parametrize(("on", "found"), [("execution_missed", ["execution_missed"]), ("deadline_missed", [])])
def test_a_missed_execution_is_notified_on_request_apart_from_a_missed_deadline(
    world: World, on: str, found: list[str]
) -> None:
    job = world.submit(
        schedule={"every_seconds": 3600}, misfire={"policy": "skip", "grace_seconds": 0}, notify={"on": [on]}
    )
    world.run_until_idle()
    world.request("POST", f"/jobs/{job['job_id']}/pause")
    world.run_until_idle()
    world.pass_time(3700)
    world.request("POST", f"/jobs/{job['job_id']}/resume")
    world.run_until_idle()
    assert "missed" in {one["status"] for one in world.executions(job["job_id"])}
    assert events(world) == found


def test_an_execution_that_an_overlap_skips_is_notified_on_request(world: World) -> None:
    def overlap(_context: Any) -> None:
        world.request("POST", f"/jobs/{job['job_id']}/run")
        world.run_until_idle()

    TASK_BODIES.append(overlap)
    job = world.submit(
        name="orders",
        task="test.scripted",
        schedule={"every_seconds": 60},
        overlap="skip",
        notify={"on": ["execution_skipped"]},
    )
    run_next(world)
    [notice] = world.deliver_notices()
    assert (notice["event"], notice["title"]) == ("execution_skipped", "orders was skipped")
    assert "still runs" in notice["facts"]["cause"]


# overruns


def ran(world: World, seconds: float) -> Callable[[Any], None]:
    return lambda _context: world.pass_time(seconds)


def monitored(world: World, seconds: float, published: list[dict[str, Any]]) -> Callable[[Any], None]:
    """A task that runs while the monitor ticks twice, a minute apart."""

    def run(_context: Any) -> None:
        world.pass_time(seconds)
        for _ in range(2):
            world.monitor_tick()
            published.extend(world.deliver_notices())
            world.pass_time(60)

    return run


@pytest.mark.parametrize("overlap", ["skip", "allow"])
def test_a_run_far_beyond_its_usual_time_is_notified_once_without_a_deadline(world: World, overlap: str) -> None:
    published: list[dict[str, Any]] = []
    TASK_BODIES.extend([*(ran(world, 100) for _ in range(5)), monitored(world, 210, published)])
    job = world.submit(name="orders", task="test.scripted", schedule={"every_seconds": 600}, overlap=overlap)
    for _ in range(6):
        world.run_for(600, step=60)
    [notice] = [one for one in published if one["event"] == "overrun"]
    assert notice["title"] == "orders runs far longer than usual"
    assert notice["facts"]["cause"] == "running for 4 minutes; it usually takes up to 100 seconds"
    assert "/cancel" in notice["facts"]["remedy"]
    assert notice["job_id"] == job["job_id"]


def test_a_run_up_to_twice_the_usual_time_is_no_overrun(world: World) -> None:
    published: list[dict[str, Any]] = []
    TASK_BODIES.extend([*(ran(world, 200) for _ in range(5)), monitored(world, 330, published)])
    world.submit(task="test.scripted", schedule={"every_seconds": 600})
    for _ in range(6):
        world.run_for(600, step=60)
    assert published == []


def test_a_first_run_is_compared_with_the_expected_time(world: World) -> None:
    for expected, found in ((60, ["overrun"]), (600, []), (None, [])):
        published: list[dict[str, Any]] = []
        TASK_BODIES.append(monitored(world, 200, published))
        world.submit(task="test.scripted", **({"expected_seconds": expected} if expected else {}))
        world.run_until_idle()
        assert [one["event"] for one in published] == found


def test_a_job_without_the_event_gets_no_notice_of_an_overrun(world: World) -> None:
    published: list[dict[str, Any]] = []
    TASK_BODIES.append(monitored(world, 200, published))
    world.submit(task="test.scripted", expected_seconds=10, notify={"on": ["failed"]})
    world.run_until_idle()
    assert published == []


def test_an_overrun_of_the_long_lane_is_notified(world: World, lane: LongLane) -> None:
    _, container = start_part(lane, name="weekly", expected_seconds=600)
    container.heartbeat(percent=20, message="")
    world.deliver_streams()
    world.pass_time(1260)
    world.monitor_tick()
    [notice] = world.deliver_notices()
    assert (notice["event"], notice["title"]) == ("overrun", "weekly runs far longer than usual")
    assert "20% done" in notice["facts"]["cause"]


def test_an_overrun_that_a_missed_tick_did_not_see_is_notified_by_the_next(world: World, lane: LongLane) -> None:
    start_part(lane, expected_seconds=600)
    world.deliver_streams()
    world.pass_time(1200 + 540)
    world.monitor_tick()
    assert events(world) == ["overrun"]
