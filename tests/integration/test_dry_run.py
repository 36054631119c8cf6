"""Dry runs: same refusals as the real call, an accurate preview of its effect, and no writes.

A refused call writes nothing either.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import to_text
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.long_lane import LongLane
from tests.integration.world import World

TABLES = ("jobs", "executions", "timers", "gates", "parts", "signals", "idempotency")
HOURLY = {"cron": "30 * * * *"}
UNKNOWN_JOB_ID = "01kxq0v9m3c8e7w2r5t4y6h1nb"


def tables(world: World) -> dict[str, list[dict[str, Any]]]:
    return {table: world.items(table) for table in TABLES}


def later(world: World) -> dict[str, str]:
    return {"at": to_text(world.now + timedelta(hours=1))}


def depends_on(job: dict[str, Any]) -> list[dict[str, str]]:
    return [{"job": job["job_id"]}]


@pytest.mark.parametrize(
    "submission",
    [
        {"depends_on": [{"job": UNKNOWN_JOB_ID}]},
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
def test_a_dry_run_of_a_submission_refuses_what_the_submission_refuses(
    world: World, submission: dict[str, Any]
) -> None:
    jobs = {
        "once": world.submit(schedule=later(world)),
        "recurring": world.submit(schedule=HOURLY, dedupe_key="taken"),
        "queue": world.submit(schedule={"queue": True}),
        "deleted": world.submit(schedule=later(world)),
    }
    assert world.request("DELETE", f"/jobs/{jobs['deleted']['job_id']}")[0] == 200
    world.run_until_idle()
    if isinstance(submission["depends_on"], str):
        submission = submission | {"depends_on": depends_on(jobs[submission["depends_on"]])}
    before = tables(world)
    previewed = world.request("POST", "/jobs?dry_run=true", {"task": "echo", **submission})
    assert tables(world) == before
    assert world.request("POST", "/jobs", {"task": "echo", **submission}) == previewed
    assert previewed[0] in (409, 422)
    assert tables(world) == before
    if "dedupe_key" in submission:
        returned = {"task": "echo", **submission, "on_duplicate": "return_existing"}
        assert world.request("POST", "/jobs", returned)[0] == 200
        assert world.request("POST", "/jobs/batch", {"jobs": [returned]})[0] == 200
    batch = {"jobs": [{"task": "echo", **submission}]}
    previewed_batch = world.request("POST", "/jobs/batch?dry_run=true", batch)
    assert previewed_batch[0] == previewed[0]
    assert world.request("POST", "/jobs/batch", batch) == previewed_batch
    assert tables(world) == before


def test_a_dry_run_of_a_dependant_shows_its_instants_and_writes_nothing(world: World) -> None:
    upstream = world.submit(schedule=HOURLY)
    world.run_until_idle()
    before = tables(world)
    body = {"task": "echo", "schedule": HOURLY, "depends_on": depends_on(upstream)}
    status, preview = world.request("POST", "/jobs?dry_run=true", body)
    assert (status, len(preview["appear"])) == (200, 10)
    assert tables(world) == before


def test_dry_runs_and_refusals_of_an_edit_do_not_change_the_upstream(world: World) -> None:
    upstream, other = world.submit(schedule=later(world)), world.submit(schedule=HOURLY)
    job = world.submit(schedule=later(world))
    path = f"/jobs/{job['job_id']}"
    world.run_until_idle()
    before = tables(world)
    assert world.request("PATCH", f"{path}?dry_run=true", {"depends_on": depends_on(upstream)})[0] == 200
    for changes, headers, expected in (
        ({"depends_on": [*depends_on(upstream), *depends_on(other)]}, {}, 422),
        ({"depends_on": [*depends_on(upstream), *depends_on(job)]}, {}, 422),
        ({"depends_on": depends_on(upstream), "dedupe_key": "new"}, {}, 422),
        ({"depends_on": depends_on(upstream)}, {"if-match": "7"}, 412),
    ):
        for query in ("?dry_run=true", ""):
            assert world.request("PATCH", f"{path}{query}", changes, headers=headers)[0] == expected
    assert tables(world) == before
    assert world.request("PATCH", path, {"depends_on": depends_on(upstream)})[0] == 200
    [item] = [item for item in world.items("jobs") if item["job_id"]["S"] == upstream["job_id"]]
    assert item["is_upstream"] == {"BOOL": True}


def test_a_dry_run_of_a_batch_shows_the_instants_of_each_job_and_writes_nothing(world: World) -> None:
    world.submit(schedule=HOURLY, dedupe_key="taken")
    world.run_until_idle()
    before = tables(world)
    jobs = [
        {"task": "echo", "name": "load", "schedule": {"cron": "0 * * * *"}},
        {"task": "echo", "name": "report", "schedule": {"cron": "0 * * * *"}, "depends_on": [{"job": "load"}]},
        {"task": "echo", "name": "once"},
        {"task": "echo", "name": "known", "dedupe_key": "taken", "on_duplicate": "return_existing"},
    ]
    status, preview = world.request("POST", "/jobs/batch?dry_run=true", {"jobs": jobs})
    assert (status, preview["dry_run"], preview["vanish"], preview["repeat"]) == (200, True, [], [])
    by_job = [[one["scheduled_at"] for one in preview["appear"] if one["note"] == job["name"]] for job in jobs]
    hours = [to_text(world.now + timedelta(hours=n)) for n in range(11)]  # one is due now, ten are in the future
    assert by_job == [hours, hours, [to_text(world.now)], []]
    assert tables(world) == before


def test_a_dry_run_of_a_batch_refuses_a_dependency_cycle_and_names_it(world: World) -> None:
    jobs = [
        {"task": "echo", "name": "a", "depends_on": [{"job": "b"}]},
        {"task": "echo", "name": "b", "depends_on": [{"job": "a"}]},
    ]
    previewed = world.request("POST", "/jobs/batch?dry_run=true", {"jobs": jobs})
    assert previewed[0] == 422
    assert "a → b → a" in previewed[1]["detail"]
    assert world.request("POST", "/jobs/batch", {"jobs": jobs}) == previewed


def test_a_dry_run_of_a_large_batch_shows_the_earliest_instants_and_counts_the_rest(world: World) -> None:
    jobs = [{"task": "echo", "schedule": {"cron": f"{number % 59 + 1} * * * *"}} for number in range(120)]
    _, preview = world.request("POST", "/jobs/batch?dry_run=true", {"jobs": jobs})
    at = [one["scheduled_at"] for one in preview["appear"]]
    assert (len(at), at, preview["left_out"]) == (1000, sorted(at), 200)


# a preview matches the effect of the real call


@pytest.mark.parametrize("overlap", ["allow", "skip", "queue_one", "queue_all", "cancel_running"])
def test_a_dry_run_of_a_manual_run_predicts_its_outcome(world: World, overlap: str) -> None:
    job_id = world.submit(task="test.scripted", schedule=HOURLY, overlap=overlap)["job_id"]
    world.run_until_idle()
    seen: list[tuple[list[str], str]] = []

    def run_twice(context: Context) -> None:
        for _ in range(2):
            before = tables(world)
            status, preview = world.request("POST", f"/jobs/{job_id}/run?dry_run=true", {})
            assert (status, preview["dry_run"], preview["repeat"], tables(world)) == (200, True, [], before)
            _, answer = world.request("POST", f"/jobs/{job_id}/run", {})
            [added] = preview["appear"]
            assert (added["note"], added["scheduled_at"]) == (
                answer["outcome"],
                answer["execution"]["scheduled_at"],
            )
            seen.append((ids(preview["vanish"]), answer["execution"]["execution_id"]))
            world.run_until_idle()
            world.pass_time(1)
        seen.append(([context.execution_id], ""))

    TASK_BODIES.append(run_twice)
    assert world.request("POST", f"/jobs/{job_id}/run", {})[0] == 201
    world.run_until_idle()
    (cancelled_by_first, first), (cancelled_by_second, _), (running, _) = seen
    cancelled = ([], []) if overlap != "cancel_running" else (running, [*running, first])
    assert (cancelled_by_first, cancelled_by_second) == cancelled


def test_a_dry_run_of_a_manual_run_validates_the_parameters_and_the_job(world: World) -> None:
    job_id = world.submit(task="sleep", parameters={"seconds": 1}, schedule=HOURLY)["job_id"]
    for wanted in ({"parameters": {"seconds": "long"}}, {"parameters": {"x": "x" * 70_000}}):
        previewed = world.request("POST", f"/jobs/{job_id}/run?dry_run=true", wanted)
        assert previewed[0] in (413, 422)
        assert world.request("POST", f"/jobs/{job_id}/run", wanted) == previewed
    assert world.request("POST", f"/jobs/{job_id}/run?dry_run=true", {}, role="viewer")[0] == 403
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    assert world.request("POST", f"/jobs/{job_id}/run?dry_run=true", {})[0] == 409


def test_a_dry_run_of_a_manual_retry_names_the_new_execution(world: World) -> None:
    job = world.submit(task="fail", parameters={"times": 9, "fatal": True}, schedule=later(world))
    world.run_until_idle()
    world.pass_time(3600)
    world.tick()
    world.run_until_idle()
    [failed] = ids(world.executions(job["job_id"]))
    before = tables(world)
    for number in (2, 3):
        status, preview = world.request("POST", f"/executions/{failed}/retry?dry_run=true")
        assert (status, preview["appear"], preview["vanish"], tables(world)) == (200, [], [], before)
        _, answer = world.request("POST", f"/executions/{failed}/retry")
        assert preview["repeat"] == [
            {
                "execution_id": f"{failed}-{number}",
                "scheduled_at": answer["execution"]["scheduled_at"],
                "note": answer["outcome"],
            }
        ]
        assert answer["execution"]["execution_id"] == f"{failed}-{number}"
        previewed = world.request("POST", f"/executions/{failed}/retry?dry_run=true")
        assert (previewed[0], world.request("POST", f"/executions/{failed}/retry")) == (409, previewed)
        world.run_until_idle()
        before = tables(world)


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


def test_an_edit_that_keeps_the_schedule_replaces_every_planned_execution(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 3}, overlap="allow")["job_id"]
    world.run_until_idle()
    planned = live(world, job_id)
    assert len(planned) > 70
    preview = edit(world, job_id, {"parameters": {"v": 2}}, "?dry_run=true")
    assert preview["vanish"] == []
    assert ids(preview["repeat"]) == sorted(planned)
    edit(world, job_id, {"parameters": {"v": 2}})
    world.deliver_streams()
    now = live(world, job_id)
    assert {one for one, item in now.items() if item["revision"] == {"N": "2"}} >= set(planned)


def test_a_dry_run_of_a_schedule_edit_shows_kept_and_removed_instants(world: World) -> None:
    job_id = world.submit(schedule={"cron": "* * * * *"}, overlap="allow")["job_id"]
    world.run_until_idle()
    world.pass_time(1)
    planned = live(world, job_id)
    changes = {"schedule": {"cron": "*/2 * * * *"}}
    preview = edit(world, job_id, changes, "?dry_run=true")
    edit(world, job_id, changes)
    world.deliver_streams()
    stayed = set(planned) & set(live(world, job_id))
    assert (set(ids(preview["repeat"])), set(ids(preview["vanish"]))) == (stayed, set(planned) - stayed)
    assert stayed
    assert preview["vanish"]


def test_a_cancelled_execution_is_neither_added_nor_replaced(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.run_until_idle()
    [cancelled] = ids(world.executions(job_id))
    assert world.request("PUT", f"/executions/{cancelled}/cancel")[0] == 200
    world.run_until_idle()
    [planned] = live(world, job_id)
    preview = edit(world, job_id, {"parameters": {"v": 2}}, "?dry_run=true")
    assert (ids(preview["repeat"]), preview["vanish"]) == ([planned], [])
    assert not {cancelled, planned} & set(ids(preview["appear"]))
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.run_until_idle()
    _, preview = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert ids(preview["appear"])[0] == planned


def test_an_execution_with_a_state_machine_run_is_not_shown_as_replaced(world: World, lane: LongLane) -> None:
    job = lane.submit()
    world.run_until_idle()
    lane.next_parts(job)
    preview = edit(world, job["job_id"], {"parameters": {"v": 2}}, "?dry_run=true")
    assert (preview["appear"], preview["vanish"], preview["repeat"]) == ([], [], [])


@pytest.mark.parametrize(
    ("method", "path"), [("DELETE", ""), ("PUT", "/cancel"), ("POST", "/pause")], ids=["delete", "cancel", "pause"]
)
def test_an_execution_that_waited_before_a_backfill_is_shown_as_removed_with_its_job(
    world: World, method: str, path: str
) -> None:
    upstream = world.submit(schedule=HOURLY)
    job_id = world.submit(schedule=HOURLY, depends_on=depends_on(upstream), overlap="allow")["job_id"]
    world.run_until_idle()
    assert world.request("POST", f"/jobs/{upstream['job_id']}/pause")[0] == 200
    world.run_for(6000, step=60)
    first, second, _ = (one["execution_id"] for one in world.executions(job_id))
    assert world.request("PUT", f"/executions/{second}/cancel")[0] == 200
    world.run_until_idle()
    span = {"from": to_text(world.now - timedelta(hours=1)), "to": to_text(world.now)}
    status, answer = world.request("POST", f"/jobs/{job_id}/backfill", {**span, "which": "missing_and_failed"})
    assert (status, ids(answer["items"])) == (201, [f"{second}-2"])
    world.run_until_idle()
    world.pass_time(1)
    planned = live(world, job_id)
    assert {first, f"{second}-2"} <= set(planned)
    status, preview = world.request(method, f"/jobs/{job_id}{path}?dry_run=true")
    assert (status, ids(preview["vanish"])) == (200, sorted(planned))
    assert world.request(method, f"/jobs/{job_id}{path}")[0] == 200
    world.deliver_streams()
    assert live(world, job_id) == {}


@pytest.mark.parametrize(("policy", "runs"), [("run_latest", 1), ("run_all", 100), ("skip", 0)])
def test_a_dry_run_of_a_resume_shows_missed_and_next_instants_after_a_long_pause(
    world: World, policy: str, runs: int
) -> None:
    misfire = {"policy": policy, "grace_seconds": 0}
    job_id = world.submit(schedule={"cron": "* * * * *"}, misfire=misfire, overlap="allow")["job_id"]
    world.run_until_idle()
    world.pass_time(30)
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.run_until_idle()
    world.pass_time(3 * 24 * 60 * 60)
    status, preview = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert (status, len(preview["appear"])) == (200, 1000)
    overdue = [one for one in preview["appear"] if one["scheduled_at"] <= to_text(world.now)]
    assert len(preview["appear"]) - len(overdue) == 10
    assert [one["note"] for one in overdue[len(overdue) - runs :]] == [None] * runs
    covered = f"skipped: missed its due instant; covered by {overdue[-1]['execution_id']}"
    not_run = covered if policy == "run_latest" else f"missed: missed its due instant: misfire policy {policy}"
    assert {one["note"] for one in overdue[: len(overdue) - runs]} == {not_run}
    assert overdue[-1]["scheduled_at"] == to_text(world.now.replace(second=0, microsecond=0))
    assert preview["left_out"] == 3 * 24 * 60 - len(overdue)


def test_a_dry_run_of_a_resume_after_a_short_pause_leaves_nothing_out(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.run_until_idle()
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.run_until_idle()
    world.pass_time(4 * 3600)
    _, preview = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert ([one["note"] is None for one in preview["appear"]], preview["left_out"]) == ([False] * 3 + [True] * 11, 0)


@pytest.mark.parametrize("changes", [{"parameters": {"v": 2}}, {"schedule": {"cron": "*/5 * * * *"}}], ids=str)
def test_a_dry_run_of_an_edit_in_an_outage_predicts_the_missed_instants(world: World, changes: dict[str, Any]) -> None:
    misfire = {"policy": "run_latest", "grace_seconds": 120}
    job_id = world.submit(schedule={"cron": "* * * * *"}, overlap="allow", misfire=misfire)["job_id"]
    world.run_until_idle()
    world.pass_time(690)
    before = {one["execution_id"]: one["status"] for one in world.executions(job_id)}
    preview = edit(world, job_id, changes, "?dry_run=true")
    edit(world, job_id, changes)
    world.deliver_streams()
    overdue = [one for one in world.executions(job_id) if one["scheduled_at"] <= to_text(world.now)]
    new = {one["execution_id"]: one["status"] for one in overdue if one["execution_id"] not in before}
    notes = {one["execution_id"]: one["note"] for one in preview["appear"] if one["scheduled_at"] <= to_text(world.now)}
    assert {name: "queued" if note is None else note.partition(":")[0] for name, note in notes.items()} == new
    assert len(new) >= 6


@pytest.mark.parametrize(("policy", "expected"), [("skip", "missed"), ("run_latest", "skipped")])
def test_a_dry_run_of_an_edit_shows_planned_executions_that_misfire(world: World, policy: str, expected: str) -> None:
    job_id = world.submit(schedule={"cron": "30 * * * *"}, misfire={"policy": policy})["job_id"]
    world.run_until_idle()
    [planned] = world.executions(job_id)
    world.pass_time(2 * 3600)  # an outage
    preview = edit(world, job_id, {"priority": "high"}, "?dry_run=true")
    assert preview["repeat"] == []
    assert [(one["execution_id"], one["note"].partition(":")[0]) for one in preview["vanish"]] == [
        (planned["execution_id"], expected)
    ]
    edit(world, job_id, {"priority": "high"})
    world.run_until_idle()
    assert world.execution(planned["execution_id"])["status"] == expected
