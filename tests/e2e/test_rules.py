"""Scheduling rules on a deployed stack: at least one test for each rule."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from punctual.domain.instant import from_text
from tests.e2e.punctual import FINAL, Punctual, wait_for


def call(punctual: Punctual, method: str, path: str, body: Any = None) -> dict[str, Any]:
    answer = punctual.request(method, path, body)
    assert answer.status_code in (200, 201), answer.text
    answered: dict[str, Any] = answer.json()
    return answered


def wait_for_running(punctual: Punctual, job: dict[str, Any], seconds: float = 30) -> dict[str, Any]:
    def one() -> dict[str, Any] | None:
        return next((one for one in punctual.executions(job) if one["status"] == "running"), None)

    return wait_for(one, seconds, f"{job['name']} to run")


def wait_for_status(punctual: Punctual, execution_id: str, status: str, seconds: float = 30) -> dict[str, Any]:
    def there() -> dict[str, Any] | None:
        found = punctual.get(f"/executions/{execution_id}")
        assert found["status"] == status or found["status"] not in FINAL, found
        return found if found["status"] == status else None

    return wait_for(there, seconds, f"{execution_id} to be {status}")


def test_overlap_skip_skips_executions_and_a_manual_run_while_one_runs(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 20}, schedule={"every_seconds": 5})
    first = wait_for_running(punctual, job)
    answer = call(punctual, "POST", f"/jobs/{job['job_id']}/run", {})
    assert answer["outcome"] == f"skipped: {first['execution_id']} still runs"

    def skipped() -> list[dict[str, Any]] | None:
        found = [one for one in punctual.executions(job) if one["status"] == "skipped" and one["origin"] == "schedule"]
        return found if len(found) >= 2 else None

    for one in wait_for(skipped, 40, "two skipped executions"):
        assert one["reason"].endswith(" still runs")

    def succeeded() -> list[dict[str, Any]] | None:
        found = [one for one in punctual.executions(job) if one["status"] == "succeeded"]
        return found if len(found) >= 2 else None

    ran = wait_for(succeeded, 90, "two succeeded executions")
    call(punctual, "DELETE", f"/jobs/{job['job_id']}")
    spans = sorted((from_text(one["started_at"]), from_text(one["ended_at"])) for one in ran)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_overlap_queue_all_runs_executions_one_after_the_other(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 4}, schedule={"queue": True}, overlap="queue_all")
    for _ in range(3):
        punctual.send("intake", {"job_id": job["job_id"], "payload": {}})
    ended = punctual.wait_for_end(job, count=3, seconds=90)
    assert {one["status"] for one in ended} == {"succeeded"}
    spans = sorted((from_text(one["started_at"]), from_text(one["ended_at"])) for one in ended)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_pause_and_resume_leave_no_gap_and_run_only_the_latest_missed_instant(punctual: Punctual) -> None:
    misfire = {"policy": "run_latest", "grace_seconds": 0}
    job = punctual.submit(schedule={"every_seconds": 2}, misfire=misfire, overlap="queue_all")
    punctual.wait_for_end(job, count=2)
    path = f"/jobs/{job['job_id']}"
    dry_run = call(punctual, "POST", f"{path}/pause?dry_run=true")
    assert dry_run["vanish"]
    paused = call(punctual, "POST", f"{path}/pause")
    assert (paused["state"], paused["next_due_at"]) == ("paused", None)
    wait_for(lambda: not _live(punctual, job), 20, "its live executions to end")
    before = len(punctual.executions(job))

    def enough_missed() -> bool:
        missed = [one for one in call(punctual, "POST", f"{path}/resume?dry_run=true")["appear"] if one["note"]]
        return len(missed) >= 5

    wait_for(enough_missed, 40, "five missed instants")
    assert len(punctual.executions(job)) == before, "a paused job gets no executions"
    call(punctual, "POST", f"{path}/resume")
    wait_for(
        lambda: [one for one in punctual.executions(job) if one["covered_by"]], 20, "the records of missed instants"
    )
    covered = [one for one in punctual.executions(job) if one["covered_by"]]
    cover = wait_for_status(punctual, covered[-1]["covered_by"], "succeeded")
    assert cover["scheduled_at"] > covered[-1]["scheduled_at"]
    call(punctual, "DELETE", path)
    dues = [from_text(one["scheduled_at"]) for one in punctual.executions(job)]
    gaps = {later - earlier for earlier, later in pairwise(dues)}
    assert gaps == {timedelta(seconds=2)}, "every due instant has its record"


def test_cancel_asks_a_running_task_to_stop(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 120})
    running = wait_for_running(punctual, job)
    answer = call(punctual, "PUT", f"/executions/{running['execution_id']}/cancel")
    assert (answer["status"], answer["cancel_at"] is not None) == ("running", True)
    ended = wait_for_status(punctual, running["execution_id"], "cancelled", 40)
    assert ended["reason"].startswith("cancelled by ")
    assert ended["result"]["value"]["slept"] < 60, "the task stopped early, and its result is kept"


def test_cancel_revokes_the_lease_after_the_grace_period(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 120})
    running = wait_for_running(punctual, job)
    call(punctual, "PUT", f"/executions/{running['execution_id']}/cancel?grace_seconds=0")
    ended = wait_for_status(punctual, running["execution_id"], "cancelled", 30)
    assert ended["result"]["value"] is None
    assert [one["outcome"] for one in ended["attempts"]] == ["cancelled"]


def test_a_manual_run_and_a_manual_retry_create_new_executions(punctual: Punctual) -> None:
    job = punctual.submit(task="fail", parameters={"times": 9, "fatal": True})
    [failed] = punctual.wait_for_end(job)
    answer = call(
        punctual, "POST", f"/executions/{failed['execution_id']}/retry", {"parameters": {"times": 0, "fatal": False}}
    )
    retried = wait_for_status(punctual, answer["execution"]["execution_id"], "succeeded")
    assert (retried["retry_of"], retried["scheduled_at"]) == (failed["execution_id"], failed["scheduled_at"])
    started = call(punctual, "POST", f"/jobs/{job['job_id']}/run", {"parameters": {"times": 0}})
    assert wait_for_status(punctual, started["execution"]["execution_id"], "succeeded")["origin"] == "run"


def test_a_concurrency_key_limits_running_executions_and_explains_the_wait(punctual: Punctual) -> None:
    jobs = [
        punctual.submit(task="sleep", parameters={"seconds": 8}, concurrency={"key": "one-at-a-time", "limit": 1})
        for _ in range(3)
    ]

    def waiting() -> dict[str, Any] | None:
        for job in jobs:
            for one in punctual.executions(job):
                found = punctual.get(f"/executions/{one['execution_id']}") if one["status"] == "waiting" else {}
                if (found.get("waiting_for") or {}).get("executions"):
                    return found
        return None

    why = wait_for(waiting, 30, "a waiting execution")["waiting_for"]
    assert (why["what"], why["detail"], len(why["executions"])) == (
        "key",
        "1 execution with the same concurrency key is running",
        1,
    )
    ended = [punctual.wait_for_end(job, seconds=60)[0] for job in jobs]
    spans = sorted((from_text(one["started_at"]), from_text(one["ended_at"])) for one in ended)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_edit_applies_to_executions_that_have_not_started(punctual: Punctual) -> None:
    job = punctual.submit(schedule={"every_seconds": 3600}, parameters={"v": 1})
    wait_for(lambda: punctual.executions(job), 10, "its execution")
    path = f"/jobs/{job['job_id']}"
    dry_run = call(punctual, "PATCH", f"{path}?dry_run=true", {"schedule": {"every_seconds": 5}})
    assert (len(dry_run["vanish"]), len(dry_run["appear"])) == (1, 10)
    call(punctual, "PATCH", path, {"schedule": {"every_seconds": 5}, "parameters": {"v": 2}})
    ended = punctual.wait_for_end(job, count=2, seconds=40)
    assert [one["result"]["value"] for one in ended] == [{"v": 2}] * 2
    call(punctual, "DELETE", path)


def _live(punctual: Punctual, job: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in punctual.executions(job) if one["status"] not in FINAL]
