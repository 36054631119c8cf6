"""``GET /lane`` and ``POST /executions/{id}/yield``: who holds the slots of the long lane, and who gets them next."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import from_text, to_text
from tests.integration.long_lane import Container, LongLane, start_part
from tests.integration.world import World

WHOLE_LANE: dict[str, Any] = {"resources": {"vcpu": 4}, "preemptible": True, "expected_seconds": 3600}


def request_slot(world: World, lane: LongLane, **submission: Any) -> tuple[dict[str, Any], str]:
    """Submit a job whose part waits for a slot. Returns the job and the ticket."""
    job = lane.submit(**submission)
    lane.next_parts(job)
    ticket = lane.request_slot(job)
    world.deliver_streams()
    return job, ticket


def execution_id(lane: LongLane, job: dict[str, Any]) -> str:
    return lane.execution(job)["execution_id"]


def yield_slot(world: World, lane: LongLane, job: dict[str, Any], query: str = "", **more: Any) -> tuple[int, Any]:
    return world.request("POST", f"/executions/{execution_id(lane, job)}/yield{query}", **more)


def get_lane(world: World, query: str = "") -> dict[str, Any]:
    status, found = world.request("GET", f"/lane{query}", role="viewer")
    assert status == 200, found
    return found


def stop_at_checkpoint(world: World, lane: LongLane, job: dict[str, Any], container: Container) -> None:
    """The container stores a checkpoint and stops, and its state machine run requests a slot again."""
    assert container.report("checkpoint", state={"half": True})["preempt_reason"]
    assert container.conclude("interrupted", error={"type": "Interrupted", "message": "asked to stop"})["ok"]
    for _ in range(3):
        world.deliver_streams()
    assert lane.conclude_attempt(job, container.grant)["retry"] is True


def test_the_lane_lists_the_holders_and_the_waiting_parts_in_the_order_of_admission(
    world: World, lane: LongLane
) -> None:
    berlin = {"cron": "* * * * *", "timezone": "Europe/Berlin"}
    holder, container = start_part(lane, name="holder", schedule=berlin, **WHOLE_LANE)
    world.pass_time(900)
    container.heartbeat(percent=25.0)
    spec = {"resources": {"vcpu": 4}, "expected_seconds": 1800}
    lax, _ = request_slot(world, lane, name="lax", deadline={"within_seconds": 72_000}, **spec)
    urgent, _ = request_slot(world, lane, name="urgent", deadline={"within_seconds": 36_000}, **spec)
    found = get_lane(world)
    assert found["slots"] == {"tasks": 4, "vcpus": 4, "taken_tasks": 1, "taken_vcpus": 4, "waiting_tasks": 2}
    [holding] = found["holding"]
    assert (holding["execution_id"], holding["job_name"], holding["status"], holding["progress"]["percent"]) == (
        execution_id(lane, holder),
        "holder",
        "running",
        25.0,
    )
    assert holding["timezone"] == "Europe/Berlin"
    assert holding["expected_end"] == to_text(world.now + timedelta(seconds=2700))
    first, second = found["waiting"]
    assert (first["timezone"], second["timezone"]) == ("UTC", "UTC")
    assert [one["execution_id"] for one in (first, second)] == [execution_id(lane, urgent), execution_id(lane, lax)]
    assert first["latest_start"] == to_text(world.now + timedelta(seconds=36_000 - 1800))
    assert first["laxity_seconds"] == 36_000 - 1800
    assert first["expected_start"] == holding["expected_end"]
    assert second["expected_start"] == first["expected_end"] == to_text(world.now + timedelta(seconds=2700 + 1800))
    assert [one["job_name"] for one in get_lane(world, "?limit=1")["waiting"]] == ["urgent"]


def test_the_lane_shows_the_demand_of_planned_executions_over_seven_days(world: World, lane: LongLane) -> None:
    lane.submit(
        schedule={"cron": "0 2 * * *"},
        expected_seconds=5400,
        partitions={"count": 3, "at_once": 2},
        resources={"vcpu": 2},
    )
    found = get_lane(world)
    hours = found["hours"]
    this_hour = world.now.replace(minute=0, second=0, microsecond=0)
    assert (len(hours), hours[0]["at"]) == (168, to_text(this_hour))
    assert found["hours_until"] == to_text(this_hour + timedelta(days=7))
    busy = {hour["at"]: (hour["mean_tasks"], hour["mean_vcpus"]) for hour in hours if hour["mean_tasks"]}
    assert {at: busy[at] for at in sorted(busy)[:3]} == {  # two partitions for 90 minutes, then the third
        "2026-11-17T02:00:00.000Z": (2, 4),
        "2026-11-17T03:00:00.000Z": (1.5, 3),
        "2026-11-17T04:00:00.000Z": (1, 2),
    }
    assert len(busy) == 3 * 7


def test_an_execution_releases_its_slot_at_its_next_checkpoint_and_resumes_later(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, retry={"max_attempts": 1}, **WHOLE_LANE)
    waiting, ticket = request_slot(world, lane, resources={"vcpu": 4}, deadline={"within_seconds": 72_000})
    status, released = yield_slot(world, lane, job)
    assert (status, released["parts"][0]["stopping"]) == (200, "released by operator@data-quality")
    assert get_lane(world)["holding"][0]["stopping"] == "released by operator@data-quality"
    assert lane.stopped == []  # the container is not stopped: it ends by itself at its next checkpoint
    assert lane.grant_for(ticket) is None
    stop_at_checkpoint(world, lane, job, container)
    grant = lane.grant_for(ticket)
    assert grant is not None
    again = lane.request_slot(job)
    world.deliver_streams()
    assert lane.grant_for(again) is None
    [part] = lane.execution(job)["parts"]
    assert (part["status"], part["stopping"]) == ("waiting", None)
    assert [one["outcome"] for one in part["attempts"]] == ["preempted"]
    assert part["attempts"][0]["error"]["message"] == "released by operator@data-quality"
    assert lane.execution(waiting)["status"] == "starting"


def test_a_dry_run_names_the_execution_that_would_get_the_slot(world: World, lane: LongLane) -> None:
    job, _ = start_part(lane, **WHOLE_LANE)
    name = execution_id(lane, job)
    alone = {"dry_run": True, "releases": [{"execution_id": name, "part": "all"}], "grants": []}
    assert yield_slot(world, lane, job, "?dry_run=true") == (200, alone)
    small = {"resources": {"vcpu": 2}}
    lax, _ = request_slot(world, lane, deadline={"within_seconds": 200_000}, **small)
    urgent, _ = request_slot(world, lane, deadline={"within_seconds": 72_000}, **small)
    request_slot(world, lane, deadline={"within_seconds": 250_000}, **small)  # there is no room for a third
    status, forecast = yield_slot(world, lane, job, "?dry_run=true")
    assert (status, [one["execution_id"] for one in forecast["grants"]]) == (
        200,
        [execution_id(lane, urgent), execution_id(lane, lax)],
    )
    assert lane.execution(job)["parts"][0]["stopping"] is None  # nothing was written


def test_a_waiting_part_that_does_not_fit_into_the_released_slot_blocks_those_behind_it(
    world: World, lane: LongLane
) -> None:
    job, _ = start_part(lane, preemptible=True, resources={"vcpu": 2})
    start_part(lane, resources={"vcpu": 2})
    request_slot(world, lane, resources={"vcpu": 4}, deadline={"within_seconds": 72_000})
    request_slot(world, lane, resources={"vcpu": 1}, deadline={"within_seconds": 200_000})
    assert yield_slot(world, lane, job, "?dry_run=true")[1]["grants"] == []


def test_all_running_partitions_release_their_slots(world: World, lane: LongLane) -> None:
    job = lane.submit(partitions={"count": 3}, preemptible=True)
    parts = lane.next_parts(job)["parts"]
    containers = [lane.container(job, part) for part in parts]
    for container in containers[:2]:
        container.claim()
    status, released = yield_slot(world, lane, job)
    stopping = {part["part"]: part["stopping"] for part in released["parts"]}
    reason = "released by operator@data-quality"
    assert (status, [stopping[part] for part in parts]) == (200, [reason, reason, None])


def test_releasing_twice_is_one_release_and_a_repeated_request_leaves_the_next_attempt_alone(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane, **WHOLE_LANE)
    key = {"headers": {"idempotency-key": "once"}}
    assert yield_slot(world, lane, job, **key)[0] == 200
    assert yield_slot(world, lane, job, **key)[0] == 200
    assert yield_slot(world, lane, job)[0] == 200
    stop_at_checkpoint(world, lane, job, container)
    world.pass_time(5)
    second = lane.container(job)
    assert second.claim()["resume"] == {"half": True}
    assert yield_slot(world, lane, job, **key)[0] == 200
    assert second.heartbeat()["preempt_reason"] is None
    assert yield_slot(world, lane, job, headers={"idempotency-key": "twice"})[0] == 200
    assert second.heartbeat()["preempt_reason"] == "released by operator@data-quality"


def test_a_container_that_ends_before_its_next_checkpoint_keeps_its_result(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, **WHOLE_LANE)
    yield_slot(world, lane, job)
    assert container.conclude(value=1)["ok"]
    lane.conclude_attempt(job, container.grant)
    lane.next_parts(job)
    world.run_until_idle()
    execution = lane.execution(job)
    assert (execution["status"], execution["result"]["value"]) == ("succeeded", 1)
    assert lane.used_capacity() == (0, 0)


def test_a_container_that_dies_after_the_request_frees_its_slot_once(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, retry={"max_attempts": 1}, **WHOLE_LANE)
    yield_slot(world, lane, job)
    container.stop(exit_code=137)
    container.stop(exit_code=137)  # ECS delivers the event twice
    world.deliver_streams()
    assert lane.conclude_attempt(job, container.grant, Error="Punctual.Stopped", Cause="{}")["retry"] is True
    assert lane.used_capacity() == (0, 0)
    [part] = lane.execution(job)["parts"]
    assert [one["outcome"] for one in part["attempts"]] == ["preempted"]


@pytest.mark.parametrize(
    ("submission", "obstacle"),
    [
        ({"lane": "short"}, "it runs in the short lane, which has no slots"),
        ({}, "it is not preemptible"),
        ({"preemptible": True}, "none of its parts is running"),
    ],
)
def test_an_execution_without_a_slot_to_release_is_refused(
    world: World, lane: LongLane, submission: dict[str, Any], obstacle: str
) -> None:
    job = lane.submit(**submission)
    for query in ("", "?dry_run=true"):
        status, problem = yield_slot(world, lane, job, query)
        assert (status, problem["errors"][0]["field"]) == (409, "execution_id")
        assert obstacle in problem["detail"]


def test_an_execution_that_ended_or_was_asked_to_stop_is_refused(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, **WHOLE_LANE)
    name = execution_id(lane, job)
    assert world.request("PUT", f"/executions/{name}/cancel")[0] == 200
    assert "was asked to stop" in yield_slot(world, lane, job)[1]["detail"]
    world.run_until_idle()
    container.conclude("cancelled")
    lane.conclude_attempt(job, container.grant)
    assert "already ended as cancelled" in yield_slot(world, lane, job)[1]["detail"]


def test_only_operators_of_the_owning_team_release_a_slot(world: World, lane: LongLane) -> None:
    job, _ = start_part(lane, **WHOLE_LANE)
    assert yield_slot(world, lane, job, role="viewer")[0] == 403
    assert yield_slot(world, lane, job, team="another")[0] == 403
    assert yield_slot(world, lane, job, "?dry_run=true", team="another")[0] == 403
    assert yield_slot(world, lane, job, role="admin", team="another")[0] == 200
    assert world.request("POST", "/executions/20261116T120000000Z-nothing/yield")[0] == 404


def test_expected_ends_of_the_lane_do_not_lie_in_the_past(world: World, lane: LongLane) -> None:
    start_part(lane, **WHOLE_LANE)
    world.pass_time(7200)
    [holding] = get_lane(world)["holding"]
    assert from_text(holding["expected_end"]) >= world.now
