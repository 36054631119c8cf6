"""What must survive: a killed worker, an unreadable message, the same message twice, a restart of everything."""

from __future__ import annotations

import json
import os
import signal
from datetime import timedelta

from local.stack import Stack
from punctual.domain.instant import from_text, to_text
from tests.e2e.processes import children
from tests.e2e.punctual import Punctual, awaited, soon


def worker_processes(punctual: Punctual) -> list[int]:
    """The processes in which the emulator runs the worker function."""
    function = punctual.stack["functions"]["worker"]
    return [pid for pid, command in children(punctual.stack["pid"]).items() if function in command]


def test_a_worker_killed_in_the_middle_of_a_task_is_replaced_within_90_seconds(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 5}, priority="high")
    running = awaited(lambda: [one for one in punctual.executions(job) if one["status"] == "running"], 30, "it to run")
    victims = worker_processes(punctual)
    assert victims
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    [execution] = punctual.ended(job, seconds=120)
    assert execution["status"] == "succeeded"
    assert [(one["number"], one["outcome"]) for one in execution["attempts"]] == [(1, "lost"), (2, "succeeded")]
    died_after, replaced_at = from_text(running[0]["started_at"]), from_text(execution["started_at"])
    assert replaced_at - died_after < timedelta(seconds=95)  # it lived for up to 5 of them


def test_an_unreadable_order_lands_in_its_dead_letter_queue(punctual: Punctual) -> None:
    punctual.send("low", "{broken")
    dead = punctual.received("low_dead_letters")
    assert dead["Body"] == "{broken"
    assert "not a work order" in dead["MessageAttributes"]["reason"]["StringValue"]


def test_intake_messages_that_cannot_become_executions_are_buried_with_the_reason(punctual: Punctual) -> None:
    other = punctual.submit(schedule={"every_seconds": 86400})
    for body, reason in [
        ("{broken", "not JSON"),
        ({"payload": {}}, "a message must look like"),
        ({"job_id": "unknown"}, "there is no job"),
        ({"job_id": other["job_id"]}, "does not take messages"),
        ({"job_id": other["job_id"], "payload": [1]}, "payload must be an object"),
    ]:
        punctual.send("intake", body)
        dead = punctual.received("intake_dead_letters")
        assert dead["Body"] == (body if isinstance(body, str) else json.dumps(body))
        assert reason in dead["MessageAttributes"]["reason"]["StringValue"]


def test_an_order_sent_again_and_again_runs_once(punctual: Punctual) -> None:
    execution = punctual.ran()
    order = {
        "job_id": execution["job_id"],
        "execution_id": execution["execution_id"],
        "attempt": 1,
        "not_before": execution["scheduled_at"],
        "priority": "normal",
        "owner": execution["owner"],
    }
    for attempt in (1, 1, 2):
        punctual.send("normal", {**order, "attempt": attempt})
    punctual.ran()  # behind them in the same queue
    assert punctual.get(f"/executions/{execution['execution_id']}") == execution


def test_after_a_restart_of_everything_jobs_go_on(punctual: Punctual, stack: Stack) -> None:
    recurring = punctual.submit(schedule={"every_seconds": 20}, overlap="allow")  # some come late, and together
    pending = punctual.submit(schedule={"at": to_text(soon(25))})
    retrying = punctual.submit(task="fail", parameters={"times": 1}, retry={"backoff_seconds": 40})
    batch = punctual.submit(
        task="quality.weekly", lane="long", parameters={"dataset": "orders", "week_of": "2026-11-10", "seconds": 20}
    )
    awaited(lambda: [one for one in punctual.executions(retrying) if one["attempt"]], 30, "the first attempt")
    awaited(lambda: [one for one in punctual.executions(batch) if one["progress"]], 60, "the batch to be under way")
    punctual.ended(recurring)
    assert stack.down()
    punctual.use(stack.up())
    assert [one["status"] for one in punctual.ended(pending, seconds=120)] == ["succeeded"]
    assert [one["status"] for one in punctual.ended(retrying, seconds=120)] == ["succeeded"]
    [week] = punctual.ended(batch, seconds=120)
    assert [one["outcome"] for one in week["attempts"]] == ["interrupted", "succeeded"]
    assert (week["result"]["value"]["records"], len(week["result"]["value"]["begun_at"])) == (7 * 24 * 200, 2)
    runs = punctual.ended(recurring, count=4, seconds=180)
    punctual.request("DELETE", f"/jobs/{recurring['job_id']}")
    dues = [from_text(one["scheduled_at"]) for one in runs]
    assert dues == [dues[0] + n * timedelta(seconds=20) for n in range(4)]
    assert {one["status"] for one in runs} == {"succeeded"}
