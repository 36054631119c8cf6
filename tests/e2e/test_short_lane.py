"""The short lane on a deployed stack: submit, plan, dispatch, run, history."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import httpx

from punctual.domain.instant import from_text, to_text
from tests.e2e.punctual import Punctual, soon, wait_for


def test_a_submitted_job_runs_and_its_execution_and_result_can_be_read(punctual: Punctual) -> None:
    job = punctual.submit(name="first", parameters={"hello": "world"})
    [execution] = punctual.wait_for_end(job)
    assert execution["status"] == "succeeded"
    path = f"/executions/{execution['execution_id']}"
    assert differences(execution, punctual.get(path)) == {"events", "cost", "dependants"}  # lists leave these out
    assert punctual.get(f"{path}/result") == {"hello": "world"}
    assert execution in punctual.get("/executions?status=succeeded")["items"]
    done = wait_for(lambda: punctual.get(f"/jobs/{job['job_id']}")["state"] == "done", 10, "the job to be done")
    assert done


def differences(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    """The names of the fields that differ."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def test_jobs_due_at_an_instant_do_not_start_before_it(punctual: Punctual) -> None:
    due = soon(4)
    jobs = [punctual.submit(schedule={"at": to_text(due)}, priority=priority) for priority in ("high", "normal", "low")]
    for job in jobs:
        [execution] = punctual.wait_for_end(job)
        assert execution["status"] == "succeeded"
        assert from_text(execution["scheduled_at"]) <= from_text(execution["started_at"])


def test_a_job_deleted_before_its_instant_does_not_run(punctual: Punctual) -> None:
    job = punctual.submit(schedule={"at": to_text(soon(60))})
    wait_for(lambda: punctual.executions(job), 10, "its execution")
    assert punctual.request("DELETE", f"/jobs/{job['job_id']}").status_code == 200
    [execution] = punctual.wait_for_end(job)
    assert (execution["status"], execution["reason"]) == ("cancelled", "job deleted")


def test_a_job_with_an_interval_of_one_second_runs_every_second(punctual: Punctual) -> None:
    job = punctual.submit(schedule={"every_seconds": 1}, overlap="allow")
    ended = punctual.wait_for_end(job, count=15)
    punctual.request("DELETE", f"/jobs/{job['job_id']}")
    assert {one["status"] for one in ended} == {"succeeded"}
    dues = [from_text(one["scheduled_at"]) for one in ended]
    assert {later - earlier for earlier, later in pairwise(dues)} == {timedelta(seconds=1)}
    assert all(from_text(one["started_at"]) >= from_text(one["scheduled_at"]) for one in ended)
    assert all(one["attempt"] == 1 for one in ended)


def test_a_cron_job_runs_at_the_minute_with_its_data_window(
    punctual: Punctual, early_jobs: dict[str, dict[str, Any]]
) -> None:
    [execution] = punctual.wait_for_end(early_jobs["cron"], seconds=90)
    due = from_text(execution["scheduled_at"])
    assert (due.second, due.microsecond) == (0, 0)
    assert execution["window"] == {"start": to_text(due - timedelta(minutes=1)), "end": to_text(due)}


def test_each_message_on_the_intake_queue_becomes_one_execution(punctual: Punctual) -> None:
    job = punctual.submit(task="queue.process", schedule={"queue": True})
    for number in range(5):
        records = [{"id": number, "name": "n"}, {"id": None}]
        punctual.send("intake", {"job_id": job["job_id"], "payload": {"records": records, "required_fields": ["id"]}})
    ended = punctual.wait_for_end(job, count=5)
    assert {one["status"] for one in ended} == {"succeeded"}
    assert sorted(one["parameters"]["records"][0]["id"] for one in ended) == list(range(5))
    assert all(one["result"]["value"]["missing"]["id"] >= 1 for one in ended)
    assert punctual.get(f"/jobs/{job['job_id']}")["state"] == "active"


def test_a_failed_attempt_is_retried_and_recorded(punctual: Punctual) -> None:
    execution = punctual.run_job(task="fail", parameters={"times": 1}, retry={"backoff_seconds": 1})
    assert execution["status"] == "succeeded"
    assert [one["outcome"] for one in execution["attempts"]] == ["failed", "succeeded"]
    fatal = punctual.run_job(task="fail", parameters={"fatal": True})
    assert (fatal["status"], fatal["reason"], fatal["attempt"]) == ("failed", "fatal error: not retried", 1)


def test_a_task_that_exceeds_its_time_out_is_stopped(punctual: Punctual) -> None:
    execution = punctual.run_job(task="sleep", parameters={"seconds": 60}, timeout_seconds=2, retry={"max_attempts": 1})
    assert (execution["status"], execution["error"]["type"]) == ("timed_out", "TimedOut")


def test_progress_is_shown_while_a_task_runs(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 20})
    progress = wait_for(lambda: next(iter(punctual.executions(job)), {}).get("progress"), 30, "its progress")
    assert 0 < progress["percent"] < 100
    assert "of 20 s" in progress["message"]
    assert job["job_id"] in [one["job_id"] for one in punctual.get("/executions?status=running")["items"]]
    [execution] = punctual.wait_for_end(job)
    assert execution["status"] == "succeeded"


def test_a_large_result_is_stored_in_the_bucket_and_served_by_a_redirect(punctual: Punctual) -> None:
    execution = punctual.run_job(parameters={"text": "x" * 40_000})
    location = execution["result"]["location"]
    assert location.startswith(f"s3://{punctual.stack['results_bucket']}/results/{execution['job_id']}/")
    answer = punctual.request("GET", f"/executions/{execution['execution_id']}/result")
    assert answer.status_code == 303
    assert httpx.get(answer.headers["location"]).json() == {"text": "x" * 40_000}


BURST = 60
OF_SPEED = ("DispatchLate", "OldestMessage", "BacklogDrainTime", "StreamBehind", "SweepBehind", "TickMissed")
"""Alarms that a slow machine raises rightly."""


def test_a_burst_of_jobs_raises_no_alarm(punctual: Punctual) -> None:
    assert len(alarms(punctual)) > 10
    before = raised(punctual)
    jobs = punctual.submit_all(*({"name": f"burst {number}"} for number in range(BURST)))
    ended = [execution for job in jobs for execution in punctual.wait_for_end(job, seconds=120)]
    assert [one["status"] for one in ended] == ["succeeded"] * BURST
    figures = punctual.tick()  # publishes what the alarms watch; they are evaluated at once
    new = {name for name in raised(punctual) - before if not name.endswith(OF_SPEED)}
    assert new == set(), figures


def alarms(punctual: Punctual) -> dict[str, str]:
    """The state of every alarm, by name."""
    pages = punctual.aws("cloudwatch").get_paginator("describe_alarms").paginate()
    return {one["AlarmName"]: one["StateValue"] for page in pages for one in page["MetricAlarms"]}


def raised(punctual: Punctual) -> set[str]:
    return {name for name, state in alarms(punctual).items() if state == "ALARM"}
