"""The overview: what needs attention, what is late and due next, and acknowledgements."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from punctual.aws import clients
from punctual.domain.instant import to_text
from tests.integration.long_lane import LongLane
from tests.integration.world import World

HOUR, DAY = 3600, 86_400


def overview(world: World) -> dict[str, Any]:
    status, found = world.request("GET", "/overview", role="viewer")
    assert status == 200, found
    assert world.refused == set()
    return found


def attention(world: World) -> list[dict[str, Any]]:
    return overview(world)["attention"]


def endanger(world: World, **fields: Any) -> str:
    """Plan an execution that will miss its deadline, and check it. Returns its id."""
    job = world.submit(
        name="tight",
        schedule={"cron": "0 1 20 11 *", "timezone": "Europe/Berlin", "max_runs": 1},
        expected_seconds=300,
        deadline={"within_seconds": 150},
        **fields,
    )
    world.deliver_streams()
    world.monitor_tick()
    world.deliver_checks()
    return job["execution_id"]


def raise_alarm(name: str, state: str = "ALARM") -> None:
    cloudwatch = boto3.client("cloudwatch")
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        AlarmDescription=f"{name} is raised.",
        MetricName="Any",
        Namespace="Punctual/test",
        Period=60,
        EvaluationPeriods=1,
        Statistic="Maximum",
        Threshold=0,
        ComparisonOperator="GreaterThanThreshold",
    )
    cloudwatch.set_alarm_state(AlarmName=name, StateValue=state, StateReason="threshold crossed")


def test_nothing_needs_attention_in_an_idle_system(world: World) -> None:
    found = overview(world)
    assert found["attention"] == []
    assert found["alarms"] == []
    assert found["deadlines"] == {
        "met": 0,
        "missed": 0,
        "missed_live": 0,
        "will_miss": 0,
        "at_risk": 0,
        "on_track": 0,
    }
    assert found["failed_today"] == {"since": "2026-11-16T00:00:00.000Z", "count": 0, "items": []}
    assert (found["due_next"], found["late"]) == ([], {"items": [], "examined_since": None})


def test_the_failures_of_today_are_counted_and_the_latest_are_shown_with_the_reason(world: World) -> None:
    world.submit(task="fail", parameters={"fatal": True})
    world.run_until_idle()
    assert overview(world)["failed_today"]["count"] == 1
    failing = {"task": "fail", "parameters": {"fatal": True}}
    assert world.request("POST", "/jobs", failing, team="reporting")[0] == 201
    world.run_until_idle()
    found = overview(world)["failed_today"]
    assert (found["count"], {one["owner"] for one in found["items"]}) == (2, {"data-quality", "reporting"})
    world.pass_time(DAY)
    jobs = []
    for n in range(12):
        jobs.append(world.submit(name=f"job-{n}", task="fail", parameters={"fatal": True}))
        world.submit(task="echo")
        world.run_until_idle()
        world.pass_time(900)
    found = overview(world)["failed_today"]
    assert (found["since"], found["count"]) == ("2026-11-17T00:00:00.000Z", 12)
    assert [one["job_id"] for one in found["items"]] == [job["job_id"] for job in jobs[:1:-1]]
    latest = found["items"][0]
    assert (latest["status"], latest["reason"]) == ("failed", "fatal error: not retried")
    assert (latest["job_name"], latest["owner"], latest["task"]) == ("job-11", "data-quality", "fail")
    assert world.execution(latest["execution_id"])["ended_at"] == latest["ended_at"]


def test_deadlines_that_were_met_and_missed_today_are_counted(world: World) -> None:
    with_deadline: dict[str, Any] = {"deadline": {"within_seconds": HOUR}, "overlap": "allow"}
    world.submit(task="echo", **with_deadline)
    world.run_until_idle()
    world.pass_time(DAY)
    for task in ("echo", "echo", "fail"):
        world.submit(task=task, retry={"max_attempts": 1}, **with_deadline)
    world.submit(task="echo")
    world.run_until_idle()
    world.submit(schedule={"at": "2026-11-20T00:00:00Z"}, expected_seconds=5, **with_deadline)
    world.deliver_streams()
    expected = {"met": 2, "missed": 1, "missed_live": 0, "will_miss": 0, "at_risk": 0, "on_track": 1}
    assert overview(world)["deadlines"] == expected
    assert world.request("GET", "/deadlines")[1]["counts"] == expected
    _, within = world.request("GET", "/deadlines?from=2026-11-01T00:00:00Z")
    assert within["counts"] == expected | {"met": None, "missed": 0}


def test_every_list_of_executions_shows_the_time_zone_of_the_schedule(world: World) -> None:
    berlin = {"cron": "* * * * *", "timezone": "Europe/Berlin", "max_runs": 3}
    job = world.submit(task="fail", schedule=berlin, deadline={"within_seconds": HOUR}, retry={"max_attempts": 1})
    world.submit(task="fail", parameters={"fatal": True})
    world.run_for(70, step=10)
    shown = overview(world)
    failed, due = shown["failed_today"]["items"], shown["due_next"]
    deadlines = world.request("GET", "/deadlines")[1]["items"]
    listed = world.request("GET", "/executions")[1]["items"]
    world.pass_time(HOUR)
    late = overview(world)["late"]["items"]
    for items in (failed, due, deadlines, listed, late):
        assert [one for one in items if one["job_id"] == job["job_id"]]
        for one in items:
            zone = "Europe/Berlin" if one["job_id"] == job["job_id"] else "UTC"
            assert (one["timezone"], world.execution(one["execution_id"])["timezone"]) == (zone, zone)
    assert len({one["job_id"] for one in listed}) == 2


def test_a_deadline_in_danger_needs_attention_with_cause_remedy_and_beginning(world: World) -> None:
    fine = world.submit(schedule={"at": "2026-11-20T00:00:00Z"}, deadline={"within_seconds": HOUR}, expected_seconds=5)
    execution_id = endanger(world)
    found_at = to_text(world.now)
    world.pass_time(30)
    found = overview(world)
    [item] = found["attention"]
    assert item["id"] == f"deadline.{execution_id}"
    assert item["subject"] == {
        "type": "execution",
        "id": execution_id,
        "job_name": "tight",
        "timezone": "Europe/Berlin",
        "owner": "data-quality",
    }
    assert (item["kind"], item["state"], item["deadline"]["state"]) == ("deadline", "open", "will_miss")
    assert item["cause"].startswith("it is expected to take 5 minutes")
    assert item["remedy"].startswith("schedule it earlier")
    assert item["since"] == found_at
    assert (found["deadlines"]["will_miss"], found["deadlines"]["on_track"]) == (1, 1)
    assert [one["execution_id"] for one in found["due_next"]] == sorted([fine["execution_id"], execution_id])
    assert found["due_next"][0]["scheduled_at"] == "2026-11-20T00:00:00.000Z"


def test_a_queue_near_its_limit_needs_attention_until_it_is_drained(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKLOG_MESSAGES", "20")
    for _ in range(3):
        world.submit(priority="low")
    world.deliver_streams()
    world.deliver_streams()
    world.monitor_tick()
    assert attention(world) == []
    for _ in range(17):
        world.sqs.send_message(QueueUrl=world.queues["low"], MessageBody="{}")
    world.pass_time(60)
    world.monitor_tick()
    began_at = to_text(world.now)
    world.pass_time(60)
    world.monitor_tick()
    [item] = attention(world)
    assert (item["id"], item["since"]) == ("queue.low", began_at)
    assert "20 messages wait in queue low" in item["cause"]
    assert "it exceeds its limit of 2 minutes or 20 messages" in item["cause"]
    assert "concurrency.low" in item["remedy"]
    world.sqs.purge_queue(QueueUrl=world.queues["low"])
    world.pass_time(60)
    world.monitor_tick()
    assert attention(world) == []


def test_a_raised_alarm_of_the_stack_needs_attention(world: World) -> None:
    raise_alarm("Punctual-DeadLetters")
    raise_alarm("Punctual-SweepBehind", "OK")
    raise_alarm("Another-DeadLetters")
    found = overview(world)
    [alarm] = found["alarms"]
    assert (alarm["name"], alarm["description"]) == ("Punctual-DeadLetters", "Punctual-DeadLetters is raised.")
    assert alarm["reason"] == "threshold crossed"
    assert alarm["since"].endswith("Z")
    [item] = found["attention"]
    assert (item["id"], item["since"]) == ("alarm.Punctual-DeadLetters", alarm["since"])


def test_alarms_are_read_at_most_once_a_minute(world: World) -> None:
    overview(world)
    raise_alarm("Punctual-DeadLetters")
    world.pass_time(59)
    assert overview(world)["alarms"] == []
    world.pass_time(1)
    assert len(overview(world)["alarms"]) == 1


def test_the_overview_is_shown_without_alarms_if_they_cannot_be_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "Throttling", "Message": "slow down"}}, "DescribeAlarms")

    monkeypatch.setattr(clients.cloudwatch(), "describe_alarms", fail)
    found = overview(world)
    assert (found["alarms"], found["attention"]) == (None, [])


def test_an_acknowledged_item_is_open_again_when_its_state_changes(world: World) -> None:
    execution_id = endanger(world)
    item_id = f"deadline.{execution_id}"
    world.pass_time(1)
    status, answer = world.request("PUT", f"/attention/{item_id}", {"state": "acknowledged", "note": "known"})
    assert status == 200, answer
    until = "2026-12-16T12:00:01.000Z"
    expected = {"by": "operator@data-quality", "at": to_text(world.now), "until": until, "note": "known"}
    assert answer == {"id": item_id, "state": "acknowledged", "acknowledgement": expected}
    [item] = attention(world)
    assert (item["state"], item["acknowledgement"]) == ("acknowledged", expected)
    stored = next(one for one in world.items("signals") if one["id"]["S"] == f"attention#{item_id}")
    assert int(stored["expires_at"]["N"]) == 1_797_422_401

    world.pass_time(4 * DAY)  # the deadline passes
    world.deliver_streams()
    world.monitor_tick()
    world.deliver_checks()
    [item] = attention(world)
    assert (item["deadline"]["state"], item["state"], item["acknowledgement"]) == ("missed", "open", None)


def test_a_snoozed_item_is_open_again_at_its_instant(world: World) -> None:
    raise_alarm("Punctual-DeadLetters")
    path = "/attention/alarm.Punctual-DeadLetters"
    status, _ = world.request("PUT", path, {"state": "snoozed", "until": "2026-11-16T13:00:00Z", "note": "known"})
    assert status == 200
    [item] = attention(world)
    assert (item["state"], item["acknowledgement"]["note"]) == ("snoozed", "known")
    world.pass_time(HOUR)
    assert [one["state"] for one in attention(world)] == ["open"]


def test_open_items_come_before_acknowledged_ones(world: World) -> None:
    item_id = f"deadline.{endanger(world)}"
    raise_alarm("Punctual-DeadLetters")
    assert [one["kind"] for one in attention(world)] == ["deadline", "alarm"]
    world.request("PUT", f"/attention/{item_id}", {"state": "acknowledged"})
    assert [one["kind"] for one in attention(world)] == ["alarm", "deadline"]


def test_an_acknowledgement_can_be_undone(world: World) -> None:
    path = f"/attention/deadline.{endanger(world)}"
    world.request("PUT", path, {"state": "acknowledged"})
    assert world.request("DELETE", f"{path}?dry_run=true")[0] == 200
    assert [one["state"] for one in attention(world)] == ["acknowledged"]
    status, answer = world.request("DELETE", path)
    assert (status, answer["state"], answer["acknowledgement"]) == (200, "open", None)
    assert [one["state"] for one in attention(world)] == ["open"]
    assert world.request("DELETE", path)[0] == 200


def test_a_dry_run_acknowledges_nothing(world: World) -> None:
    path = f"/attention/deadline.{endanger(world)}?dry_run=true"
    status, answer = world.request("PUT", path, {"state": "acknowledged"})
    assert (status, answer["state"]) == (200, "acknowledged")
    assert [one["state"] for one in attention(world)] == ["open"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "state"),
        ({"state": "ignored"}, "state"),
        ({"state": "open"}, "state"),
        ({"state": "snoozed"}, "until"),
        ({"state": "snoozed", "until": "2026-11-16T11:00:00Z"}, "until"),
        ({"state": "snoozed", "until": "2026-12-17T12:00:00Z"}, "until"),
        ({"state": "snoozed", "until": "tomorrow"}, "until"),
        ({"state": "acknowledged", "note": ""}, "note"),
        ({"state": "acknowledged", "notes": "x"}, "notes"),
    ],
)
def test_an_invalid_acknowledgement_is_refused_and_names_the_field(
    world: World, body: dict[str, Any], field: str
) -> None:
    status, problem = world.request("PUT", "/attention/queue.low", body)
    assert (status, problem["errors"][0]["field"]) == (422, field)
    assert not [one for one in world.items("signals") if one["id"]["S"].startswith("attention#")]


def test_only_operators_of_its_team_acknowledge_the_item_of_an_execution(world: World) -> None:
    path = f"/attention/deadline.{endanger(world)}"
    body = {"state": "acknowledged"}
    assert world.request("PUT", path, body, role="viewer")[0] == 403
    assert world.request("PUT", path, body, team="another")[0] == 403
    assert world.request("DELETE", path, team="another")[0] == 403
    assert world.request("PUT", path, body, role="admin", team="another")[0] == 200
    assert world.request("PUT", "/attention/queue.low", body, team="another")[0] == 200
    assert world.request("PUT", "/attention/queue.low", body, role="viewer")[0] == 403


def test_an_unknown_item_is_not_found(world: World) -> None:
    for item_id in ("nothing", "queue.", "weather.rain", "deadline.20261116T120000000Z-01kxq0v9m3c8e7w2r5t4y6h1nb"):
        status, problem = world.request("PUT", f"/attention/{item_id}", {"state": "acknowledged"})
        assert status == 404, problem


def test_an_execution_that_has_not_started_is_late_after_a_minute(world: World) -> None:
    job = world.submit()
    world.deliver_streams()
    world.pass_time(60)
    assert overview(world)["late"]["items"] == []
    world.pass_time(1)
    [late] = overview(world)["late"]["items"]
    assert (late["job_id"], late["status"]) == (job["job_id"], "queued")
    world.run_until_idle()
    assert overview(world)["late"]["items"] == []


def test_late_executions_are_looked_for_among_the_last_that_came_due(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("punctual.stages.api.agenda.MAX_EXAMINED", 3)
    jobs = []
    for _ in range(4):
        jobs.append(world.submit())
        world.deliver_streams()
        world.pass_time(1)
    world.pass_time(60)
    late = overview(world)["late"]
    assert [one["job_id"] for one in late["items"]] == [one["job_id"] for one in jobs[1:]]
    assert late["examined_since"] == late["items"][0]["scheduled_at"]


def test_late_executions_of_a_backlog_are_found_behind_those_that_came_due_last(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("punctual.stages.api.agenda.MAX_EXAMINED", 2)
    world.monitor_tick()
    world.pass_time(1)
    late_for_long = [world.submit()["job_id"] for _ in range(3)]
    world.deliver_streams()
    world.pass_time(59)
    world.monitor_tick()
    for _ in range(3):
        world.submit(schedule={"at": to_text(world.now)}, priority="high")
        world.pass_time(10)
    world.deliver_streams()
    world.pass_time(61)
    found = [one["job_id"] for one in overview(world)["late"]["items"]]
    assert (len(found), set(found[:2]) <= set(late_for_long)) == (4, True)


def test_a_late_execution_of_the_long_lane_is_found_behind_those_that_came_due_last(
    world: World, lane: LongLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("punctual.stages.api.agenda.MAX_EXAMINED", 1)
    job = lane.submit()
    world.pass_time(30)
    world.submit()
    world.run_until_idle()
    world.pass_time(61)
    assert [one["job_id"] for one in overview(world)["late"]["items"]] == [job["job_id"]]


def test_the_executions_due_next_come_from_all_teams_soonest_first(world: World) -> None:
    later = world.submit(schedule={"at": "2026-11-18T00:00:00Z"})
    sooner = world.request("POST", "/jobs", {"task": "echo", "schedule": {"at": "2026-11-17T00:00:00Z"}}, team="b")[1]
    for n in range(25):
        world.submit(schedule={"at": f"2026-11-19T00:{n:02d}:00Z"})
    world.deliver_streams()
    found = overview(world)["due_next"]
    assert [one["job_id"] for one in found[:2]] == [sooner["job_id"], later["job_id"]]
    assert len(found) == 20
    assert world.request("PUT", f"/executions/{sooner['execution_id']}/cancel", team="b")[0] == 200
    assert overview(world)["due_next"][0]["job_id"] == later["job_id"]
