"""The revisions of a job: who changed which fields, and when."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.client import BaseClient

from punctual.domain.instant import to_text
from tests.integration.dependants import after
from tests.integration.faults import crash_at, just_before
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World

HOURLY = {"cron": "30 * * * *"}
SECRET = "a-secret-of-the-webhook"


def edit(world: World, job_id: str, expected: int = 200, **changes: Any) -> dict[str, Any]:
    status, job = world.request("PATCH", f"/jobs/{job_id}", changes)
    assert status == expected, job
    return job


def revisions(world: World, job_id: str, query: str = "") -> list[dict[str, Any]]:
    status, page = world.request("GET", f"/jobs/{job_id}/revisions{query}")
    assert status == 200, page
    return page["items"]


def changes_of(revision: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {one["field"]: (one["old"], one["new"]) for one in revision["changes"]}


def webhook(secret: str, url: str = "https://example.com/hook") -> dict[str, Any]:
    return {"on": ["failed"], "to": {"webhook": {"url": url, "secret": secret}}}


def test_the_first_revision_is_the_submission(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.pass_time(60)
    assert revisions(world, job["job_id"]) == [
        {"revision": 1, "by": "operator@data-quality", "at": job["created_at"], "changes": []}
    ]


def test_revisions_say_who_changed_which_fields_and_when_the_newest_first(world: World) -> None:
    job = world.submit(schedule=HOURLY, parameters={"n": 1})
    world.pass_time(60)
    edited_at = to_text(world.now)
    edit(world, job["job_id"], priority="high", parameters={"n": 2, "m": [None, 0.5]})
    world.pass_time(60)
    status, _ = world.request(
        "PATCH", f"/jobs/{job['job_id']}", {"name": "orders", "deadline": {"within_seconds": 60}}, role="admin"
    )
    assert status == 200
    third, second, first = revisions(world, job["job_id"])
    assert [one["revision"] for one in (third, second, first)] == [3, 2, 1]
    assert (third["by"], second["by"]) == ("admin@data-quality", "operator@data-quality")
    assert (second["at"], third["at"]) == (edited_at, to_text(world.now))
    assert changes_of(third) == {"name": (None, "orders"), "deadline": (None, {"within_seconds": 60})}
    assert changes_of(second) == {
        "priority": ("normal", "high"),
        "parameters": ({"n": 1}, {"n": 2, "m": [None, 0.5]}),
    }


def test_a_job_is_restored_by_an_edit_with_the_old_values_of_the_later_revisions(world: World) -> None:
    job = world.submit(
        schedule={"every_seconds": 600},
        tags={"dataset": "orders"},
        notify={"on": ["failed"], "to": "page"},
        concurrency={"key": "k", "limit": 2},
    )
    edit(world, job["job_id"], schedule=HOURLY, tags=None, overlap="queue_all", priority="low")
    edit(world, job["job_id"], notify=None, concurrency=None, priority="high", retry={"max_attempts": 9})
    edit(world, job["job_id"], lane="long", resources={"vcpu": 1, "memory_mb": 2048}, timeout_seconds=80_000)
    old: dict[str, Any] = {}
    for revision in revisions(world, job["job_id"]):
        assert all(one["restorable"] for one in revision["changes"])
        old |= {one["field"]: one["old"] for one in revision["changes"]}
    restored = edit(world, job["job_id"], **old)
    volatile = {"revision", "updated_at", "next_due_at", "execution_id"}
    fields = job.keys() - volatile - {"recent_executions", "running"}
    assert {name: restored[name] for name in fields} == {name: job[name] for name in fields}
    assert restored["revision"] == 5
    assert revisions(world, job["job_id"])[0]["revision"] == 5


def test_revisions_never_show_a_secret_and_record_that_it_changed(world: World) -> None:
    job = world.submit(schedule=HOURLY, notify=webhook(SECRET))
    edit(world, job["job_id"], notify=webhook(f"{SECRET}-2"))
    edit(world, job["job_id"], notify={"on": ["failed"], "to": "page"})
    removed, rotated, _ = revisions(world, job["job_id"])
    masked = {"url": "https://example.com/hook", "secret": "…", "format": "json"}
    assert [one["restorable"] for one in (*removed["changes"], *rotated["changes"])] == [False, False]
    assert rotated["changes"][0]["old"]["to"] == rotated["changes"][0]["new"]["to"] == {"webhook": masked}
    assert changes_of(removed)["notify"][1] == {"on": ["failed"], "to": "page"}
    assert SECRET not in str(world.items("revisions"))
    problem = edit(world, job["job_id"], 422, notify=rotated["changes"][0]["old"])
    assert problem["errors"][0]["field"] == "notify.to.webhook.secret"


def test_pages_follow_each_other_without_gaps_and_read_only_their_records(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    for number in range(2, 8):
        edit(world, job_id, parameters={"n": number})
    seen, cursor, reads = [], "", []

    def count(params: dict[str, Any], **_: Any) -> None:
        reads.append(params["Limit"])

    events = world.function("api").jobs.edit.jobs.table.client.meta.events
    events.register("provide-client-params.dynamodb.Query", count)
    while cursor is not None:
        status, page = world.request("GET", f"/jobs/{job_id}/revisions?limit=3{cursor}")
        assert (status, len(page["items"]) <= 3) == (200, True)
        seen += [one["revision"] for one in page["items"]]
        edit(world, job_id, parameters={"n": len(seen) + 100})  # later revisions do not shift the next page
        cursor = page["cursor"] and f"&cursor={page['cursor']}"
    events.unregister("provide-client-params.dynamodb.Query", count)
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    assert reads == [3, 3, 3]


@pytest.mark.parametrize("size", [2, 3])
def test_the_page_with_the_submission_is_the_last(world: World, size: int) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    edit(world, job_id, priority="high")
    status, page = world.request("GET", f"/jobs/{job_id}/revisions?limit={size}")
    assert (status, len(page["items"]), page["cursor"]) == (200, 2, None)


def test_large_changes_make_short_pages(world: World) -> None:
    job_id = world.submit(schedule=HOURLY, parameters={"text": "0" * 60_000})["job_id"]
    for number in range(1, 60):
        edit(world, job_id, parameters={"text": str(number % 10) * 60_000})
    status, page = world.request("GET", f"/jobs/{job_id}/revisions?limit=100")
    assert (status, 25 < len(page["items"]) < 59, page["cursor"] is not None) == (200, True, True)


@pytest.mark.parametrize("cursor", ["x", "eyJiZWZvcmUiOiAiMCJ9", "eyJiZWZvcmUiOiAiYSJ9"])
def test_an_invalid_cursor_and_an_unknown_job_are_refused(world: World, cursor: str) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    status, problem = world.request("GET", f"/jobs/{job_id}/revisions?cursor={cursor}")
    assert (status, problem["errors"][0]["field"]) == (422, "cursor")
    assert world.request("GET", "/jobs/01m7j3myg0ab16wzvq72dx3zvq/revisions")[0] == 404


# repetition and concurrency


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": {"n": 2}, "tags": {"a": "b"}},
        {"schedule": {"every_seconds": 60}},
        {"schedule": {"every_seconds": 60, "max_runs": 3, "jitter_seconds": 5}},
        {"schedule": {"cron": "0 3 * * *", "ends_at": "2026-12-01T00:00:00Z"}},
        {"schedule": None},
        {"name": "orders", "notify": webhook(SECRET)},
        {"lane": "long", "resources": {"vcpu": 1, "memory_mb": 2048}},
    ],
    ids=str,
)
def test_a_repeated_edit_adds_no_revision_and_replaces_no_execution(world: World, changes: dict[str, Any]) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.run_until_idle()
    first = edit(world, job_id, **changes)
    world.pass_time(30)
    before = world.items("jobs"), world.items("revisions")
    assert edit(world, job_id, **changes)["revision"] == first["revision"] == 2
    assert (world.items("jobs"), world.items("revisions")) == before
    preview = world.request("PATCH", f"/jobs/{job_id}?dry_run=true", changes)[1]
    assert (preview["appear"], preview["vanish"], preview["repeat"]) == ([], [], [])


@pytest.mark.parametrize("changes", [{"priority": "high"}, {"name": "orders"}])
def test_an_edit_whose_response_is_lost_is_stored_once(
    world: World, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    real = BaseClient._make_api_call

    def lose(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        answer = real(client, operation, request)
        if operation == "TransactWriteItems":
            raise Killed
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", lose)
        with pytest.raises(Killed):
            edit(world, job_id, **changes)
    assert edit(world, job_id, **changes)["revision"] == 2
    assert [one["revision"] for one in revisions(world, job_id)] == [2, 1]


def test_a_crash_before_the_write_leaves_neither_the_edit_nor_its_revision(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    with crash_at("TransactWriteItems", table="revisions"), pytest.raises(Killed):
        edit(world, job_id, priority="high")
    assert world.request("GET", f"/jobs/{job_id}")[1]["revision"] == 1
    assert len(revisions(world, job_id)) == 1


def test_of_two_edits_at_the_same_time_only_the_stored_one_is_a_revision(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    with just_before("TransactWriteItems", lambda: edit(world, job_id, priority="low"), containing="high"):
        edit(world, job_id, 412, priority="high")
    second, _ = revisions(world, job_id)
    assert changes_of(second) == {"priority": ("normal", "low")}
    assert world.request("GET", f"/jobs/{job_id}")[1]["priority"] == "low"


def test_an_edit_of_a_job_that_is_paused_at_the_same_time_is_no_revision(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]

    def pause() -> None:
        assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200

    with just_before("TransactWriteItems", pause, containing="high"):
        edit(world, job_id, 412, priority="high")
    assert [one["revision"] for one in revisions(world, job_id)] == [1]


def test_an_edit_that_is_reverted_leaves_two_revisions(world: World) -> None:
    job, other = world.submit(schedule=HOURLY), world.submit(schedule=HOURLY)
    world.submit(schedule=HOURLY, depends_on=after(job, other))
    back = {"depends_on": after(job)}
    with just_before("TransactWriteItems", lambda: edit(world, other["job_id"], **back), containing=other["job_id"]):
        edit(world, job["job_id"], 422, depends_on=after(other))
    reverted, edited, _ = revisions(world, job["job_id"])
    assert changes_of(edited)["depends_on"] == changes_of(reverted)["depends_on"][::-1]


def test_a_bulk_change_of_the_priority_is_a_revision_of_each_job(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    body = {"action": "priority", "priority": "low", "ids": [job_id]}
    assert world.request("POST", "/jobs/bulk", body)[0] == 202
    world.deliver_bulk()
    second, _ = revisions(world, job_id)
    assert (second["by"], changes_of(second)) == ("operator@data-quality", {"priority": ("normal", "low")})
    assert world.refused == set()


# retention


@pytest.mark.parametrize("verb", ["DELETE", "PUT"])
def test_the_revisions_of_a_removed_job_expire_with_it(world: World, verb: str) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    edit(world, job_id, priority="low")
    world.run_until_idle()
    assert expiries(world) == (None, {None})
    assert world.request(verb, f"/jobs/{job_id}{'/cancel' if verb == 'PUT' else ''}")[0] == 200
    world.run_until_idle()
    job, stored = expiries(world)
    assert job is not None
    assert stored == {job}
    assert len(revisions(world, job_id)) == 2
    assert world.refused == set()


def test_the_revisions_of_a_job_that_is_done_expire_with_it_also_after_a_crash(world: World) -> None:
    job_id = world.submit(schedule={"at": to_text(world.now)})["job_id"]
    for number in range(30):
        edit(world, job_id, parameters={"n": number})
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    while world.request("GET", f"/jobs/{job_id}")[1]["state"] != "done":
        for message in world.orders():
            world.work(message)
        world.call("planner", {"Records": world.stream_records("executions", "planner")})
        world.call("settler", {"Records": world.stream_records("executions", "settler")})
    records = world.stream_records("jobs", "planner")
    with crash_at_batch(1), pytest.raises(Killed):
        world.call("planner", {"Records": records})
    world.call("planner", {"Records": records})
    job, stored = expiries(world)
    assert job is not None
    assert stored == {job}


def test_the_end_of_a_job_that_was_never_edited_invokes_nothing(world: World) -> None:
    world.submit()
    world.run_until_idle()
    [job] = [item for item in world.items("jobs") if "state" in item]
    assert job["state"] == {"S": "done"}
    assert world.items("revisions") == []


def crash_at_batch(after: int) -> Any:
    return just_before("BatchWriteItem", _die, containing='"revisions"', after=after, once=False)


def _die() -> None:
    raise Killed


def expiries(world: World) -> tuple[str | None, set[str | None]]:
    """When the only job expires, and when its revisions do."""
    [job] = [item for item in world.items("jobs") if "state" in item]
    stored = {item.get("expires_at", {}).get("N") for item in world.items("revisions")}
    return job.get("expires_at", {}).get("N"), stored
