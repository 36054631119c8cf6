"""Deadlines on moto: looked at in time, told of once, with cause and remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from punctual.aws.dynamodb.watched_executions import DynamoWatchedExecutions
from tests.integration.long_lane import Container, LongLane, begun
from tests.integration.world import World

HOUR, MINUTE = 3600, 60


@pytest.fixture
def slow(world: World, lane: LongLane) -> tuple[dict[str, Any], Container]:
    """An hour's work with a deadline after two. It has begun, and was looked at once."""
    job, container = begun(lane, name="slow", expected_seconds=HOUR, deadline={"within_seconds": 2 * HOUR})
    world.watch()
    assert world.look()
    return job, container


def pass_minutes(world: World, container: Container, minutes: int, percent: float, since: float = 0) -> None:
    """At a steady pace from ``since`` percent to ``percent``. Of the monitor's minutes, every fifth will do."""
    for minute in range(5, minutes + 1, 5):
        world.pass_time(5 * MINUTE)
        container.beat(percent=since + (percent - since) * minute / minutes, message="")
        world.deliver_streams()
        world.watch()
        world.look()


def deadline(lane: LongLane, job: dict[str, Any]) -> dict[str, Any]:
    return lane.world.executions(job["job_id"])[0]["deadline"]


def test_a_job_that_runs_slower_than_usual_is_told_of_long_before_its_deadline_and_when_it_recovers(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    assert deadline(lane, job)["state"] == "on_track"
    pass_minutes(world, container, 40, 10)
    in_danger = deadline(lane, job)
    assert in_danger["state"] in ("at_risk", "will_miss")
    told = world.tell()
    assert told
    assert len({one["event"] for one in told}) == len(told)  # each once
    assert "slower than usual" in told[-1]["facts"]["cause"]
    assert "partitions" in told[-1]["facts"]["remedy"]
    assert told[-1]["title"].startswith("slow ")
    assert "What would help: " in told[-1]["text"]

    pass_minutes(world, container, 20, 95, since=10)
    assert deadline(lane, job)["state"] == "on_track"
    assert [one["event"] for one in world.tell()] == ["recovered"]
    pass_minutes(world, container, 5, 99, since=95)
    assert world.tell() == []


def test_a_look_that_is_asked_for_twice_tells_once(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    pass_minutes(world, container, 20, 2)
    world.tell()
    world.pass_time(90 * MINUTE)
    container.beat(percent=3.0, message="")
    world.watch()
    messages = world.receive("checks")
    world.call("monitor", {"Records": messages})
    world.call("monitor", {"Records": messages})
    events = [one["event"] for one in world.tell()]
    assert len(events) == len(set(events))
    assert deadline(lane, job)["state"] == "will_miss"


def test_whoever_dies_between_telling_and_recording_is_followed_by_one_who_records_and_tells_nothing_more(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, container = slow
    world.pass_time(100 * MINUTE)
    container.beat(percent=5.0, message="")
    world.deliver_streams()
    world.watch()
    messages = world.receive("checks")
    note: Callable[..., bool] = DynamoWatchedExecutions.note_outlook

    def die(*_: Any) -> bool:
        raise RuntimeError("killed")

    monkeypatch.setattr(DynamoWatchedExecutions, "note_outlook", die)
    answer = world.call("monitor", {"Records": messages})
    assert len(answer["batchItemFailures"]) == len(messages)
    monkeypatch.setattr(DynamoWatchedExecutions, "note_outlook", note)
    assert world.call("monitor", {"Records": messages}) == {"batchItemFailures": []}
    assert deadline(lane, job)["state"] == "will_miss"
    assert [one["event"] for one in world.tell()] == ["will_miss"]


def test_a_look_that_was_lost_is_sent_again_by_the_next_minute(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    world.pass_time(100 * MINUTE)
    container.beat(percent=5.0, message="")
    world.deliver_streams()
    world.watch()
    assert world.receive("checks")  # and nobody looks
    world.pass_time(MINUTE)
    world.watch()
    assert world.look()
    assert deadline(lane, job)["state"] == "will_miss"


def test_a_deadline_that_passes_is_missed_and_not_looked_at_any_more(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    for _ in range(13):
        world.pass_time(10 * MINUTE)
        container.beat(percent=10.0, message="")
        world.deliver_streams()
        world.watch()
        world.look()
    assert deadline(lane, job)["state"] == "missed"
    assert [one["event"] for one in world.tell()][-1] == "missed"
    world.pass_time(MINUTE)
    assert world.watch()["checks_sent"] == 0
    assert world.watch()["figures"]["DeadlinesMissed"] == 1


def test_one_in_danger_that_ends_in_time_has_recovered_and_its_run_time_is_known(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    pass_minutes(world, container, 40, 10)
    assert world.watch()["figures"]["DeadlinesAtRisk"] == 1
    world.tell()
    container.conclude()
    lane.next(job)
    world.settle_down()
    world.settle_down()
    assert [one["event"] for one in world.tell()] == ["recovered"]
    assert world.watch()["figures"]["DeadlinesAtRisk"] == 0
    [item] = [one for one in world.items("jobs") if one["job_id"]["S"] == job["job_id"]]
    assert '"execution":[2400]' in item["run_times"]["S"]


def test_one_that_fails_has_missed_its_deadline(world: World) -> None:
    job = world.submit(name="doomed", task="fail", parameters={"fatal": True}, deadline={"within_seconds": 600})
    world.settle_down()
    world.settle_down()
    [told] = world.tell()
    assert (told["event"], told["job_id"]) == ("missed", job["job_id"])
    assert "ended as failed" in told["facts"]["cause"]


def test_one_that_was_fine_all_along_is_told_to_nobody(world: World) -> None:
    world.submit(deadline={"within_seconds": 600}, expected_seconds=5)
    world.settle_down()
    world.watch()
    world.look()
    assert world.tell() == []


def test_what_waits_for_a_slot_says_so_and_what_would_help(world: World, lane: LongLane) -> None:
    _, holder = begun(lane, name="holder", resources={"vcpu": 4}, expected_seconds=5 * HOUR)
    job = lane.submit(name="waits", resources={"vcpu": 2}, expected_seconds=HOUR, deadline={"within_seconds": 2 * HOUR})
    lane.next(job)
    lane.ask(job)
    world.deliver_streams()
    world.deliver_streams()
    world.watch()
    world.watch()
    world.look()
    [told] = world.tell()
    assert told["event"] == "will_miss"
    assert "waits for a slot of the long lane for about 5 hours more; 1 run and 1 ask" in told["facts"]["cause"]
    assert told["facts"]["remedy"].startswith("raise the long lane's vcpus to 6, or pause or cancel ")
    assert holder.assignment["execution_id"] in told["facts"]["remedy"]
    assert lane.execution(job)["deadline"]["latest_safe_start"] < told["facts"]["deadline_at"]


def test_what_is_planned_far_ahead_and_cannot_be_made_is_told_at_once(world: World) -> None:
    job = world.submit(
        name="too-tight",
        schedule={"at": "2026-11-20T00:00:00Z"},
        expected_seconds=500,
        deadline={"at": "2026-11-20T00:05:00Z"},
    )
    world.deliver_streams()
    world.watch()
    world.look()
    [told] = world.tell()
    assert (told["event"], told["job_id"]) == ("will_miss", job["job_id"])
    assert world.execution(told["execution_id"])["deadline"]["latest_safe_start"] < "2026-11-20T00:00"


def test_the_endangered_come_first_in_the_list_and_it_goes_on_page_by_page(
    world: World, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    later = [
        world.submit(schedule={"at": f"2026-11-2{n}T00:00:00Z"}, deadline={"within_seconds": HOUR}, expected_seconds=60)
        for n in (1, 2, 3)
    ]
    world.deliver_streams()
    pass_minutes(world, container, 40, 10)
    found: list[dict[str, Any]] = []
    path = "/deadlines?limit=2"
    while True:
        _, page = world.request("GET", path)
        found += page["items"]
        if page["cursor"] is None:
            break
        path = f"/deadlines?limit=2&cursor={page['cursor']}"
    assert [one["job_id"] for one in found] == [job["job_id"], *(one["job_id"] for one in later)]
    _, fine = world.request("GET", "/deadlines?state=on_track")
    assert [one["job_id"] for one in fine["items"]] == [one["job_id"] for one in later]
    assert world.request("GET", "/deadlines?state=fine")[0] == 422


def test_the_overview_counts_what_runs_waits_and_is_in_danger(
    world: World, slow: tuple[dict[str, Any], Container]
) -> None:
    _, container = slow
    world.submit()
    world.settle_down()
    pass_minutes(world, container, 40, 10)
    status, overview = world.request("GET", "/overview")
    assert status == 200
    assert overview["running"] == 1
    assert overview["slots"] == {"tasks": 4, "vcpus": 4.0, "taken_tasks": 1, "taken_vcpus": 1.0, "waiting": 0}
    deadlines = overview["deadlines"]
    assert deadlines["at_risk"] + deadlines["will_miss"] == 1
    assert [one["queue"] for one in overview["queues"]] == ["high", "normal", "low", "intake"]
    assert world.request("GET", "/queues")[1]["items"] == overview["queues"]


def test_who_wants_to_hear_of_ends_hears_of_them_and_of_nothing_else(world: World) -> None:
    loud = world.submit(name="loud", notify={"on": ["succeeded"]}, deadline={"within_seconds": 600})
    world.submit(name="silent", notify={"on": []}, task="fail", parameters={"fatal": True})
    world.settle_down()
    world.settle_down()
    assert [(one["event"], one["job_id"]) for one in world.tell()] == [("succeeded", loud["job_id"])]
    assert world.request("GET", f"/jobs/{loud['job_id']}")[1]["notify"] == {"on": ["succeeded"], "to": "notice"}
    status, problem = world.request("POST", "/jobs", {"task": "echo", "notify": {"on": ["exploded"]}})
    assert (status, problem["errors"][0]["field"]) == (422, "notify.on.0")


def test_a_message_that_is_no_check_is_buried(world: World) -> None:
    world.sqs.send_message(QueueUrl=world.queues["checks"], MessageBody="{}")
    world.look()
    assert [one["body"] for one in world.receive("monitor-dead")] == ["{}"]
    assert world.watch()["figures"]["DeadLetters"] == 0


def test_a_look_at_one_that_waits_in_a_queue_sends_no_second_order(world: World) -> None:
    job = world.submit(deadline={"within_seconds": 600})
    world.deliver_streams()
    assert len(world.orders()) == 1  # and no worker takes it
    for _ in range(4):
        world.pass_time(100)
        world.watch()
        world.look()
        world.deliver_streams()
    [execution] = world.executions(job["job_id"])
    assert execution["deadline"]["checked_at"] > execution["queued_at"]
    assert world.orders() == []


def test_whoever_asked_for_deadlines_at_risk_hears_of_worse(world: World) -> None:
    world.submit(
        schedule={"at": "2026-11-20T00:00:00Z"},
        expected_seconds=500,
        deadline={"at": "2026-11-20T00:05:00Z"},
        notify={"on": ["deadline_at_risk"]},
    )
    world.deliver_streams()
    world.watch()
    world.look()
    assert [one["event"] for one in world.tell()] == ["will_miss"]


def test_an_edit_that_cures_the_danger_is_told_as_a_recovery_and_one_that_does_not_is_not_told_again(
    world: World,
) -> None:
    job = world.submit(schedule={"at": "2026-11-20T00:00:00Z"}, expected_seconds=300, deadline={"within_seconds": 150})

    def looked_at(**change: Any) -> list[str]:
        if change:
            assert world.request("PATCH", f"/jobs/{job['job_id']}", change)[0] == 200
        world.deliver_streams()
        world.watch()
        world.look()
        return [one["event"] for one in world.tell()]

    assert looked_at() == ["will_miss"]
    assert looked_at(name="another") == []
    assert looked_at(deadline={"within_seconds": 3600}) == ["recovered"]


def test_a_deadline_that_an_end_and_a_look_both_see_missed_is_told_once(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, container = slow
    pass_minutes(world, container, 115, 20)
    world.tell()
    world.pass_time(6 * MINUTE)
    monkeypatch.setattr(
        DynamoWatchedExecutions, "note_outlook", lambda *_: False
    )  # it ends before the look is recorded
    world.watch()
    world.look()
    container.conclude()
    lane.next(job)
    world.settle_down()
    world.settle_down()
    assert [one["event"] for one in world.tell()] == ["missed"]
    assert world.execution(lane.execution(job)["execution_id"])["deadline"]["state"] == "missed"


def test_once_it_has_ended_its_deadline_says_whether_it_was_made(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    pass_minutes(world, container, 40, 10)
    container.conclude()
    lane.next(job)
    ended = lane.execution(job)["deadline"]
    assert (ended["state"], ended["cause"], ended["probability"]) == ("on_track", None, None)
