"""What a single execution shows: its timeline, cost, dependants, forecasts, and the executions ahead of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import to_text
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.long_lane import LongLane, start_part
from tests.integration.world import World


def timeline(execution: dict[str, Any]) -> list[tuple[str, str | None, str | None]]:
    return [(one["kind"], one["at"], one["until"]) for one in execution["events"]]


def only_execution(world: World, job: dict[str, Any]) -> dict[str, Any]:
    [one] = world.executions(job["job_id"])
    return world.execution(one["execution_id"])


def test_the_timeline_has_the_due_instant_the_waits_the_attempts_and_the_end(world: World) -> None:
    due = world.now + timedelta(hours=1)
    job = world.submit(
        task="fail", parameters={"times": 1}, schedule={"at": to_text(due)}, retry={"backoff_seconds": 5}
    )
    world.run_until_idle()
    assert timeline(only_execution(world, job)) == []
    world.pass_time(3600 - 120)
    queued_at = world.now
    world.tick()
    world.deliver_streams()
    world.pass_time(120 + 2)
    first = world.now
    [order] = world.orders()
    world.work(order)
    shown = only_execution(world, job)
    assert timeline(shown) == [
        ("queued", to_text(queued_at), None),
        ("due", to_text(due), None),
        ("waited", to_text(due), to_text(first)),
        ("attempt", to_text(first), to_text(first)),
    ]
    assert [one["outcome"] for one in shown["events"]][-1] == "failed"
    assert shown["events"][2]["reason"] == "for a worker"
    world.run_for(30)
    shown = only_execution(world, job)
    assert shown["status"] == "succeeded"
    *_, backoff, second, end = shown["events"]
    assert (backoff["kind"], backoff["at"], backoff["until"]) == ("waited", to_text(first), second["at"])
    assert (second["kind"], second["attempt"], second["outcome"]) == ("attempt", 2, "succeeded")
    assert (end["kind"], end["at"], end["reason"]) == ("ended", shown["ended_at"], "succeeded")


def test_lists_have_no_details(world: World) -> None:
    job = world.submit()
    world.run_until_idle()
    [listed] = world.executions(job["job_id"])
    assert [listed[name] for name in ("events", "cost", "median_end", "usual_percent", "dependants")] == [None] * 5


def test_a_wait_for_another_execution_is_on_the_timeline(world: World) -> None:
    job = world.submit(
        task="test.scripted", overlap="queue_all", schedule={"at": to_text(world.now + timedelta(hours=9))}
    )
    seen: list[dict[str, Any]] = []

    def run_again(_: Any) -> None:
        if not seen:
            status, answer = world.request("POST", f"/jobs/{job['job_id']}/run", {})
            assert status == 201
            name = answer["execution"]["execution_id"]
            seen.append(answer["execution"])
            world.deliver_streams()
            [order] = world.orders()
            world.pass_time(3)
            world.work(order)
            seen.append(world.execution(name))
            world.pass_time(60)

    TASK_BODIES.append(run_again)
    assert world.request("POST", f"/jobs/{job['job_id']}/run", {})[0] == 201
    world.run_until_idle()
    second = world.execution(seen[0]["execution_id"])
    [waiting] = [one for one in seen[1]["events"] if one["kind"] == "waited"]
    assert (waiting["until"], "waits for" in waiting["reason"]) == (None, True)
    assert seen[1]["waiting_for"]["executions_ahead"] == []
    gate = next(one for one in second["events"] if one["kind"] == "waited")
    assert (gate["at"], gate["until"]) == (second["scheduled_at"], to_text(world.now))
    assert gate["reason"] == waiting["reason"]
    assert second["events"][0]["kind"] == "requested"


def test_the_wait_for_an_upstream_is_on_the_timeline_and_the_upstream_names_its_dependant(world: World) -> None:
    upstream = world.submit(name="load", schedule={"at": to_text(world.now + timedelta(minutes=10))})
    dependant = world.submit(name="report", depends_on=[{"job": upstream["job_id"]}])
    began = world.now
    world.run_until_idle()
    held = only_execution(world, dependant)
    [wait] = [one for one in held["events"] if one["kind"] == "waited"]
    assert (wait["at"], wait["until"]) == (to_text(began), None)
    assert "waits for load" in wait["reason"]
    world.run_for(660)
    first, second = only_execution(world, upstream), only_execution(world, dependant)
    assert first["dependants"] == [
        {
            "execution_id": second["execution_id"],
            "job_id": dependant["job_id"],
            "job_name": "report",
            "status": "succeeded",
        }
    ]
    assert second["dependants"] == []
    [wait] = [one for one in second["events"] if one["reason"] == "for its upstream executions"]
    assert (wait["at"], wait["until"]) == (to_text(began), second["queued_at"])
    assert wait["until"] >= first["ended_at"]


def test_a_cancellation_is_on_the_timeline_when_it_was_requested(world: World) -> None:
    job = world.submit(task="test.scripted")

    def cancel(_: Any) -> None:
        [one] = world.executions(job["job_id"])
        world.pass_time(7)
        assert world.request("PUT", f"/executions/{one['execution_id']}/cancel?grace_seconds=60")[0] == 200

    TASK_BODIES.append(cancel)
    began = world.now
    world.run_until_idle()
    shown = only_execution(world, job)
    [stopping] = [one for one in shown["events"] if one["kind"] == "stopping"]
    assert (stopping["at"], stopping["until"]) == (to_text(began + timedelta(seconds=7)), shown["cancel_at"])
    assert stopping["reason"] == "cancelled by operator@data-quality"


def test_the_cost_of_a_short_execution_counts_its_seconds_and_attempts(world: World) -> None:
    job = world.submit(task="test.scripted")
    TASK_BODIES.append(lambda _: world.pass_time(100))
    world.run_until_idle()
    cost = only_execution(world, job)["cost"]
    assert cost["compute_dollars"] == pytest.approx(100 * 0.5 * 0.0000133334, abs=1e-6)
    assert cost["dollars"] == pytest.approx(cost["compute_dollars"] + cost["requests_dollars"], abs=1e-6)
    later = world.submit(schedule={"at": to_text(world.now + timedelta(days=1))})
    world.run_until_idle()
    assert only_execution(world, later)["cost"] == {"dollars": 0, "compute_dollars": 0, "requests_dollars": 0}


def test_the_timeline_of_a_long_execution_has_slots_attempts_preemptions_and_its_cost(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane, preemptible=True, resources={"vcpu": 4, "memory_mb": 8192})
    began = world.now
    world.pass_time(3600)
    name = lane.execution(job)["execution_id"]
    assert world.request("POST", f"/executions/{name}/yield")[0] == 200
    [stopping] = [one for one in lane.execution(job)["events"] if one["kind"] == "stopping"]
    assert (stopping["part"], stopping["at"]) == ("all", to_text(began + timedelta(hours=1)))
    container.report("checkpoint", state=1)
    container.conclude("interrupted", error={"type": "Interrupted", "message": "asked to stop"})
    for _ in range(3):
        world.deliver_streams()
    lane.conclude_attempt(job, container.grant)
    ended = world.now
    world.pass_time(30)
    second = lane.container(job)
    second.claim()
    shown = lane.execution(job)
    kinds = [(one["kind"], one["part"], one["attempt"]) for one in shown["events"]]
    assert kinds[-4:] == [
        ("attempt", "all", 1),
        ("preempted", "all", 1),
        ("waited", "all", None),
        ("attempt", "all", 2),
    ]
    preempted, waited, running = shown["events"][-3:]
    assert preempted["reason"] == "released by operator@data-quality"
    assert (waited["at"], waited["until"]) == (to_text(ended), to_text(world.now))
    assert (running["at"], running["until"], running["worker_id"]) == (
        to_text(world.now),
        None,
        second.task_arn.rpartition("/")[2],
    )
    assert shown["cost"]["compute_dollars"] == pytest.approx(4 * 0.03238 + 8 * 0.00356, rel=1e-3)  # one hour
    assert shown["cost"]["requests_dollars"] > 0


def test_a_partitioned_execution_forecasts_each_partition(world: World, lane: LongLane) -> None:
    job = lane.submit(partitions={"count": 3, "at_once": 2}, expected_seconds=3600)
    parts = lane.next_parts(job)["parts"]
    running = [lane.container(job, part) for part in parts[:2]]
    for container in running:
        container.claim()
    world.pass_time(600)
    shown = lane.execution(job)
    first, second, third = shown["parts"]
    assert first["expected_start"] == second["expected_start"] == to_text(world.now)
    assert first["expected_end"] > to_text(world.now)
    assert third["expected_start"] >= min(first["expected_end"], second["expected_end"])
    assert third["expected_end"] > third["expected_start"]
    assert shown["median_end"] <= shown["p95_end"]
    running[0].conclude()
    assert [part["expected_end"] is None for part in lane.execution(job)["parts"]] == [True, False, False]


def test_a_running_execution_shows_its_usual_progress_by_now(world: World) -> None:
    job = world.submit(
        task="test.scripted",
        schedule={"every_seconds": 3600},
        deadline={"within_seconds": 3000},
        timeout_seconds=840,
        overlap="allow",
    )
    TASK_BODIES.extend([lambda _: world.pass_time(100)] * 6)
    for _ in range(6):
        world.pass_time(3500)
        world.run_for(240, step=60)
    shown: list[dict[str, Any]] = []

    def look(_: Any) -> None:
        world.pass_time(25)
        running = [one for one in world.executions(job["job_id"]) if one["status"] == "running"]
        shown.extend(world.execution(one["execution_id"]) for one in running)

    TASK_BODIES.append(look)
    world.pass_time(3400)
    world.run_for(240, step=60)
    assert [one["usual_percent"] for one in shown] == [pytest.approx(25, abs=3)]
    assert shown[0]["median_end"] > shown[0]["started_at"]


def test_a_waiting_part_names_the_executions_ahead_of_it_and_when_it_is_expected_to_start(
    world: World, lane: LongLane
) -> None:
    start_part(lane, resources={"vcpu": 4}, expected_seconds=3600)
    ids = []
    for hours in (20, 10, 30):
        rules = {"expected_seconds": 1800, "deadline": {"within_seconds": hours * 3600}}
        job = lane.submit(name=f"within-{hours}", resources={"vcpu": 4}, **rules)
        lane.next_parts(job)
        lane.request_slot(job)
        ids.append(lane.execution(job)["execution_id"])
    world.run_until_idle()
    world.monitor_tick()
    waiting = world.execution(ids[2])["waiting_for"]
    assert (waiting["what"], waiting["ahead"], waiting["executions_ahead"]) == ("slot", 2, [ids[1], ids[0]])
    assert waiting["job_names"] == {ids[1]: "within-10", ids[0]: "within-20"}
    assert waiting["until"] == to_text(world.now + timedelta(seconds=3600 + 2 * 1800))


def test_an_execution_waits_until_a_known_instant_for_its_time_and_for_its_backoff(world: World) -> None:
    later = world.submit(schedule={"at": to_text(world.now + timedelta(days=1))})
    failed = world.submit(task="fail", parameters={"times": 9}, retry={"backoff_seconds": 50})
    world.run_until_idle()
    assert only_execution(world, later)["waiting_for"]["until"] == to_text(world.now + timedelta(days=1))
    resting = only_execution(world, failed)
    assert (resting["waiting_for"]["what"], resting["waiting_for"]["until"]) == ("rest", resting["retry_at"])
