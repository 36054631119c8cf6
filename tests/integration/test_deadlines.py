"""Deadlines: checked in time, reported once, with cause and remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from punctual.aws.dynamodb.watched_executions import DynamoWatchedExecutions
from punctual.domain.instant import to_text
from tests.integration.long_lane import Container, LongLane, start_part
from tests.integration.world import World

HOUR, MINUTE = 3600, 60


@pytest.fixture
def slow(world: World, lane: LongLane) -> tuple[dict[str, Any], Container]:
    """A job that takes one hour, with a deadline after two. It has started, and its deadline was checked once."""
    job, container = start_part(lane, name="slow", expected_seconds=HOUR, deadline={"within_seconds": 2 * HOUR})
    world.monitor_tick()
    assert world.deliver_checks()
    return job, container


def pass_minutes(world: World, container: Container, minutes: int, percent: float, since: float = 0) -> None:
    """Let progress rise steadily from ``since`` to ``percent``; the monitor runs every five minutes only, for speed."""
    for minute in range(5, minutes + 1, 5):
        world.pass_time(5 * MINUTE)
        container.heartbeat(percent=since + (percent - since) * minute / minutes, message="")
        world.deliver_streams()
        world.monitor_tick()
        world.deliver_checks()


def deadline(lane: LongLane, job: dict[str, Any]) -> dict[str, Any]:
    return lane.world.executions(job["job_id"])[0]["deadline"]


def test_a_slow_job_is_reported_long_before_its_deadline_and_again_when_it_recovers(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    assert deadline(lane, job)["state"] == "on_track"
    pass_minutes(world, container, 40, 10)
    endangered = deadline(lane, job)
    assert endangered["state"] in ("at_risk", "will_miss")
    notices = world.deliver_notices()
    assert notices
    assert len({one["event"] for one in notices}) == len(notices)  # one notice per event
    assert "slower than usual" in notices[-1]["facts"]["cause"]
    assert "partitions" in notices[-1]["facts"]["remedy"]
    assert notices[-1]["title"].startswith("slow ")
    assert "Remedy: " in notices[-1]["text"]

    pass_minutes(world, container, 20, 95, since=10)
    assert deadline(lane, job)["state"] == "on_track"
    assert [one["event"] for one in world.deliver_notices()] == ["recovered"]
    pass_minutes(world, container, 5, 99, since=95)
    assert world.deliver_notices() == []


def test_a_duplicate_deadline_check_sends_one_notice(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    pass_minutes(world, container, 20, 2)
    world.deliver_notices()
    world.pass_time(90 * MINUTE)
    container.heartbeat(percent=3.0, message="")
    world.monitor_tick()
    messages = world.receive("checks")
    world.call("monitor", {"Records": messages})
    world.call("monitor", {"Records": messages})
    events = [one["event"] for one in world.deliver_notices()]
    assert len(events) == len(set(events))
    assert deadline(lane, job)["state"] == "will_miss"


def test_a_monitor_crash_between_notice_and_record_is_repaired_without_a_second_notice(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, container = slow
    world.pass_time(100 * MINUTE)
    container.heartbeat(percent=5.0, message="")
    world.deliver_streams()
    world.monitor_tick()
    messages = world.receive("checks")
    real: Callable[..., bool] = DynamoWatchedExecutions.record_outlook

    def crash(*_: Any) -> bool:
        raise RuntimeError("killed")

    monkeypatch.setattr(DynamoWatchedExecutions, "record_outlook", crash)
    answer = world.call("monitor", {"Records": messages})
    assert len(answer["batchItemFailures"]) == len(messages)
    monkeypatch.setattr(DynamoWatchedExecutions, "record_outlook", real)
    assert world.call("monitor", {"Records": messages}) == {"batchItemFailures": []}
    assert deadline(lane, job)["state"] == "will_miss"
    assert [one["event"] for one in world.deliver_notices()] == ["will_miss"]


def test_a_lost_deadline_check_is_sent_again_by_the_next_monitor_tick(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    world.pass_time(100 * MINUTE)
    container.heartbeat(percent=5.0, message="")
    world.deliver_streams()
    world.monitor_tick()
    assert world.receive("checks")  # lost: no monitor processes it
    world.pass_time(MINUTE)
    world.monitor_tick()
    assert world.deliver_checks()
    assert deadline(lane, job)["state"] == "will_miss"


def test_a_deadline_that_passes_is_missed_and_no_longer_checked(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    for _ in range(13):
        world.pass_time(10 * MINUTE)
        container.heartbeat(percent=10.0, message="")
        world.deliver_streams()
        world.monitor_tick()
        world.deliver_checks()
    assert deadline(lane, job)["state"] == "missed"
    assert "deadline_missed" in [one["event"] for one in world.deliver_notices()]
    world.pass_time(MINUTE)
    assert world.monitor_tick()["checks_sent"] == 0
    assert world.monitor_tick()["figures"]["DeadlinesMissed"] == 1


def test_an_execution_at_risk_that_finishes_in_time_recovers_and_its_run_time_is_recorded(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    pass_minutes(world, container, 40, 10)
    assert world.monitor_tick()["figures"]["DeadlinesAtRisk"] == 1
    world.deliver_notices()
    container.conclude()
    lane.next_parts(job)
    world.run_until_idle()
    world.run_until_idle()
    assert [one["event"] for one in world.deliver_notices()] == ["recovered"]
    assert world.monitor_tick()["figures"]["DeadlinesAtRisk"] == 0
    [item] = [one for one in world.items("jobs") if one["job_id"]["S"] == job["job_id"]]
    assert '"execution":[2400]' in item["run_times"]["S"]


def test_a_failed_execution_has_missed_its_deadline(world: World) -> None:
    job = world.submit(name="doomed", task="fail", parameters={"fatal": True}, deadline={"within_seconds": 600})
    world.run_until_idle()
    world.run_until_idle()
    notices = {one["event"]: one for one in world.deliver_notices()}
    assert set(notices) == {"failed", "deadline_missed"}
    assert notices["deadline_missed"]["job_id"] == job["job_id"]
    assert "ended as failed" in notices["deadline_missed"]["facts"]["cause"]


def test_an_execution_that_stays_on_track_sends_no_notice(world: World) -> None:
    world.submit(deadline={"within_seconds": 600}, expected_seconds=5)
    world.run_until_idle()
    world.monitor_tick()
    world.deliver_checks()
    assert world.deliver_notices() == []


def test_an_execution_that_waits_for_a_slot_names_the_cause_and_the_remedy(world: World, lane: LongLane) -> None:
    _, holder = start_part(lane, name="holder", resources={"vcpu": 4}, expected_seconds=5 * HOUR)
    job = lane.submit(name="waits", resources={"vcpu": 2}, expected_seconds=HOUR, deadline={"within_seconds": 2 * HOUR})
    lane.next_parts(job)
    lane.request_slot(job)
    world.deliver_streams()
    world.deliver_streams()
    world.monitor_tick()
    world.monitor_tick()
    world.deliver_checks()
    [notice] = world.deliver_notices()
    assert notice["event"] == "will_miss"
    cause = "waits for a slot of the long lane for about 5 hours more; tasks running: 1, waiting: 1"
    assert cause in notice["facts"]["cause"]
    assert notice["facts"]["remedy"].startswith("raise long.vcpus to 6, or pause or cancel execution ")
    assert holder.assignment["execution_id"] in notice["facts"]["remedy"]
    assert lane.execution(job)["deadline"]["latest_safe_start"] < notice["facts"]["deadline_at"]


def test_partitions_that_wait_for_slots_name_the_slots_as_cause_and_remedy(world: World, lane: LongLane) -> None:
    job = lane.submit(name="divided", partitions=7, expected_seconds=HOUR, deadline={"within_seconds": 100 * MINUTE})
    names = lane.next_parts(job)["parts"]
    tickets = [lane.request_slot(job, name) for name in names]
    world.deliver_streams()
    world.deliver_streams()
    for grant in filter(None, map(lane.grant_for, tickets)):
        Container(world, grant).claim()
    assert [one["status"] for one in lane.execution(job)["parts"]] == ["running"] * 4 + ["waiting"] * 3
    world.monitor_tick()
    world.deliver_checks()
    [notice] = world.deliver_notices()
    assert notice["facts"]["cause"] == "3 partitions are waiting for slots: the lane has 4 slots"
    remedy = "raise the lane from 4 to 7 slots (long.vcpus to 7 and long.tasks to 7), or next time start by "
    assert notice["facts"]["remedy"].startswith(remedy)
    shown = lane.execution(job)["deadline"]
    assert (shown["state"], shown["cause"]) == (notice["facts"]["state"], notice["facts"]["cause"])


def test_slots_that_planned_executions_will_request_are_part_of_the_forecast(world: World, lane: LongLane) -> None:
    later = {"at": to_text(world.now + timedelta(minutes=10))}
    lane.submit(name="later", schedule=later, partitions=4, expected_seconds=9 * HOUR, deadline={"within_seconds": 1})
    deadline = {"within_seconds": 150 * MINUTE}
    job = lane.submit(name="divided", partitions=8, expected_seconds=HOUR, deadline=deadline)
    world.monitor_tick()
    outlook = lane.execution(job)["deadline"]
    assert outlook["state"] == "will_miss"
    assert outlook["cause"].endswith("the lane has 4 slots, and other executions are due before the deadline")


def test_the_run_times_of_partitions_are_recorded_run_by_run(world: World, lane: LongLane) -> None:
    job = lane.submit(partitions=3)
    for seconds, name in enumerate(lane.next_parts(job)["parts"], start=10):
        container = lane.container(job, name)
        container.claim()
        world.pass_time(seconds)
        container.conclude()
    lane.next_parts(job)
    world.run_until_idle()
    [item] = [one for one in world.items("jobs") if one["job_id"]["S"] == job["job_id"]]
    assert json.loads(item["run_times"]["S"]) == {"execution": [33], "partition": [10, 11, 12], "partitions": [3]}


def test_an_impossible_deadline_far_in_the_future_is_reported_immediately(world: World) -> None:
    job = world.submit(
        name="too-tight",
        schedule={"at": "2026-11-20T00:00:00Z"},
        expected_seconds=500,
        deadline={"at": "2026-11-20T00:05:00Z"},
    )
    world.deliver_streams()
    world.monitor_tick()
    world.deliver_checks()
    [notice] = world.deliver_notices()
    assert (notice["event"], notice["job_id"]) == ("will_miss", job["job_id"])
    assert world.execution(notice["execution_id"])["deadline"]["latest_safe_start"] < "2026-11-20T00:00"


def test_deadlines_are_listed_in_pages_with_those_at_risk_first(
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
    assert fine["counts"]["at_risk"] + fine["counts"]["will_miss"] == 1
    assert fine["counts"]["on_track"] == 3
    _, several = world.request("GET", "/deadlines?state=on_track,will_miss,at_risk")
    assert [one["job_id"] for one in several["items"]] == [one["job_id"] for one in found]
    counted = [
        world.request("GET", f"/deadlines?limit=1&{states}")[1]["total"]
        for states in ("state=on_track&state=missed", "state=on_track,at_risk,will_miss", "state=missed")
    ]
    assert counted == [3, 4, 0]
    status, problem = world.request("GET", "/deadlines?state=fine")
    assert (status, problem["errors"][0]["field"]) == (422, "state")


def test_the_queues_are_shown_before_the_first_tick_of_the_monitor(world: World) -> None:
    world.submit(priority="low")
    world.deliver_streams()
    world.deliver_streams()
    status, queues = world.request("GET", "/queues")
    assert status == 200
    assert queues["at"] == to_text(world.now)
    assert {one["queue"]: one["depth"] for one in queues["items"]} == {"high": 0, "normal": 0, "low": 1, "intake": 0}
    assert {one["arrival_per_minute"] for one in queues["items"]} == {None}
    overview = world.request("GET", "/overview")[1]
    assert (overview["at"], overview["queues"]) == (queues["at"], queues["items"])
    assert world.refused == set()


def test_the_overview_counts_running_waiting_and_endangered_executions(
    world: World, slow: tuple[dict[str, Any], Container]
) -> None:
    _, container = slow
    world.submit()
    world.run_until_idle()
    pass_minutes(world, container, 40, 10)
    status, overview = world.request("GET", "/overview")
    assert status == 200
    assert overview["running"] == 1
    assert overview["slots"] == {"tasks": 4, "vcpus": 4.0, "taken_tasks": 1, "taken_vcpus": 1.0, "waiting_tasks": 0}
    deadlines = overview["deadlines"]
    assert deadlines["at_risk"] + deadlines["will_miss"] == 1
    assert [one["queue"] for one in overview["queues"]] == ["high", "normal", "low", "intake"]
    assert world.request("GET", "/queues")[1]["items"] == overview["queues"]


def test_a_job_sends_notices_only_for_the_events_it_subscribes_to(world: World) -> None:
    subscribed = world.submit(name="subscribed", notify={"on": ["succeeded"]}, deadline={"within_seconds": 600})
    world.submit(name="unsubscribed", notify={"on": []}, task="fail", parameters={"fatal": True})
    world.run_until_idle()
    world.run_until_idle()
    assert [(one["event"], one["job_id"]) for one in world.deliver_notices()] == [("succeeded", subscribed["job_id"])]
    assert world.request("GET", f"/jobs/{subscribed['job_id']}")[1]["notify"] == {"on": ["succeeded"], "to": "notice"}
    status, problem = world.request("POST", "/jobs", {"task": "echo", "notify": {"on": ["exploded"]}})
    assert (status, problem["errors"][0]["field"]) == (422, "notify.on.0")


def test_a_message_that_is_not_a_check_is_dead_lettered(world: World) -> None:
    world.sqs.send_message(QueueUrl=world.queues["checks"], MessageBody="{}")
    world.deliver_checks()
    assert [one["body"] for one in world.receive("monitor-dead")] == ["{}"]
    assert world.monitor_tick()["figures"]["DeadLetters"] == 0


def test_a_check_of_a_queued_execution_sends_no_second_work_order(world: World) -> None:
    job = world.submit(deadline={"within_seconds": 600})
    world.deliver_streams()
    assert len(world.orders()) == 1  # no worker receives it
    for _ in range(4):
        world.pass_time(100)
        world.monitor_tick()
        world.deliver_checks()
        world.deliver_streams()
    [execution] = world.executions(job["job_id"])
    assert execution["deadline"]["checked_at"] > execution["queued_at"]
    assert world.orders() == []


def test_a_subscription_to_deadlines_at_risk_includes_worse_events(world: World) -> None:
    world.submit(
        schedule={"at": "2026-11-20T00:00:00Z"},
        expected_seconds=500,
        deadline={"at": "2026-11-20T00:05:00Z"},
        notify={"on": ["deadline_at_risk"]},
    )
    world.deliver_streams()
    world.monitor_tick()
    world.deliver_checks()
    assert [one["event"] for one in world.deliver_notices()] == ["will_miss"]


def test_an_edit_that_removes_the_risk_reports_a_recovery_and_another_edit_reports_nothing(
    world: World,
) -> None:
    job = world.submit(schedule={"at": "2026-11-20T00:00:00Z"}, expected_seconds=300, deadline={"within_seconds": 150})

    def events_after_check(**change: Any) -> list[str]:
        if change:
            assert world.request("PATCH", f"/jobs/{job['job_id']}", change)[0] == 200
        world.deliver_streams()
        world.monitor_tick()
        world.deliver_checks()
        return [one["event"] for one in world.deliver_notices()]

    assert events_after_check() == ["will_miss"]
    assert events_after_check(name="another") == []
    assert events_after_check(deadline={"within_seconds": 3600}) == ["recovered"]


def test_a_missed_deadline_that_both_the_end_and_a_check_detect_is_reported_once(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, container = slow
    pass_minutes(world, container, 115, 20)
    world.deliver_notices()
    world.pass_time(6 * MINUTE)
    # the execution ends before the check is recorded
    monkeypatch.setattr(DynamoWatchedExecutions, "record_outlook", lambda *_: False)
    world.monitor_tick()
    world.deliver_checks()
    container.conclude()
    lane.next_parts(job)
    world.run_until_idle()
    world.run_until_idle()
    assert sorted(one["event"] for one in world.deliver_notices()) == ["deadline_missed", "overrun"]
    assert world.execution(lane.execution(job)["execution_id"])["deadline"]["state"] == "missed"


def test_percentages_are_rounded_to_one_decimal_place(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    pass_minutes(world, container, 30, 100 / 3)
    progress = lane.execution(job)["progress"]
    assert progress["percent"] == 33.3
    execution = world.execution(lane.execution(job)["execution_id"])
    assert [one["progress"]["percent"] for one in execution["parts"]] == [33.3]


def test_the_deadline_of_an_ended_execution_shows_whether_it_was_met(
    world: World, lane: LongLane, slow: tuple[dict[str, Any], Container]
) -> None:
    job, container = slow
    pass_minutes(world, container, 40, 10)
    container.conclude()
    lane.next_parts(job)
    ended = lane.execution(job)["deadline"]
    assert (ended["state"], ended["cause"], ended["probability"]) == ("met", None, None)


def test_deadlines_are_filtered_by_the_instant_of_the_deadline_and_counted(world: World) -> None:
    jobs = [
        world.submit(schedule={"at": f"2026-11-2{n}T00:00:00Z"}, deadline={"within_seconds": HOUR}, expected_seconds=60)
        for n in (1, 2, 3)
    ]
    tight = world.submit(schedule={"at": "2026-11-22T00:00:00Z"}, deadline={"within_seconds": 1}, expected_seconds=60)
    world.deliver_streams()
    world.monitor_tick()
    world.deliver_checks()

    status, page = world.request("GET", "/deadlines?from=2026-11-21T01:00:00Z&to=2026-11-23T01:00:00Z")
    assert status == 200
    assert [one["job_id"] for one in page["items"]] == [tight["job_id"], jobs[0]["job_id"], jobs[1]["job_id"]]
    counts = {"missed": 0, "missed_live": 0, "will_miss": 1, "at_risk": 0, "on_track": 2, "met": None}
    assert page["counts"] == counts
    first = world.request("GET", "/deadlines?from=2026-11-22T00:00:00Z&limit=1")[1]
    second = world.request("GET", f"/deadlines?from=2026-11-22T00:00:00Z&limit=1&cursor={first['cursor']}")[1]
    assert [one["items"][0]["job_id"] for one in (first, second)] == [tight["job_id"], jobs[1]["job_id"]]
    status, problem = world.request("GET", "/deadlines?from=2026-11-22T00:00:00Z&to=2026-11-21T00:00:00Z")
    assert (status, problem["errors"][0]["field"]) == (422, "to")
    assert world.request("GET", "/deadlines?from=tomorrow")[0] == 422


def test_counting_deadlines_stops_at_its_maximum(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in (1, 2, 3):
        world.submit(schedule={"at": f"2026-11-2{n}T00:00:00Z"}, deadline={"within_seconds": HOUR}, expected_seconds=60)
    world.deliver_streams()
    page = world.request("GET", "/deadlines?limit=1")[1]
    assert (page["counts"]["on_track"], page["total"], page["total_is_exact"]) == (3, 3, True)
    monkeypatch.setattr("punctual.stages.api.browse_deadlines.MAX_TOTAL", 2)
    page = world.request("GET", "/deadlines?limit=1")[1]
    assert (page["counts"]["on_track"], page["total"], page["total_is_exact"]) == (2, 2, False)


def test_only_the_first_page_of_deadlines_is_counted(world: World) -> None:
    for n in (1, 2, 3):
        world.submit(schedule={"at": f"2026-11-2{n}T00:00:00Z"}, deadline={"within_seconds": HOUR}, expected_seconds=60)
    world.deliver_streams()
    first = world.request("GET", "/deadlines?limit=1")[1]
    assert (first["counts"]["on_track"], first["total"]) == (3, 3)
    world.aws_requests.clear()
    second = world.request("GET", f"/deadlines?limit=1&cursor={first['cursor']}")[1]
    assert (second["counts"], second["total"]) == (None, None)
    assert world.aws_requests == ["GetItem", "Query", "BatchGetItem"]  # the first reads the numbers of shards
    filtered = world.request("GET", "/deadlines?limit=1&task=echo")[1]
    assert (filtered["counts"]["on_track"], filtered["total"]) == (3, None)


def test_a_deadline_in_danger_has_a_cause_code_remedies_its_beginning_and_the_number_of_runs(world: World) -> None:
    job = world.submit(schedule={"at": "2026-11-20T00:00:00Z"}, expected_seconds=300, deadline={"within_seconds": 150})
    world.deliver_streams()
    world.monitor_tick()
    world.deliver_checks()
    found_at = to_text(world.now)
    world.pass_time(1)
    [listed] = world.request("GET", "/deadlines")[1]["items"]
    shown = world.execution(listed["execution_id"])["deadline"]
    for one in (listed["deadline"], shown):
        assert (one["cause_code"], one["runs_used"], one["since"]) == ("too_little_time", 0, found_at)
        assert [step["target"] for step in one["remedies"]] == ["schedule", "parameters", "deadline"]
        assert {step["action"] for step in one["remedies"]} == {"edit_job"}

    world.request("PATCH", f"/jobs/{job['job_id']}", {"deadline": {"within_seconds": HOUR}})
    world.deliver_streams()
    world.monitor_tick()
    world.deliver_checks()
    fine = world.execution(listed["execution_id"])["deadline"]
    assert (fine["state"], fine["cause_code"], fine["remedies"]) == ("on_track", None, [])
    assert fine["since"] > found_at


def test_a_forecast_names_the_number_of_recorded_runs_it_uses(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60}, deadline={"within_seconds": HOUR})
    world.run_for(361, step=20)
    [live] = world.request("GET", "/deadlines")[1]["items"][:1]
    assert live["job_id"] == job["job_id"]
    [item] = [one for one in world.items("jobs") if one["job_id"]["S"] == job["job_id"]]
    recorded = len(json.loads(item["run_times"]["S"])["execution"])
    assert recorded >= 5
    assert world.execution(live["execution_id"])["deadline"]["runs_used"] == recorded
