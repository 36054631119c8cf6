"""Dependencies between jobs on a deployed stack."""

from __future__ import annotations

from typing import Any

from punctual.domain.instant import from_text
from tests.e2e.punctual import Punctual, wait_for

ENDED = {"succeeded", "failed", "skipped"}


def first_execution(punctual: Punctual, job: dict[str, Any]) -> dict[str, Any]:
    """Wait until the first execution of a job has ended, and return it with its upstreams."""

    def ended() -> str | None:
        first = next(iter(punctual.executions(job)), None)
        return first["execution_id"] if first and first["status"] in ENDED else None

    execution: dict[str, Any] = punctual.get(f"/executions/{wait_for(ended, 150, job['name'])}")
    return execution


def test_a_diamond_of_dependencies_runs_in_order_and_each_job_once(punctual: Punctual) -> None:
    jobs = punctual.submit_all(
        {"name": "bottom", "depends_on": [{"job": "left"}, {"job": "right"}]},
        {"name": "left", "depends_on": [{"job": "top"}]},
        {"name": "right", "depends_on": [{"job": "top"}]},
        {"name": "top", "task": "sleep", "parameters": {"seconds": 2}},
    )
    bottom, left, right, top = (first_execution(punctual, job) for job in jobs)
    for one in (bottom, left, right, top):
        assert (one["status"], one["attempt"]) == ("succeeded", 1)
    assert from_text(top["ended_at"]) <= min(from_text(one["started_at"]) for one in (left, right))
    assert max(from_text(one["ended_at"]) for one in (left, right)) <= from_text(bottom["started_at"])
    assert [(one["job_name"], one["execution_id"], one["status"]) for one in bottom["upstreams"]] == [
        ("left", left["execution_id"], "succeeded"),
        ("right", right["execution_id"], "succeeded"),
    ]


def test_a_failed_upstream_skips_dependants_on_success_and_starts_dependants_on_failure(punctual: Punctual) -> None:
    first = punctual.submit(name="first", task="fail", parameters={"fatal": True})
    [upstream] = punctual.wait_for_end(first)
    second, third, cleanup = punctual.submit_all(
        {"name": "second", "depends_on": [{"job": first["job_id"]}]},
        {"name": "third", "depends_on": [{"job": "second"}]},
        {"name": "cleanup", "depends_on": [{"job": first["job_id"], "condition": "failed"}]},
    )
    skipped = first_execution(punctual, second)
    assert (skipped["status"], skipped["reason"]) == ("skipped", f"upstream failed: first ({upstream['execution_id']})")
    last = first_execution(punctual, third)
    assert (last["status"], last["reason"]) == ("skipped", f"upstream skipped: second ({skipped['execution_id']})")
    assert first_execution(punctual, cleanup)["status"] == "succeeded"
    refused = punctual.request("PATCH", f"/jobs/{first['job_id']}", {"depends_on": [{"job": third["job_id"]}]})
    assert refused.status_code in (409, 422)


def test_a_recurring_job_waits_for_the_upstream_execution_of_its_own_window(
    punctual: Punctual, early_jobs: dict[str, dict[str, Any]]
) -> None:
    report = first_execution(punctual, early_jobs["early report"])
    assert (report["status"], report["attempt"]) == ("succeeded", 1)
    [upstream] = report["upstreams"]
    load = punctual.get(f"/executions/{upstream['execution_id']}")
    assert load["job_id"] == early_jobs["early load"]["job_id"]
    assert load["window"] == report["window"]
    assert from_text(load["ended_at"]) <= from_text(report["started_at"])
