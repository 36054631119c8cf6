"""The long lane on the emulator: state machine, admission and runner are real; containers are local processes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import from_text, to_text
from punctual.domain.schedules.jitter import delay
from tests.e2e.processes import descendants
from tests.e2e.punctual import Punctual, soon, wait_for

HOURS_OF_A_WEEK = 7 * 24
NO_BACKOFF = {"backoff_seconds": 0}


@pytest.fixture(scope="module")
def weekly(punctual: Punctual) -> dict[str, Any]:
    """A recurring job over the last week, partitioned by day. Due at the next full minute."""
    due = soon(65)
    return punctual.submit(
        task="quality.weekly",
        lane="long",
        parameters={"dataset": "orders"},
        schedule={"cron": f"{due.minute} {due.hour} * * *"},
        window="week",
        partitions={"by": "day"},
        resources={"vcpu": 0.25},
    )


@pytest.fixture(autouse=True)
def _weekly_first(weekly: dict[str, Any]) -> None:
    """Submit the weekly job before the first test."""


def schedules(punctual: Punctual) -> list[str]:
    """The names of the one-time schedules, which are execution ids."""
    answer = punctual.aws("scheduler").list_schedules(GroupName=punctual.stack["schedule_group"])
    return [one["Name"] for one in answer["Schedules"]]


def schedule_expression(punctual: Punctual, execution: dict[str, Any]) -> str:
    """The expression of an execution's one-time schedule."""
    where = {"Name": execution["execution_id"], "GroupName": punctual.stack["schedule_group"]}
    return str(punctual.aws("scheduler").get_schedule(**where)["ScheduleExpression"])


def containers(punctual: Punctual, execution: dict[str, Any]) -> list[int]:
    """The processes that run an execution's containers."""
    marker = execution["execution_id"]
    return [pid for pid, environment in descendants(punctual.stack["fargate_pid"]).items() if marker in environment]


def wait_for_status(punctual: Punctual, job: dict[str, Any], *statuses: str, seconds: float = 60) -> dict[str, Any]:
    """Wait until an execution of a job has one of these statuses, and return it with its parts."""

    def found() -> dict[str, Any] | None:
        some = [one for one in punctual.executions(job) if one["status"] in statuses]
        return punctual.get(f"/executions/{some[0]['execution_id']}") if some else None

    return wait_for(found, seconds, f"{job['name']} to be {' or '.join(statuses)}")


def wait_for_progress(punctual: Punctual, job: dict[str, Any], percent: float, seconds: float = 90) -> dict[str, Any]:
    def found() -> dict[str, Any] | None:
        running = [one for one in punctual.executions(job) if one["status"] == "running"]
        return next((one for one in running if one["progress"] and one["progress"]["percent"] >= percent), None)

    return wait_for(found, seconds, f"{job['name']} to be at {percent}%")


def submit_week(punctual: Punctual, seconds: float, **submission: Any) -> dict[str, Any]:
    """Submit a job that processes a week of data in about so many seconds."""
    parameters = {"dataset": "orders", "week_of": "2026-11-10", "seconds": seconds}
    return punctual.submit(task="quality.weekly", lane="long", parameters=parameters, retry=NO_BACKOFF, **submission)


def tick(punctual: Punctual) -> dict[str, Any]:
    """Run admission's tick now, and return its report."""
    function = punctual.stack["functions"]["admission"]
    answer = punctual.aws("lambda").invoke(FunctionName=function, Payload=json.dumps({"do": "tick"}))
    return dict(json.loads(answer["Payload"].read()))


def taken_slots(punctual: Punctual) -> tuple[int, int]:
    """The tasks and CPU units that are in use."""
    item = punctual.aws("dynamodb").get_item(
        TableName=punctual.stack["tables"]["parts"], Key={"execution_id": {"S": "#lane"}, "part": {"S": "long"}}
    )["Item"]
    return int(item["tasks"]["N"]), int(item["cpu"]["N"])


def wait_for_free_lane(punctual: Punctual) -> None:
    wait_for(lambda: taken_slots(punctual) == (0, 0), 60, "all slots to be free")


def submit_sleep(punctual: Punctual, seconds: float, **submission: Any) -> dict[str, Any]:
    return punctual.submit(task="sleep", lane="long", parameters={"seconds": seconds}, retry=NO_BACKOFF, **submission)


def test_a_long_job_runs_in_a_container_and_its_result_can_be_read(punctual: Punctual) -> None:
    job = punctual.submit(lane="long", parameters={"hello": "container"}, resources={"vcpu": 0.5})
    [execution] = punctual.wait_for_end(job, seconds=60)
    assert execution["status"] == "succeeded"
    assert execution["result"]["value"] == {"hello": "container"}
    assert [one["outcome"] for one in execution["attempts"]] == ["succeeded"]
    wait_for(lambda: punctual.get(f"/jobs/{job['job_id']}")["state"] == "done", 30, "the job to be done")
    wait_for_free_lane(punctual)


def test_a_long_job_requests_its_slot_when_it_is_due_and_never_starts_early(punctual: Punctual) -> None:
    due = soon(10)
    execution = punctual.run_job(lane="long", schedule={"at": to_text(due)})
    [part] = punctual.get(f"/executions/{execution['execution_id']}")["parts"]
    requested, started = from_text(part["requested_at"]), from_text(execution["started_at"])
    assert from_text(execution["scheduled_at"]) <= requested <= started


def test_an_execution_without_a_free_slot_starts_when_one_becomes_free_without_a_tick(punctual: Punctual) -> None:
    wait_for_free_lane(punctual)
    first = submit_sleep(punctual, 600, resources={"vcpu": 4})
    running = wait_for_status(punctual, first, "running")
    second = submit_sleep(punctual, 0, resources={"vcpu": 1})
    waiting = wait_for_status(punctual, second, "waiting")
    assert "waits for a slot; the latest safe start is" in waiting["reason"]
    with disabled_tick(punctual, "admission"):
        punctual.request("PUT", f"/executions/{running['execution_id']}/cancel")
        [cancelled], [late] = punctual.wait_for_end(first), punctual.wait_for_end(second)
    assert [one["status"] for one in (cancelled, late)] == ["cancelled", "succeeded"]
    assert from_text(late["started_at"]) > from_text(cancelled["started_at"])


@contextmanager
def disabled_tick(punctual: Punctual, function: str) -> Iterator[None]:
    """Disable the schedule that runs a function every minute."""
    client, group = punctual.aws("scheduler"), {"GroupName": "Punctual-local-ticks"}
    summaries = client.list_schedules(**group)["Schedules"]
    schedules = [client.get_schedule(Name=one["Name"], **group) for one in summaries]
    arn = punctual.aws("lambda").get_function(FunctionName=punctual.stack["functions"][function])["Configuration"]
    [tick] = [one for one in schedules if one["Target"]["Arn"] == arn["FunctionArn"]]
    kept = {name: tick[name] for name in ("Name", "ScheduleExpression", "FlexibleTimeWindow", "Target")}
    client.update_schedule(**group, **kept, State="DISABLED")
    try:
        yield
    finally:
        client.update_schedule(**group, **kept, State="ENABLED")


def test_a_killed_container_is_detected_at_once_and_the_next_attempt_resumes_from_its_checkpoint(
    punctual: Punctual,
) -> None:
    job = submit_week(punctual, 40)  # long enough to be killed in time on a busy machine
    under_way = wait_for_progress(punctual, job, 40)
    [victim] = containers(punctual, under_way)
    os.kill(victim, signal.SIGKILL)
    [execution] = punctual.wait_for_end(job, seconds=120)
    assert execution["status"] == "succeeded"
    lost, last = execution["attempts"]
    assert (lost["outcome"], last["outcome"]) == ("lost", "succeeded")
    assert "exit code 137" in lost["error"]["message"]  # from ECS, before its lease could expire
    week = execution["result"]["value"]
    assert week["records"] == HOURS_OF_A_WEEK * 200  # no record omitted or counted twice
    first, second = week["begun_at"]
    # The second attempt resumed from a checkpoint: 25 or more of the hours processed before were not repeated.
    assert (first, second > HOURS_OF_A_WEEK * 0.15) == (0, True)


def test_a_container_that_hangs_is_stopped_when_its_lease_expires(punctual: Punctual) -> None:
    job = submit_sleep(punctual, 30)
    execution = wait_for_status(punctual, job, "running")
    [frozen] = containers(punctual, execution)
    os.kill(frozen, signal.SIGSTOP)
    wait_for(lambda: tick(punctual)["expired"], 60, "its lease to expire")
    [ended] = punctual.wait_for_end(job, seconds=60)
    assert [one["outcome"] for one in ended["attempts"]] == ["lost", "succeeded"]
    assert "lease expired" in ended["attempts"][0]["error"]["message"]
    wait_for(lambda: frozen not in containers(punctual, execution), 60, "the frozen container to be gone")


def test_cancelling_asks_the_task_to_stop_and_keeps_its_result(punctual: Punctual) -> None:
    job = submit_sleep(punctual, 600)
    execution = wait_for_status(punctual, job, "running")
    answer = punctual.request("PUT", f"/executions/{execution['execution_id']}/cancel").json()
    assert (answer["status"], answer["cancel_at"] is not None) == ("running", True)
    [ended] = punctual.wait_for_end(job, seconds=30)
    assert (ended["status"], ended["reason"]) == ("cancelled", answer["reason"])
    assert 0 < ended["result"]["value"]["slept"] < 600
    assert from_text(ended["ended_at"]) < from_text(answer["cancel_at"])
    wait_for(lambda: not containers(punctual, execution), 60, "its container to be gone")
    wait_for_free_lane(punctual)


def test_cancelling_without_grace_stops_the_container_and_the_state_machine_and_frees_the_slot(
    punctual: Punctual,
) -> None:
    job = submit_sleep(punctual, 600)
    execution = wait_for_status(punctual, job, "running")
    answer = punctual.request("PUT", f"/executions/{execution['execution_id']}/cancel?grace_seconds=0")
    assert answer.json()["status"] == "cancelled"
    assert answer.json()["reason"].startswith("cancelled by ")
    wait_for(lambda: not containers(punctual, execution), 60, "its container to be gone")
    wait_for_free_lane(punctual)
    states = punctual.aws("stepfunctions")
    runs = states.list_executions(stateMachineArn=punctual.stack["state_machine_arn"])["executions"]
    [run] = [one for one in runs if one["name"].startswith(execution["execution_id"])]
    assert run["status"] == "ABORTED"
    assert punctual.get(f"/executions/{execution['execution_id']}")["parts"][0]["status"] == "cancelled"


def test_an_execution_at_risk_preempts_another_which_resumes_later(punctual: Punctual) -> None:
    wait_for_free_lane(punctual)
    preemptible = submit_week(
        punctual,
        40,
        resources={"vcpu": 4},
        preemptible=True,
        expected_seconds=60,
        deadline={"within_seconds": 86_400},
    )
    wait_for_progress(punctual, preemptible, 10)
    urgent = submit_sleep(punctual, 1, resources={"vcpu": 4}, expected_seconds=60, deadline={"within_seconds": 300})
    [rescued] = punctual.wait_for_end(urgent, seconds=90)
    [preempted] = punctual.wait_for_end(preemptible, seconds=90)
    assert (rescued["status"], preempted["status"]) == ("succeeded", "succeeded")
    first, second = preempted["attempts"]
    assert (first["outcome"], second["outcome"]) == ("preempted", "succeeded")
    assert rescued["execution_id"] in first["error"]["message"]
    assert from_text(rescued["started_at"]) < from_text(second["started_at"])
    week = preempted["result"]["value"]
    assert (week["records"], len(week["begun_at"])) == (HOURS_OF_A_WEEK * 200, 2)


def test_only_the_partition_that_failed_runs_again(punctual: Punctual) -> None:
    wait_for_free_lane(punctual)
    job = punctual.submit(
        task="fail",
        lane="long",
        parameters={"times": 1, "partition": 1},
        partitions={"of": ["a", "b", "c"], "at_once": 2},
        resources={"vcpu": 1},
        retry=NO_BACKOFF,
    )
    [ended] = punctual.wait_for_end(job, seconds=120)
    execution = punctual.get(f"/executions/{ended['execution_id']}")
    assert execution["status"] == "succeeded"
    outcomes = {part["part"]: [one["outcome"] for one in part["attempts"]] for part in execution["parts"]}
    assert outcomes == {"0000": ["succeeded"], "0001": ["failed", "succeeded"], "0002": ["succeeded"]}
    assert [part["value"] for part in execution["parts"]] == ["a", "b", "c"]
    assert [one["succeeded_on_attempt"] for one in execution["result"]["value"]] == [1, 2, 1]
    assert execution["progress"] == {"percent": 100.0, "message": "3 of 3 partitions done", "done": 3.0, "total": 3.0}


def test_the_partitions_of_a_week_are_collected_into_one_report(punctual: Punctual, weekly: dict[str, Any]) -> None:
    [ended] = punctual.wait_for_end(weekly, seconds=180)
    punctual.request("DELETE", f"/jobs/{weekly['job_id']}")
    execution = punctual.get(f"/executions/{ended['execution_id']}")
    assert execution["status"] == "succeeded", execution
    assert [part["part"] for part in execution["parts"]] == [*(f"{n:04d}" for n in range(7)), "collect"]
    week = execution["result"]["value"]
    assert (week["records"], len(week["days"])) == (HOURS_OF_A_WEEK * 200, 7)
    bucket, _, key = execution["result"]["location"].removeprefix("s3://").partition("/")
    assert json.load(punctual.aws("s3").get_object(Bucket=bucket, Key=key)["Body"]) == week
    assert from_text(week["worst_day"].replace("+00:00", ".000Z")).weekday() == 2
    window = execution["window"]
    assert from_text(window["end"]) - from_text(window["start"]) == timedelta(days=7)


def test_a_backfill_runs_each_past_week_over_its_own_data(punctual: Punctual) -> None:
    job = punctual.submit(
        task="quality.weekly",
        lane="long",
        parameters={"dataset": "orders"},
        schedule={"cron": "0 2 * * SUN", "timezone": "America/New_York"},
        window="week",
        resources={"vcpu": 0.25},
    )
    two_weeks = {"from": "2026-03-05T00:00:00Z", "to": "2026-03-20T00:00:00Z"}
    requested = punctual.request("POST", f"/jobs/{job['job_id']}/backfill", two_weeks).json()["items"]

    def ended() -> list[dict[str, Any]] | None:
        some = [punctual.get(f"/executions/{one['execution_id']}") for one in requested]
        return some if all(one["ended_at"] for one in some) else None

    weeks = wait_for(ended, 90, "both weeks to end")
    assert [(one["status"], one["origin"]) for one in weeks] == [("succeeded", "backfill")] * 2
    assert [(one["window"]["start"][:13], one["window"]["end"][:13]) for one in weeks] == [
        ("2026-03-01T05", "2026-03-08T05"),
        ("2026-03-08T05", "2026-03-15T04"),  # daylight saving time began on the 8th: one hour less
    ]
    hours = [HOURS_OF_A_WEEK, HOURS_OF_A_WEEK - 1]
    assert [one["result"]["value"]["records"] for one in weeks] == [200 * count for count in hours]
    punctual.request("DELETE", f"/jobs/{job['job_id']}")


def test_a_custom_image_succeeds_with_exit_code_0_and_fails_with_any_other(punctual: Punctual) -> None:
    def run(script: str) -> dict[str, Any]:
        container = {"image": "shell", "command": ["sh", "-c", script]}
        job = punctual.submit(task=None, lane="long", container=container, retry={"max_attempts": 1})
        return punctual.wait_for_end(job, seconds=60)[0]

    assert run("echo done")["status"] == "succeeded"
    failed = run("exit 3")
    assert (failed["status"], failed["error"]["message"]) == (
        "failed",
        "the container stopped with exit code 3: Essential container in task exited",
    )


def test_a_container_that_cannot_be_started_fails_with_the_message_from_aws(punctual: Punctual) -> None:
    container = {"image": "shell", "command": ["no-such-program"]}
    job = punctual.submit(task=None, lane="long", container=container, retry={**NO_BACKOFF, "max_attempts": 2})
    [execution] = punctual.wait_for_end(job, seconds=90)
    assert execution["status"] == "failed"
    assert execution["reason"].startswith("attempt 2 of 2 failed: CannotStartContainerError: ")
    wait_for_free_lane(punctual)


@contextmanager
def replaced_task_definition(punctual: Punctual, family: str) -> Iterator[str]:
    """Make admission use another task definition for the image ``shell``, and yield the original one."""
    client, function = punctual.aws("lambda"), punctual.stack["functions"]["admission"]
    variables = client.get_function_configuration(FunctionName=function)["Environment"]["Variables"]
    known = json.loads(variables["TASK_DEFINITIONS"])
    changed = {**variables, "TASK_DEFINITIONS": json.dumps({**known, "shell": family})}
    client.update_function_configuration(FunctionName=function, Environment={"Variables": changed})
    try:
        yield known["shell"]
    finally:
        client.update_function_configuration(FunctionName=function, Environment={"Variables": variables})


def test_the_state_machine_retries_a_start_that_ecs_rejects(punctual: Punctual) -> None:
    states, ecs, family = punctual.aws("stepfunctions"), punctual.aws("ecs"), "not-there-yet"
    with replaced_task_definition(punctual, family) as shell:
        job = punctual.submit(task=None, lane="long", container={"image": "shell", "command": ["true"]})
        execution = wait_for_status(punctual, job, "starting")
        arn = punctual.stack["state_machine_arn"]
        runs = states.list_executions(stateMachineArn=arn, statusFilter="RUNNING")["executions"]
        [run] = [one["executionArn"] for one in runs if one["name"].startswith(execution["execution_id"])]

        def rejections() -> list[dict[str, Any]]:
            events = states.get_execution_history(executionArn=run)["events"]
            return [one for one in events if one["type"] == "TaskFailed"]

        [event] = wait_for(rejections, 30, "ECS to reject the start")
        assert "Unable to find task definition" in event["taskFailedEventDetails"]["cause"]
        definition = ecs.describe_task_definition(taskDefinition=shell)["taskDefinition"]
        kept = ("containerDefinitions", "cpu", "memory", "networkMode", "requiresCompatibilities")
        ecs.register_task_definition(family=family, **{name: definition[name] for name in kept})
        [ended] = punctual.wait_for_end(job, seconds=60)
    assert ended["status"] == "succeeded"
    assert [one["outcome"] for one in ended["attempts"]] == ["succeeded"]  # the rejection does not count as an attempt


def test_editing_a_job_moves_its_one_time_schedule_and_deleting_it_removes_the_schedule(punctual: Punctual) -> None:
    first, second = soon(900), soon(1800)
    job = punctual.submit(lane="long", schedule={"at": to_text(first)})
    [planned] = wait_for(lambda: punctual.executions(job), 30, "its execution")
    wait_for(lambda: planned["execution_id"] in schedules(punctual), 30, "its schedule")
    path = f"/jobs/{job['job_id']}"
    change = {"schedule": {"at": to_text(second)}, "parameters": {"hello": "edited"}}
    answer = punctual.request("PATCH", path, change, headers={"If-Match": "1"})
    assert (answer.status_code, answer.json()["revision"]) == (200, 2)
    assert punctual.request("PATCH", path, change, headers={"If-Match": "1"}).status_code == 412
    [moved] = wait_for(
        lambda: [one for one in punctual.executions(job) if one["status"] == "scheduled" and one != planned],
        30,
        "the new execution",
    )
    wait_for(lambda: planned["execution_id"] not in schedules(punctual), 30, "the old schedule to be deleted")
    wait_for(lambda: moved["execution_id"] in schedules(punctual), 30, "the new schedule")
    assert schedule_expression(punctual, moved) == f"at({second - timedelta(seconds=60):%Y-%m-%dT%H:%M:%S})"
    assert moved["parameters"] == {"hello": "edited"}
    removed = punctual.request("GET", f"/executions/{planned['execution_id']}")
    assert removed.status_code == 404, "an execution that never came due leaves no record"
    punctual.request("DELETE", path)
    wait_for(lambda: moved["execution_id"] not in schedules(punctual), 30, "its schedule to be deleted")


def test_editing_the_jitter_of_a_job_moves_its_one_time_schedule(punctual: Punctual) -> None:
    due = soon(1800).replace(second=0, microsecond=0)
    schedule = {"cron": f"{due.minute} {due.hour} * * *"}
    job = punctual.submit(lane="long", schedule=schedule)
    [planned] = wait_for(lambda: punctual.executions(job), 30, "its execution")
    wait_for(lambda: planned["execution_id"] in schedules(punctual), 30, "its schedule")
    answer = punctual.request("PATCH", f"/jobs/{job['job_id']}", {"schedule": {**schedule, "jitter_seconds": 600}})
    assert answer.status_code == 200
    fires_at = due + delay(job["job_id"], due, 600) - timedelta(seconds=60)
    wait_for(
        lambda: schedule_expression(punctual, planned) == f"at({fires_at:%Y-%m-%dT%H:%M:%S})",
        30,
        "its schedule to move",
    )
    punctual.request("DELETE", f"/jobs/{job['job_id']}")
    wait_for(lambda: planned["execution_id"] not in schedules(punctual), 30, "its schedule to be deleted")


def test_a_report_with_a_wrong_assignment_key_is_rejected(punctual: Punctual) -> None:
    job = submit_sleep(punctual, 600)
    execution = wait_for_status(punctual, job, "running")
    forged = {
        "job_id": job["job_id"],
        "execution_id": execution["execution_id"],
        "part": "all",
        "attempt": 1,
        "key": "made up",
    }
    for report in (
        {"do": "heartbeat"},
        {"do": "checkpoint", "state": {"forged": True}},
        {"do": "conclude", "result": {"outcome": "succeeded", "value": "forged"}},
    ):
        answer = punctual.aws("lambda").invoke(
            FunctionName=punctual.stack["functions"]["reporter"], Payload=json.dumps({**report, "assignment": forged})
        )
        assert json.loads(answer["Payload"].read())["ok"] is False
    path = f"/executions/{execution['execution_id']}"
    assert punctual.get(path)["status"] == "running"
    punctual.request("PUT", f"{path}/cancel?grace_seconds=0")
    [ended] = punctual.wait_for_end(job)
    assert (ended["status"], ended["result"]["value"]) == ("cancelled", None)
