"""The rules of scheduling on a deployed stack: one test for each family."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from punctual.domain.instant import from_text
from tests.e2e.punctual import FINAL, Punctual, awaited


def act(punctual: Punctual, method: str, path: str, body: Any = None) -> dict[str, Any]:
    answer = punctual.request(method, path, body)
    assert answer.status_code in (200, 201), answer.text
    answered: dict[str, Any] = answer.json()
    return answered


def now_running(punctual: Punctual, job: dict[str, Any], seconds: float = 30) -> dict[str, Any]:
    def one() -> dict[str, Any] | None:
        return next((one for one in punctual.executions(job) if one["status"] == "running"), None)

    return awaited(one, seconds, f"{job['name']} to run")


def seen(punctual: Punctual, execution_id: str, status: str, seconds: float = 30) -> dict[str, Any]:
    def there() -> dict[str, Any] | None:
        found = punctual.get(f"/executions/{execution_id}")
        assert found["status"] == status or found["status"] not in FINAL, found
        return found if found["status"] == status else None

    return awaited(there, seconds, f"{execution_id} to be {status}")


def test_overlap_what_comes_due_meanwhile_is_skipped_and_run_now_says_so(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 12}, schedule={"every_seconds": 5})
    first = now_running(punctual, job)
    answer = act(punctual, "POST", f"/jobs/{job['job_id']}/run", {})
    assert answer["outcome"] == f"skipped: {first['execution_id']} still runs"

    def skipped() -> list[dict[str, Any]] | None:
        found = [one for one in punctual.executions(job) if one["status"] == "skipped" and one["origin"] == "schedule"]
        return found if len(found) >= 2 else None

    for one in awaited(skipped, 40, "two that were skipped"):
        assert one["reason"].endswith(" still runs")
    act(punctual, "DELETE", f"/jobs/{job['job_id']}")
    ran = [one for one in punctual.executions(job) if one["status"] == "succeeded"]
    spans = sorted((from_text(one["started_at"]), from_text(one["ended_at"])) for one in ran)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_overlap_what_waits_runs_when_the_one_before_has_ended(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 4}, schedule={"queue": True}, overlap="queue_all")
    for _ in range(3):
        punctual.send("intake", {"job_id": job["job_id"], "payload": {}})
    ended = punctual.ended(job, count=3, seconds=90)
    assert {one["status"] for one in ended} == {"succeeded"}
    spans = sorted((from_text(one["started_at"]), from_text(one["ended_at"])) for one in ended)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_pause_resume_and_misfire_leave_no_gap_and_no_pile(punctual: Punctual) -> None:
    misfire = {"policy": "run_latest", "grace_seconds": 0}
    job = punctual.submit(schedule={"every_seconds": 2}, misfire=misfire, overlap="queue_all")
    punctual.ended(job, count=2)
    path = f"/jobs/{job['job_id']}"
    foreseen = act(punctual, "POST", f"{path}/pause?dry_run=true")
    assert foreseen["vanish"]
    paused = act(punctual, "POST", f"{path}/pause")
    assert (paused["state"], paused["next_due_at"]) == ("paused", None)
    awaited(lambda: not _live(punctual, job), 20, "nothing of it to live")
    before = len(punctual.executions(job))

    def long_enough() -> bool:
        due = [one for one in act(punctual, "POST", f"{path}/resume?dry_run=true")["appear"] if one["note"]]
        return len(due) >= 5

    awaited(long_enough, 40, "some instants to go by")
    assert len(punctual.executions(job)) == before, "a paused job brings forth nothing"
    act(punctual, "POST", f"{path}/resume")
    awaited(lambda: [one for one in punctual.executions(job) if one["covered_by"]], 20, "those that went by")
    covered = [one for one in punctual.executions(job) if one["covered_by"]]
    cover = seen(punctual, covered[-1]["covered_by"], "succeeded")
    assert cover["scheduled_at"] > covered[-1]["scheduled_at"]
    act(punctual, "DELETE", path)
    dues = [from_text(one["scheduled_at"]) for one in punctual.executions(job)]
    gaps = {later - earlier for earlier, later in pairwise(dues)}
    assert gaps == {timedelta(seconds=2)}, "every due instant has its record"


def test_cancel_a_running_task_hears_of_it_and_stops(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 120})
    running = now_running(punctual, job)
    answer = act(punctual, "PUT", f"/executions/{running['execution_id']}/cancel")
    assert (answer["status"], answer["cancel_at"] is not None) == ("running", True)
    ended = seen(punctual, running["execution_id"], "cancelled", 40)
    assert ended["reason"].startswith("cancelled by ")
    assert ended["result"]["value"]["slept"] < 60, "it stopped by itself, and what it had done is kept"


def test_cancel_a_lease_is_revoked_after_its_grace(punctual: Punctual) -> None:
    job = punctual.submit(task="sleep", parameters={"seconds": 25})
    running = now_running(punctual, job)
    act(punctual, "PUT", f"/executions/{running['execution_id']}/cancel?grace_seconds=1")
    ended = seen(punctual, running["execution_id"], "cancelled", 30)
    assert ended["result"]["value"] is None
    assert [one["outcome"] for one in ended["attempts"]] == ["cancelled"]


def test_run_now_and_retry_make_executions_of_their_own(punctual: Punctual) -> None:
    job = punctual.submit(task="fail", parameters={"times": 9, "fatal": True})
    [failed] = punctual.ended(job)
    answer = act(
        punctual, "POST", f"/executions/{failed['execution_id']}/retry", {"parameters": {"times": 0, "fatal": False}}
    )
    again = seen(punctual, answer["execution"]["execution_id"], "succeeded")
    assert (again["retry_of"], again["scheduled_at"]) == (failed["execution_id"], failed["scheduled_at"])
    ran = act(punctual, "POST", f"/jobs/{job['job_id']}/run", {"parameters": {"times": 0}})
    assert seen(punctual, ran["execution"]["execution_id"], "succeeded")["origin"] == "run"


def test_keys_no_more_than_the_limit_run_at_once_and_waiting_says_why(punctual: Punctual) -> None:
    jobs = [
        punctual.submit(task="sleep", parameters={"seconds": 5}, concurrency={"key": "one-at-a-time", "limit": 1})
        for _ in range(3)
    ]

    def waiting() -> dict[str, Any] | None:
        for job in jobs:
            for one in punctual.executions(job):
                if one["status"] == "waiting":
                    return punctual.get(f"/executions/{one['execution_id']}")
        return None

    why = awaited(waiting, 30, "one to wait")["waiting_for"]
    assert (why["what"], why["detail"], len(why["executions"])) == ("key", "1 of its key run already", 1)
    ended = [punctual.ended(job, seconds=60)[0] for job in jobs]
    spans = sorted((from_text(one["started_at"]), from_text(one["ended_at"])) for one in ended)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_edit_what_has_not_started_goes_by_the_new_rules(punctual: Punctual) -> None:
    job = punctual.submit(schedule={"every_seconds": 3600}, parameters={"v": 1})
    awaited(lambda: punctual.executions(job), 10, "its execution")
    path = f"/jobs/{job['job_id']}"
    foreseen = act(punctual, "PATCH", f"{path}?dry_run=true", {"schedule": {"every_seconds": 5}})
    assert (len(foreseen["vanish"]), len(foreseen["appear"])) == (1, 10)
    act(punctual, "PATCH", path, {"schedule": {"every_seconds": 5}, "parameters": {"v": 2}})
    ended = punctual.ended(job, count=2, seconds=40)
    assert [one["result"]["value"] for one in ended] == [{"v": 2}] * 2
    act(punctual, "DELETE", path)


def _live(punctual: Punctual, job: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in punctual.executions(job) if one["status"] not in FINAL]
