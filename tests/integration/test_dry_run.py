"""Dry runs: they refuse what the call itself refuses, tell what it would do, and write nothing. Nor do refusals."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import to_text
from tests.integration.long_lane import LongLane
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


# what it tells is what happens


def edit(world: World, job_id: str, changes: dict[str, Any], query: str = "") -> dict[str, Any]:
    status, answer = world.request("PATCH", f"/jobs/{job_id}{query}", changes)
    assert status == 200, answer
    return answer


def ids(some: list[dict[str, Any]]) -> list[str]:
    return [one["execution_id"] for one in some]


def live(world: World, job_id: str) -> dict[str, dict[str, Any]]:
    return {
        item["execution_id"]["S"]: item
        for item in world.items("executions")
        if item["job_id"]["S"] == job_id and item["status"]["S"] in ("scheduled", "queued", "waiting")
    }


def test_an_edit_that_keeps_the_schedule_replaces_all_that_is_planned_and_forgets_none(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 3}, overlap="allow")["job_id"]
    world.settle_down()
    planned = live(world, job_id)
    assert len(planned) > 70
    foreseen = edit(world, job_id, {"parameters": {"v": 2}}, "?dry_run=true")
    assert foreseen["vanish"] == []
    assert ids(foreseen["repeat"]) == sorted(planned)
    edit(world, job_id, {"parameters": {"v": 2}})
    world.deliver_streams()
    now = live(world, job_id)
    assert {one for one, item in now.items() if item["revision"] == {"N": "2"}} >= set(planned)


def test_an_edit_of_the_schedule_tells_which_instants_stay_and_which_go(world: World) -> None:
    job_id = world.submit(schedule={"cron": "* * * * *"}, overlap="allow")["job_id"]
    world.settle_down()
    world.pass_time(1)
    planned = live(world, job_id)
    changes = {"schedule": {"cron": "*/2 * * * *"}}
    foreseen = edit(world, job_id, changes, "?dry_run=true")
    edit(world, job_id, changes)
    world.deliver_streams()
    stayed = set(planned) & set(live(world, job_id))
    assert (set(ids(foreseen["repeat"])), set(ids(foreseen["vanish"]))) == (stayed, set(planned) - stayed)
    assert stayed
    assert foreseen["vanish"]


def test_what_was_cancelled_by_hand_neither_appears_nor_repeats(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.settle_down()
    [cancelled] = ids(world.executions(job_id))
    assert world.request("PUT", f"/executions/{cancelled}/cancel")[0] == 200
    world.settle_down()
    [planned] = live(world, job_id)
    foreseen = edit(world, job_id, {"parameters": {"v": 2}}, "?dry_run=true")
    assert (ids(foreseen["repeat"]), foreseen["vanish"]) == ([planned], [])
    assert not {cancelled, planned} & set(ids(foreseen["appear"]))
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.settle_down()
    _, foreseen = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert ids(foreseen["appear"])[0] == planned


def test_what_has_its_state_machine_already_is_not_said_to_be_replaced(world: World, lane: LongLane) -> None:
    job = lane.submit()
    world.settle_down()
    lane.next(job)
    foreseen = edit(world, job["job_id"], {"parameters": {"v": 2}}, "?dry_run=true")
    assert (foreseen["appear"], foreseen["vanish"], foreseen["repeat"]) == ([], [], [])


@pytest.mark.parametrize(
    ("method", "path"), [("DELETE", ""), ("PUT", "/cancel"), ("POST", "/pause")], ids=["delete", "cancel", "pause"]
)
def test_what_waits_from_before_a_backfill_vanishes_with_its_job(world: World, method: str, path: str) -> None:
    upstream = world.submit(schedule=HOURLY)
    job_id = world.submit(schedule=HOURLY, depends_on=on(upstream), overlap="allow")["job_id"]
    world.settle_down()
    assert world.request("POST", f"/jobs/{upstream['job_id']}/pause")[0] == 200
    world.run_for(6000, step=60)
    first, second, _ = (one["execution_id"] for one in world.executions(job_id))
    assert world.request("PUT", f"/executions/{second}/cancel")[0] == 200
    world.settle_down()
    span = {"from": to_text(world.now - timedelta(hours=1)), "to": to_text(world.now)}
    status, answer = world.request("POST", f"/jobs/{job_id}/backfill", {**span, "which": "missing_and_failed"})
    assert (status, ids(answer["items"])) == (201, [f"{second}-2"])
    world.settle_down()
    world.pass_time(1)
    planned = live(world, job_id)
    assert {first, f"{second}-2"} <= set(planned)
    status, foreseen = world.request(method, f"/jobs/{job_id}{path}?dry_run=true")
    assert (status, ids(foreseen["vanish"])) == (200, sorted(planned))
    assert world.request(method, f"/jobs/{job_id}{path}")[0] == 200
    world.deliver_streams()
    assert live(world, job_id) == {}


@pytest.mark.parametrize(("policy", "runs"), [("run_latest", 1), ("run_all", 100), ("skip", 0)])
def test_a_resumption_names_what_runs_and_what_comes_however_much_went_by(world: World, policy: str, runs: int) -> None:
    misfire = {"policy": policy, "grace_seconds": 0}
    job_id = world.submit(schedule={"cron": "* * * * *"}, misfire=misfire, overlap="allow")["job_id"]
    world.settle_down()
    world.pass_time(30)
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.settle_down()
    world.pass_time(3 * 24 * 60 * 60)
    status, foreseen = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert (status, len(foreseen["appear"])) == (200, 1000)
    went_by = [one for one in foreseen["appear"] if one["scheduled_at"] <= to_text(world.now)]
    assert len(foreseen["appear"]) - len(went_by) == 10
    assert [one["note"] for one in went_by[len(went_by) - runs :]] == [None] * runs
    assert {one["note"] for one in went_by[: len(went_by) - runs]} == {
        "skipped: a later one covers it" if policy == "run_latest" else "missed"
    }
    assert went_by[-1]["scheduled_at"] == to_text(world.now.replace(second=0, microsecond=0))
    assert foreseen["left_out"] == 3 * 24 * 60 - len(went_by)


def test_a_resumption_after_a_short_pause_leaves_nothing_out(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.settle_down()
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.settle_down()
    world.pass_time(4 * 3600)
    _, foreseen = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert ([one["note"] is None for one in foreseen["appear"]], foreseen["left_out"]) == ([False] * 3 + [True] * 11, 0)
