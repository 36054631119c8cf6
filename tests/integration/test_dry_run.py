"""Dry runs: they refuse what the call itself refuses, tell what it would do, and write nothing. Nor do refusals."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import to_text
from tests.integration.world import World

TABLES = ("jobs", "executions", "timers", "gates", "parts", "signals", "idempotency")
HOURLY = {"cron": "30 * * * *"}
NOBODY = "01kxq0v9m3c8e7w2r5t4y6h1nb"


def tables(world: World) -> dict[str, list[dict[str, Any]]]:
    return {table: world.items(table) for table in TABLES}


def later(world: World) -> dict[str, str]:
    return {"at": to_text(world.now + timedelta(hours=1))}


def on(job: dict[str, Any]) -> list[dict[str, str]]:
    return [{"job": job["job_id"]}]


@pytest.mark.parametrize(
    "submission",
    [
        {"depends_on": [{"job": NOBODY}]},
        {"depends_on": [{"job": "nightly"}]},
        {"depends_on": "recurring"},
        {"depends_on": "once", "schedule": HOURLY},
        {"depends_on": "once", "schedule": {"queue": True}},
        {"depends_on": "recurring", "schedule": {"cron": "15 * * * *"}},
        {"depends_on": "queue"},
        {"depends_on": "deleted"},
        {"depends_on": "once", "dedupe_key": "taken"},
    ],
    ids=str,
)
def test_a_dry_run_of_a_submission_refuses_what_the_submission_does(world: World, submission: dict[str, Any]) -> None:
    jobs = {
        "once": world.submit(schedule=later(world)),
        "recurring": world.submit(schedule=HOURLY, dedupe_key="taken"),
        "queue": world.submit(schedule={"queue": True}),
        "deleted": world.submit(schedule=later(world)),
    }
    assert world.request("DELETE", f"/jobs/{jobs['deleted']['job_id']}")[0] == 200
    world.settle_down()
    if isinstance(submission["depends_on"], str):
        submission = submission | {"depends_on": on(jobs[submission["depends_on"]])}
    before = tables(world)
    tried = world.request("POST", "/jobs?dry_run=true", {"task": "echo", **submission})
    assert tables(world) == before
    assert world.request("POST", "/jobs", {"task": "echo", **submission}) == tried
    assert tried[0] in (409, 422)
    assert tables(world) == before
    if "dedupe_key" in submission:
        returned = {"task": "echo", **submission, "on_duplicate": "return_existing"}
        assert world.request("POST", "/jobs", returned)[0] == 200
        assert world.request("POST", "/jobs/batch", {"jobs": [returned]})[0] == 200
    assert world.request("POST", "/jobs/batch", {"jobs": [{"task": "echo", **submission}]})[0] == tried[0]
    assert tables(world) == before


def test_a_dry_run_of_a_dependant_tells_when_it_would_be_due_and_writes_nothing(world: World) -> None:
    upstream = world.submit(schedule=HOURLY)
    world.settle_down()
    before = tables(world)
    body = {"task": "echo", "schedule": HOURLY, "depends_on": on(upstream)}
    status, foreseen = world.request("POST", "/jobs?dry_run=true", body)
    assert (status, len(foreseen["appear"])) == (200, 10)
    assert tables(world) == before


def test_dry_runs_and_refusals_of_an_edit_leave_the_upstream_as_it_is(world: World) -> None:
    upstream, other = world.submit(schedule=later(world)), world.submit(schedule=HOURLY)
    job = world.submit(schedule=later(world))
    path = f"/jobs/{job['job_id']}"
    world.settle_down()
    before = tables(world)
    assert world.request("PATCH", f"{path}?dry_run=true", {"depends_on": on(upstream)})[0] == 200
    for changes, headers, expected in (
        ({"depends_on": [*on(upstream), *on(other)]}, {}, 422),
        ({"depends_on": [*on(upstream), *on(job)]}, {}, 422),
        ({"depends_on": on(upstream), "dedupe_key": "new"}, {}, 422),
        ({"depends_on": on(upstream)}, {"if-match": "7"}, 412),
    ):
        for query in ("?dry_run=true", ""):
            assert world.request("PATCH", f"{path}{query}", changes, headers=headers)[0] == expected
    assert tables(world) == before
    assert world.request("PATCH", path, {"depends_on": on(upstream)})[0] == 200
    [item] = [item for item in world.items("jobs") if item["job_id"]["S"] == upstream["job_id"]]
    assert item["feeds"] == {"BOOL": True}
