"""Jobs that wait for others, on a deployed stack."""

from __future__ import annotations

from typing import Any

from punctual.domain.instant import from_text
from tests.e2e.punctual import Punctual, awaited

OVER = {"succeeded", "failed", "skipped"}


def over(punctual: Punctual, job: dict[str, Any]) -> dict[str, Any]:
    """The first execution of a job, awaited until it ran or was skipped, with what it waited for."""

    def ended() -> str | None:
        first = next(iter(punctual.executions(job)), None)
        return first["execution_id"] if first and first["status"] in OVER else None

    execution: dict[str, Any] = punctual.get(f"/executions/{awaited(ended, 150, job['name'])}")
    return execution


def test_a_diamond_runs_from_top_to_bottom_and_each_of_its_jobs_once(punctual: Punctual) -> None:
    jobs = punctual.submit_all(
        {"name": "bottom", "depends_on": [{"job": "left"}, {"job": "right"}]},
        {"name": "left", "depends_on": [{"job": "top"}]},
        {"name": "right", "depends_on": [{"job": "top"}]},
        {"name": "top", "task": "sleep", "parameters": {"seconds": 2}},
    )
    bottom, left, right, top = (over(punctual, job) for job in jobs)
    for one in (bottom, left, right, top):
        assert (one["status"], one["attempt"]) == ("succeeded", 1)
    assert from_text(top["ended_at"]) <= min(from_text(one["started_at"]) for one in (left, right))
    assert max(from_text(one["ended_at"]) for one in (left, right)) <= from_text(bottom["started_at"])
    assert [(one["name"], one["execution_id"], one["status"]) for one in bottom["upstreams"]] == [
        ("left", left["execution_id"], "succeeded"),
        ("right", right["execution_id"], "succeeded"),
    ]


def test_a_failed_upstream_skips_what_depends_on_its_success_and_lets_the_rest_go(punctual: Punctual) -> None:
    first = punctual.submit(name="first", task="fail", parameters={"fatal": True})
    [upstream] = punctual.ended(first)
    second, third, cleanup = punctual.submit_all(
        {"name": "second", "depends_on": [{"job": first["job_id"]}]},
        {"name": "third", "depends_on": [{"job": "second"}]},
        {"name": "cleanup", "depends_on": [{"job": first["job_id"], "condition": "failed"}]},
    )
    skipped = over(punctual, second)
    assert (skipped["status"], skipped["reason"]) == ("skipped", f"upstream failed: first ({upstream['execution_id']})")
    then = over(punctual, third)
    assert (then["status"], then["reason"]) == ("skipped", f"upstream skipped: second ({skipped['execution_id']})")
    assert over(punctual, cleanup)["status"] == "succeeded"
    refused = punctual.request("PATCH", f"/jobs/{first['job_id']}", {"depends_on": [{"job": third["job_id"]}]})
    assert refused.status_code in (409, 422)


def test_a_recurring_job_waits_for_the_execution_of_its_own_window(
    punctual: Punctual, begun: dict[str, dict[str, Any]]
) -> None:
    report = over(punctual, begun["report"])
    assert (report["status"], report["attempt"]) == ("succeeded", 1)
    [upstream] = report["upstreams"]
    load = punctual.get(f"/executions/{upstream['execution_id']}")
    assert load["job_id"] == begun["load"]["job_id"]
    assert load["window"] == report["window"]
    assert from_text(load["ended_at"]) <= from_text(report["started_at"])
