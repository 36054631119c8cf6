"""Failures that the stack survives: killed workers, malformed messages, duplicate messages, a full restart."""

from __future__ import annotations

import json
import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

from local.stack import Stack
from punctual.domain.instant import from_text, to_text
from tests.e2e.checkout import changed_checkout, run
from tests.e2e.processes import children
from tests.e2e.punctual import Punctual, soon, wait_for


def worker_processes(punctual: Punctual) -> list[int]:
    """The processes in which the emulator runs the worker function."""
    function = punctual.stack["functions"]["worker"]
    return [pid for pid, command in children(punctual.stack["pid"]).items() if function in command]


def test_a_worker_killed_in_the_middle_of_a_task_is_replaced(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 30}, priority="high")
    wait_for(lambda: [one for one in punctual.executions(job) if one["status"] == "running"], 30, "it to run")
    victims = worker_processes(punctual)
    assert victims
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    [execution] = punctual.wait_for_end(job, seconds=120)
    assert execution["status"] == "succeeded"
    assert [(one["number"], one["outcome"]) for one in execution["attempts"]] == [(1, "lost"), (2, "succeeded")]
    # Its lease expired: the message would be redelivered only after the visibility timeout, later than the wait above.


def test_a_malformed_work_order_goes_to_the_dead_letter_queue_of_its_queue(punctual: Punctual) -> None:
    punctual.send("low", "{broken")
    dead = punctual.receive("low_dead_letters")
    assert dead["Body"] == "{broken"
    assert "not a work order" in dead["MessageAttributes"]["reason"]["StringValue"]


def test_a_rejected_intake_message_goes_to_the_dead_letter_queue_with_the_reason(punctual: Punctual) -> None:
    other = punctual.submit(schedule={"every_seconds": 86400})
    for body, reason in [
        ("{broken", "not JSON"),
        ({"payload": {}}, "a message must look like"),
        ({"job_id": "unknown"}, "there is no job"),
        ({"job_id": other["job_id"]}, "does not take messages"),
        ({"job_id": other["job_id"], "payload": [1]}, "payload must be an object"),
    ]:
        punctual.send("intake", body)
        dead = punctual.receive("intake_dead_letters")
        assert dead["Body"] == (body if isinstance(body, str) else json.dumps(body))
        assert reason in dead["MessageAttributes"]["reason"]["StringValue"]


def test_a_duplicate_work_order_does_not_run_again(punctual: Punctual) -> None:
    path = f"/executions/{punctual.run_job()['execution_id']}"
    execution = punctual.get(path)
    order = {
        "job_id": execution["job_id"],
        "execution_id": execution["execution_id"],
        "attempt": 1,
        "not_before": execution["scheduled_at"],
        "priority": "normal",
        "owner": execution["owner"],
        "revision": 1,
    }
    for attempt in (1, 1, 2):
        punctual.send("normal", {**order, "attempt": attempt})

    def are_refused() -> bool:
        return punctual.logged("worker", execution["execution_id"]).count("not claimed") == 3

    # not until the queue is empty: the message of a worker that was killed stays in flight
    wait_for(are_refused, 60, "three refused work orders")
    assert punctual.get(path) == execution


def test_jobs_continue_after_a_restart_of_the_whole_stack(punctual: Punctual, stack: Stack) -> None:
    # after the restart several executions run late, at the same time
    recurring = punctual.submit(schedule={"every_seconds": 15}, overlap="allow")
    pending = punctual.submit(schedule={"at": to_text(soon(25))})
    retrying = punctual.submit(task="fail", parameters={"times": 1}, retry={"backoff_seconds": 30})
    batch = punctual.submit(
        task="quality.weekly", lane="long", parameters={"dataset": "orders", "week_of": "2026-11-10", "seconds": 60}
    )
    wait_for(lambda: [one for one in punctual.executions(retrying) if one["attempt"]], 30, "the first attempt")
    wait_for(
        lambda: [one for one in punctual.executions(batch) if one["progress"]], 60, "the first progress of the batch"
    )
    punctual.wait_for_end(recurring)
    assert stack.down()
    punctual.use(stack.up())
    assert [one["status"] for one in punctual.wait_for_end(pending, seconds=120)] == ["succeeded"]
    assert [one["status"] for one in punctual.wait_for_end(retrying, seconds=120)] == ["succeeded"]
    [week] = punctual.wait_for_end(batch, seconds=120)
    assert [one["outcome"] for one in week["attempts"]] == ["interrupted", "succeeded"]
    assert (week["result"]["value"]["records"], len(week["result"]["value"]["begun_at"])) == (7 * 24 * 200, 2)
    runs = punctual.wait_for_end(recurring, count=4, seconds=180)
    punctual.request("DELETE", f"/jobs/{recurring['job_id']}")
    dues = [from_text(one["scheduled_at"]) for one in runs]
    assert dues == [dues[0] + n * timedelta(seconds=15) for n in range(4)]
    assert {one["status"] for one in runs} == {"succeeded"}


def test_executions_survive_an_upgrade_of_every_function_while_they_run(
    punctual: Punctual, stack: Stack, tmp_path: Path
) -> None:
    """The emulator kills what a function runs when it updates the function; AWS lets it end."""
    version = changed_checkout(tmp_path / "next", "layers/punctual/python/punctual/__init__.py", "# another version")
    recurring = punctual.submit(schedule={"every_seconds": 15}, overlap="allow")
    batch = punctual.submit(
        task="quality.weekly", lane="long", parameters={"dataset": "orders", "week_of": "2026-11-10", "seconds": 60}
    )
    running = punctual.submit(task="sleep", parameters={"seconds": 600}, priority="high")
    for job in (running, batch):
        wait_for(lambda job=job: _statuses(punctual, job) == ["running"], 60, "a start")
    pending = punctual.submit(schedule={"at": to_text(soon(25))})
    upgrade = run("local", "up", cwd=version, PUNCTUAL_LOCAL_DIR=str(stack.places.directory))
    assert upgrade.returncode == 0, upgrade.stderr
    punctual.use(stack.require())
    for job in (pending, batch):
        assert [one["status"] for one in punctual.wait_for_end(job, seconds=180)] == ["succeeded"]
    wait_for(lambda: _outcomes(punctual.executions(running)[0]) == ["lost"], 180, "the end of the killed attempt")
    punctual.request("DELETE", f"/jobs/{running['job_id']}")
    runs = punctual.wait_for_end(recurring, count=4, seconds=180)
    punctual.request("DELETE", f"/jobs/{recurring['job_id']}")
    dues = [from_text(one["scheduled_at"]) for one in runs]
    assert dues == [dues[0] + n * timedelta(seconds=15) for n in range(len(dues))]
    assert {one["status"] for one in runs} == {"succeeded"}


def _statuses(punctual: Punctual, job: dict[str, Any]) -> list[str]:
    return [one["status"] for one in punctual.executions(job)]


def _outcomes(execution: dict[str, Any]) -> list[str | None]:
    return [attempt["outcome"] for attempt in execution["attempts"]]
