"""Queue jobs: their backlog in ``GET /queues``, and their limits, which notify."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from punctual.aws import clients
from punctual.domain.instant import to_text
from punctual.stages.watch import check_backlogs
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World

LIMITS = {"messages": 10, "minutes": 30}


def queue_job(world: World, **submission: Any) -> str:
    return str(world.submit(schedule={"queue": True}, **submission)["job_id"])


def send(world: World, job_id: str, count: int = 1) -> None:
    """Let the intake store messages of a job, and the planner send their work orders."""
    body = json.dumps({"job_id": job_id, "payload": {}})
    for _ in range(count):
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)
    while world.deliver_streams() or has_intake(world):
        world.deliver_intake()


def has_intake(world: World) -> bool:
    attributes = world.sqs.get_queue_attributes(QueueUrl=world.queues["intake"], AttributeNames=["All"])["Attributes"]
    return attributes["ApproximateNumberOfMessages"] != "0"


def work(world: World, count: int) -> None:
    """Let the worker handle some of the work orders of the queue ``normal``."""
    for _ in range(count):
        url = world.queues["normal"]
        [message] = world.sqs.receive_message(QueueUrl=url, MessageSystemAttributeNames=["All"])["Messages"]
        world.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        event = {"messageId": message["MessageId"], "body": message["Body"], "attributes": message["Attributes"]}
        world.work({**event, "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:normal"})
    world.deliver_streams()


def after(world: World, seconds: int = 60) -> None:
    world.pass_time(seconds)
    world.monitor_tick()


def jobs(world: World) -> list[dict[str, Any]]:
    status, found = world.request("GET", "/queues", role="viewer")
    assert status == 200, found
    assert world.refused == set()
    shown: list[dict[str, Any]] = found["jobs"]["items"]
    return shown


def depths(world: World) -> dict[str, int]:
    world.monitor_tick()
    return {one["job_id"]: one["depth"] for one in jobs(world)}


def exceeded(world: World) -> list[dict[str, Any]]:
    status, found = world.request("GET", "/overview", role="viewer")
    assert status == 200, found
    return [one for one in found["attention"] if one["kind"] == "backlog"]


# the backlog


def test_queue_jobs_show_depth_age_and_rates_the_fullest_first(world: World) -> None:
    world.submit(schedule={"every_seconds": 3600})
    quiet = queue_job(world, name="quiet")
    busy = queue_job(world, name="busy", backlog={"messages": 500, "minutes": 30})
    world.monitor_tick()
    assert [one["depth"] for one in jobs(world)] == [0, 0]
    send(world, busy, 6)
    sent_at = world.now
    after(world)
    work(world, 4)
    send(world, quiet)
    after(world, 120)
    first, second = jobs(world)
    assert first == {
        "job_id": busy,
        "job_name": "busy",
        "owner": "data-quality",
        "state": "active",
        "at": to_text(world.now),
        "depth": 2,
        "depth_is_exact": True,
        "oldest_seconds": (world.now - sent_at).total_seconds(),
        "arrival_per_minute": 0,
        "finished_per_minute": 2,
        "backlog": {"messages": 500, "minutes": 30},
        "exceeded_since": None,
    }
    assert (second["job_id"], second["depth"], second["arrival_per_minute"]) == (quiet, 1, 0.5)
    assert (second["finished_per_minute"], second["backlog"]) == (0, None)


def test_rates_count_arrivals_since_the_previous_minute(world: World) -> None:
    busy = queue_job(world)
    send(world, busy, 3)
    world.monitor_tick()
    [one] = jobs(world)
    assert (one["arrival_per_minute"], one["finished_per_minute"]) == (None, None)
    send(world, busy, 6)
    after(world)
    assert jobs(world)[0]["arrival_per_minute"] == 6


def test_before_the_first_tick_no_queue_job_is_shown(world: World) -> None:
    queue_job(world)
    status, found = world.request("GET", "/queues")
    nothing = {"items": [], "cursor": None, "total": 0, "total_is_exact": True}
    assert (status, found["jobs"]) == (200, nothing)


def test_queue_jobs_are_listed_in_pages_the_fullest_first(world: World) -> None:
    made = [queue_job(world) for _ in range(4)]
    for count, job_id in enumerate(made):
        send(world, job_id, count)
    world.monitor_tick()
    for limit in (1, 2, 3, 4):
        found, query = list[str](), f"?limit={limit}"
        while query:
            status, answer = world.request("GET", f"/queues{query}")
            page = answer["jobs"]
            assert (status, len(page["items"]) <= limit, page["total"], page["total_is_exact"]) == (200, True, 4, True)
            found += [one["job_id"] for one in page["items"]]
            query = f"?limit={limit}&cursor={page['cursor']}" if page["cursor"] else ""
        assert found == made[::-1]
    status, problem = world.request("GET", "/queues?cursor=next")
    assert (status, problem["errors"][0]["field"]) == (422, "cursor")


def test_a_paused_job_keeps_its_messages_in_its_backlog(world: World) -> None:
    job_id = queue_job(world)
    send(world, job_id, 2)
    world.request("POST", f"/jobs/{job_id}/pause")
    send(world, job_id, 1)
    after(world)
    [one] = jobs(world)
    assert (one["depth"], one["state"], one["oldest_seconds"]) == (3, "paused", 60)
    world.request("POST", f"/jobs/{job_id}/resume")
    world.run_until_idle()
    assert depths(world) == {job_id: 0}


def test_a_message_leaves_the_backlog_with_its_first_attempt(world: World) -> None:
    job_id = queue_job(world, task="fail", parameters={"times": 1}, retry={"max_attempts": 2, "backoff_seconds": 60})
    send(world, job_id)
    assert depths(world) == {job_id: 1}
    work(world, 1)
    assert [one["status"] for one in world.executions(job_id)] == ["retrying"]
    assert depths(world) == {job_id: 0}


@pytest.mark.parametrize("rule", [{"overlap": "queue_all"}, {"concurrency": {"key": "one", "limit": 1}}])
def test_a_message_that_waits_at_a_gate_stays_in_the_backlog(world: World, rule: dict[str, Any]) -> None:
    job_id = queue_job(world, task="test.crash", parameters={"in_attempts": [1]}, **rule)
    send(world, job_id, 3)
    with pytest.raises(Killed):
        work(world, 1)  # holds the gate
    work(world, 2)
    statuses = sorted(one["status"] for one in world.executions(job_id))
    assert statuses == ["running", "waiting", "waiting"]
    assert depths(world) == {job_id: 2}


def test_cancelled_and_skipped_messages_leave_the_backlog(world: World) -> None:
    job_id = queue_job(world, misfire={"policy": "skip"})
    send(world, job_id, 3)
    execution_id = world.executions(job_id)[0]["execution_id"]
    assert world.request("PUT", f"/executions/{execution_id}/cancel")[0] == 200
    assert depths(world) == {job_id: 2}
    world.request("POST", f"/jobs/{job_id}/pause")  # skips the other two
    world.deliver_streams()
    assert depths(world) == {job_id: 0}


def test_manual_runs_of_a_queue_job_are_not_messages(world: World) -> None:
    job_id = queue_job(world)
    assert world.request("POST", f"/jobs/{job_id}/run")[0] == 201
    assert depths(world) == {job_id: 0}


def test_a_job_that_takes_no_messages_any_more_is_not_shown(world: World) -> None:
    deleted, edited = queue_job(world), queue_job(world)
    assert set(depths(world)) == {deleted, edited}
    world.request("DELETE", f"/jobs/{deleted}")
    world.request("PATCH", f"/jobs/{edited}", {"schedule": {"every_seconds": 3600}})
    assert depths(world) == {}
    world.request("PATCH", f"/jobs/{edited}", {"schedule": {"queue": True}})
    assert depths(world) == {edited: 0}


def test_a_repeated_message_arrives_once(world: World) -> None:
    job_id = queue_job(world)
    world.monitor_tick()
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=json.dumps({"job_id": job_id}))
    messages = world.receive("intake")
    for _ in range(2):
        world.call("intake", {"Records": messages})
    after(world)
    [one] = jobs(world)
    assert (one["arrival_per_minute"], one["depth"]) == (1, 1)


def test_a_failure_to_count_arrivals_does_not_repeat_the_message(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = queue_job(world)
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=json.dumps({"job_id": job_id}))
    messages = world.receive("intake")

    def throttled(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "UpdateItem")

    monkeypatch.setattr(clients.dynamodb(), "update_item", throttled)
    assert world.call("intake", {"Records": messages}) == {"batchItemFailures": []}
    assert depths(world) == {job_id: 1}


def test_executions_that_ended_before_midnight_count_in_the_rate_after_it(world: World) -> None:
    job_id = queue_job(world)
    send(world, job_id, 5)
    work(world, 1)
    world.pass_time(86_400 - 12 * 3600 - 90)  # 23:58:30
    world.monitor_tick()
    world.pass_time(60)
    work(world, 2)
    world.pass_time(60)
    work(world, 1)
    world.monitor_tick()
    assert world.now.day == 17
    assert jobs(world)[0]["finished_per_minute"] == 1.5


def test_more_queue_jobs_than_one_tick_measures_are_measured_in_turn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_backlogs, "MAX_JOBS_PER_TICK", 2)
    ids = [queue_job(world) for _ in range(3)]
    for job_id in ids:
        send(world, job_id)
    world.monitor_tick()
    assert len(jobs(world)) == 2
    after(world)
    assert {one["job_id"]: one["depth"] for one in jobs(world)} == dict.fromkeys(ids, 1)


# the limits


def test_a_backlog_beyond_its_limit_and_its_recovery_are_each_notified_once(world: World) -> None:
    job_id = queue_job(world, name="orders", backlog=LIMITS)
    send(world, job_id, 10)
    after(world)
    assert world.deliver_notices() == []
    send(world, job_id, 1)
    after(world)
    exceeded_at = to_text(world.now)
    [notice] = world.deliver_notices()
    assert (notice["event"], notice["job_id"], notice["execution_id"]) == ("backlog", job_id, None)
    assert (notice["at"], notice["title"]) == (exceeded_at, "orders exceeds its backlog limits")
    cause = "11 messages wait, the oldest for 2 minutes; the limit is 10 messages or 30 minutes"
    remedy = "give it a higher priority, raise concurrency.normal in the settings of the stage, or send fewer messages"
    link = f"https://api.example.com/console/jobs/{job_id}"
    assert notice["facts"] == {
        "cause": cause,
        "remedy": remedy,
        "depth": 11,
        "oldest_seconds": 120,
        "backlog": LIMITS,
        "link": link,
    }
    for line in (f"Cause: {cause}", f"Remedy: {remedy}", f"Job: orders ({job_id})", f"Link: {link}"):
        assert line in notice["text"].splitlines()
    [item] = exceeded(world)
    assert (item["id"], item["since"]) == (f"backlog.{job_id}", exceeded_at)
    assert item["subject"] == {
        "type": "job",
        "id": job_id,
        "job_name": "orders",
        "timezone": None,
        "owner": "data-quality",
    }
    assert (item["cause"], item["remedy"]) == (cause, remedy)
    assert jobs(world)[0]["exceeded_since"] == exceeded_at
    for finished in (0, 1, 1):  # 9 messages are within the limit, but too many for a recovery
        work(world, finished)
        after(world)
        assert world.deliver_notices() == []
    assert len(exceeded(world)) == 1
    work(world, 1)
    after(world)
    [notice] = world.deliver_notices()
    assert (notice["event"], notice["title"]) == ("backlog_recovered", "orders is within its backlog limits again")
    assert notice["facts"]["cause"].startswith("8 messages wait, the oldest for 6 minutes; the limit is")
    assert exceeded(world) == []
    after(world)
    assert world.deliver_notices() == []
    send(world, job_id, 3)
    after(world)
    assert [one["event"] for one in world.deliver_notices()] == ["backlog"]


def test_the_age_of_the_oldest_message_is_limited(world: World) -> None:
    job_id = queue_job(world, backlog={"minutes": 30})
    send(world, job_id)
    after(world, 1800)
    assert exceeded(world) == []
    after(world)
    [item] = exceeded(world)
    assert item["cause"] == "1 message waits, the oldest for 31 minutes; the limit is 30 minutes"
    work(world, 1)
    after(world)
    assert exceeded(world) == []
    assert [one["event"] for one in world.deliver_notices()] == ["backlog", "backlog_recovered"]


@pytest.mark.parametrize(
    ("fields", "remedy"),
    [
        ({"overlap": "queue_all"}, 'overlap is "queue_all"'),
        ({"concurrency": {"key": "one", "limit": 1}}, "raise the limit of its concurrency"),
        ({"lane": "long"}, "raise the capacity of the long lane"),
    ],
)
def test_the_remedy_fits_what_the_messages_wait_for(world: World, fields: dict[str, Any], remedy: str) -> None:
    job_id = queue_job(world, backlog={"messages": 1}, **fields)
    send(world, job_id, 2)
    world.monitor_tick()
    assert remedy in exceeded(world)[0]["remedy"]


def test_the_remedy_of_a_paused_job_is_to_resume_it(world: World) -> None:
    job_id = queue_job(world, backlog={"messages": 1})
    world.request("POST", f"/jobs/{job_id}/pause")
    send(world, job_id, 2)
    world.monitor_tick()
    assert exceeded(world)[0]["remedy"].startswith(f"resume it with POST /jobs/{job_id}/resume")


@pytest.mark.parametrize(("on", "sent"), [([], []), (["backlog"], ["backlog"]), (["failed"], [])])
def test_the_notify_rule_selects_the_events_of_a_backlog(world: World, on: list[str], sent: list[str]) -> None:
    job_id = queue_job(world, backlog={"messages": 1}, notify={"on": on})
    send(world, job_id, 2)
    after(world)
    work(world, 2)
    after(world)
    assert [one["event"] for one in world.deliver_notices()] == sent


def test_an_edit_of_the_limits_applies_at_the_next_tick_and_their_removal_is_no_recovery(world: World) -> None:
    job_id = queue_job(world)
    send(world, job_id, 3)
    world.monitor_tick()
    assert exceeded(world) == []
    world.request("PATCH", f"/jobs/{job_id}", {"backlog": {"messages": 2}})
    after(world)
    assert len(exceeded(world)) == 1
    world.request("PATCH", f"/jobs/{job_id}", {"backlog": None})
    after(world)
    assert exceeded(world) == []
    assert [one["event"] for one in world.deliver_notices()] == ["backlog"]


def test_a_notice_that_a_crash_prevented_is_sent_by_the_next_tick(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = queue_job(world, backlog={"messages": 1})
    send(world, job_id, 2)
    notices = world.function("monitor").notices
    with monkeypatch.context() as patch:
        patch.setattr(type(notices), "send", _crash)
        with pytest.raises(OSError, match="crashed"):
            world.monitor_tick()
    began_at = to_text(world.now)
    assert len(exceeded(world)) == 1
    work(world, 2)  # the backlog has recovered before the notice was sent
    after(world)
    sent = world.deliver_notices()
    assert [(one["event"], one["at"]) for one in sent] == [
        ("backlog", began_at),
        ("backlog_recovered", to_text(world.now)),
    ]
    after(world)
    assert world.deliver_notices() == []


def _crash(*_: Any) -> None:
    raise OSError("crashed")


def test_a_tick_that_crashes_before_it_stores_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = queue_job(world, backlog={"messages": 1})
    send(world, job_id, 2)
    backlogs = world.function("monitor").backlogs.backlogs
    with monkeypatch.context() as patch:
        patch.setattr(type(backlogs), "store", _crash)
        with pytest.raises(OSError, match="crashed"):
            world.monitor_tick()
    assert world.deliver_notices() == []
    after(world)
    assert [one["at"] for one in world.deliver_notices()] == [to_text(world.now)]


def test_of_two_ticks_at_once_one_stores_and_notifies(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = queue_job(world, backlog={"messages": 1})
    send(world, job_id, 2)
    checker = world.function("monitor").backlogs
    real = type(checker)._measure

    def measure_during_another_tick(self: Any, *args: Any) -> Any:
        monkeypatch.setattr(type(checker), "_measure", real)
        world.pass_time(1)
        assert checker.tick() == 1
        return real(self, *args)

    monkeypatch.setattr(type(checker), "_measure", measure_during_another_tick)
    assert checker.tick() == 0
    assert [one["at"] for one in world.deliver_notices()] == [to_text(world.now)]
    after(world)
    assert world.deliver_notices() == []


def test_a_second_tick_within_a_minute_keeps_the_rates_and_notifies_once(world: World) -> None:
    job_id = queue_job(world, backlog={"messages": 1})
    world.monitor_tick()
    send(world, job_id, 3)
    after(world)
    after(world, 1)
    assert [(one["arrival_per_minute"], one["depth"]) for one in jobs(world)] == [(3, 3)]
    after(world, 59)
    assert jobs(world)[0]["arrival_per_minute"] == 0
    assert len(world.deliver_notices()) == 1


def test_a_measurement_in_another_format_is_replaced(world: World) -> None:
    job_id = queue_job(world)
    world.monitor_tick()
    [stored] = [one for one in world.items("signals") if one["id"]["S"] == "queue_jobs"]
    world.dynamodb.put_item(TableName="signals", Item={**stored, "jobs": {"B": b"?"}})
    assert jobs(world) == []
    assert depths(world) == {job_id: 0}


def test_only_its_team_acknowledges_the_backlog_of_a_job(world: World) -> None:
    job_id = queue_job(world, backlog={"messages": 1})
    send(world, job_id, 2)
    world.monitor_tick()
    path, body = f"/attention/backlog.{job_id}", {"state": "acknowledged"}
    assert world.request("PUT", path, body, team="billing")[0] == 403
    assert world.request("PUT", path, body)[0] == 200
    assert [one["state"] for one in exceeded(world)] == ["acknowledged"]


# the field of the job


def test_the_limits_of_a_job_are_shown_edited_and_kept(world: World) -> None:
    job = world.submit(schedule={"queue": True}, backlog={"messages": 500})
    assert job["backlog"] == {"messages": 500, "minutes": None}
    path = f"/jobs/{job['job_id']}"
    assert world.request("PATCH", path, {"priority": "high"})[1]["backlog"] == {"messages": 500, "minutes": None}
    assert world.request("PATCH", path, {"backlog": LIMITS})[1]["backlog"] == LIMITS
    assert world.request("GET", path)[1]["backlog"] == LIMITS
    assert world.request("PATCH", path, {"backlog": None})[1]["backlog"] is None
    batch = {"jobs": [{"task": "echo", "schedule": {"queue": True}, "backlog": LIMITS}]}
    _, answer = world.request("POST", "/jobs/batch", batch)
    assert world.request("GET", f"/jobs/{answer['items'][0]['job_id']}")[1]["backlog"] == LIMITS


def test_a_job_with_limits_keeps_its_schedule_until_they_are_removed(world: World) -> None:
    job_id = queue_job(world, backlog=LIMITS)
    edit = {"schedule": {"every_seconds": 60}}
    status, problem = world.request("PATCH", f"/jobs/{job_id}", edit)
    assert (status, problem["errors"][0]["field"]) == (422, "backlog")
    assert problem["detail"].endswith("the job has this field: set it to null to remove it")
    assert world.request("PATCH", f"/jobs/{job_id}", {**edit, "backlog": None})[0] == 200
