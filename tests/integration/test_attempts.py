"""The context of a task, its results and errors, and its retries."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from punctual.domain.instant import from_text, to_text
from tests.integration.world import World


def run(world: World, **submission: Any) -> dict[str, Any]:
    """Submit a job that runs now and deliver everything. Returns its execution."""
    job = world.submit(**submission)
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    return execution


def test_a_task_receives_its_job_its_execution_and_its_times(world: World) -> None:
    execution = run(world, task="test.show_context", deadline={"within_seconds": 60}, timeout_seconds=100)
    seen = execution["result"]["value"]
    assert (seen["job_id"], seen["execution_id"]) == (execution["job_id"], execution["execution_id"])
    assert from_text(seen["due"]) == from_text(execution["scheduled_at"])
    assert from_text(seen["deadline"]) == from_text(execution["scheduled_at"]) + timedelta(seconds=60)
    assert execution["deadline"]["at"] == to_text(from_text(seen["deadline"]))
    assert 95 < seen["seconds_left"] <= 100
    assert (seen["attempt"], seen["window"], seen["cancelled"]) == (1, None, False)


def test_the_data_window_of_a_recurring_execution_starts_at_the_previous_instant(world: World) -> None:
    job = world.submit(task="test.show_context", schedule={"cron": "*/2 * * * *"})
    world.run_for(125, step=5)
    execution = world.executions(job["job_id"])[0]
    due = from_text(execution["scheduled_at"])
    assert execution["window"] == {"start": to_text(due - timedelta(minutes=2)), "end": to_text(due)}
    assert [from_text(one) for one in execution["result"]["value"]["window"]] == [due - timedelta(minutes=2), due]


def test_a_small_result_is_stored_in_the_record_and_a_large_one_in_the_bucket(world: World) -> None:
    small = run(world, task="test.large", parameters={"bytes": 32 * 1024 - 2})
    assert len(small["result"]["value"]) == 32 * 1024 - 2
    assert small["result"]["location"] is None
    large = run(world, task="test.large", parameters={"bytes": 32 * 1024 - 1})
    assert large["result"]["value"] is None
    bucket, key = large["result"]["location"].removeprefix("s3://").split("/", 1)
    stored = world.s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    assert json.loads(stored) == "x" * (32 * 1024 - 1)


def test_a_result_that_is_not_json_is_a_fatal_failure(world: World) -> None:
    execution = run(world, task="test.not_json")
    assert (execution["status"], execution["reason"], execution["attempt"]) == ("failed", "fatal error: not retried", 1)
    assert "JSON" in execution["error"]["message"]


def test_a_failing_task_is_retried_until_it_succeeds_and_every_error_is_recorded(world: World) -> None:
    job = world.submit(task="fail", parameters={"times": 2}, retry={"max_attempts": 3, "backoff_seconds": 20})
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    assert execution["status"] == "retrying"
    assert from_text(execution["retry_at"]) == world.now + timedelta(seconds=20)
    world.run_for(70)
    [execution] = world.executions(job["job_id"])
    assert execution["status"] == "succeeded"
    assert execution["error"] is None
    assert [(one["number"], one["outcome"]) for one in execution["attempts"]] == [
        (1, "failed"),
        (2, "failed"),
        (3, "succeeded"),
    ]
    assert "attempt 1 fails as configured" in execution["attempts"][0]["error"]["message"]
    assert "RuntimeError" in execution["attempts"][1]["error"]["trace"]


def test_an_execution_without_attempts_left_fails_with_every_error_recorded(world: World) -> None:
    execution = run(world, task="fail", parameters={"times": 9}, retry={"max_attempts": 3, "backoff_seconds": 0})
    assert execution["status"] == "failed"
    assert [one["outcome"] for one in execution["attempts"]] == ["failed"] * 3
    assert execution["error"]["message"] == "attempt 3 fails as configured (failing attempts: 9)"
    assert world.request("GET", f"/jobs/{execution['job_id']}")[1]["state"] == "done"


def test_a_fatal_failure_is_not_retried(world: World) -> None:
    execution = run(world, task="fail", parameters={"times": 9, "fatal": True})
    assert (execution["status"], execution["reason"], execution["attempt"]) == ("failed", "fatal error: not retried", 1)


def test_a_task_may_set_its_own_retry_delay(world: World) -> None:
    execution = run(world, task="test.retry_later", parameters={"after": 42})
    assert from_text(execution["retry_at"]) == world.now + timedelta(seconds=42)


def test_a_backoff_longer_than_the_maximum_message_delay_uses_a_timer(world: World) -> None:
    execution = run(world, task="test.retry_later", parameters={"after": 3600})
    job_id = execution["job_id"]
    assert len([item for item in world.items("timers") if item["due"]["S"].endswith("#retry")]) == 1
    world.run_for(3540, step=30)
    assert world.executions(job_id)[0]["status"] == "queued"
    world.run_for(90, step=5)
    [execution] = world.executions(job_id)
    assert execution["status"] == "succeeded"
    assert from_text(execution["started_at"]) >= from_text(execution["attempts"][0]["ended_at"]) + timedelta(hours=1)


def test_a_task_that_exceeds_its_timeout_is_stopped_and_timed_out(world: World) -> None:
    execution = run(world, task="test.hang", timeout_seconds=1, retry={"max_attempts": 2, "backoff_seconds": 0})
    assert execution["status"] == "timed_out"
    assert [one["outcome"] for one in execution["attempts"]] == ["timed_out", "timed_out"]
    assert execution["error"] == {"type": "TimedOut", "message": "stopped after 1 seconds", "trace": None}


def test_message_parameters_that_do_not_match_the_task_are_a_fatal_failure(world: World) -> None:
    job = world.submit(task="queue.process", schedule={"queue": True})
    body = json.dumps({"job_id": job["job_id"], "payload": {"records": "all of them"}})
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    assert (execution["status"], execution["reason"]) == ("failed", "fatal error: not retried")
    assert "parameters.records" in execution["error"]["message"]
