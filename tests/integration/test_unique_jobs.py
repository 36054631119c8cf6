"""Unique jobs: of an owner's live jobs, one at most has a given key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.client import BaseClient

from punctual.domain.errors import Conflict
from punctual.domain.jobs.job import JobState
from punctual.domain.requests.caller import Caller, Role
from tests.integration.odd_tasks import Killed
from tests.integration.world import World

KEY = {"dedupe_key": "orders-2026-11-16"}
LATER = {"schedule": {"every_seconds": 3600}}
RETURN = {"on_duplicate": "return_existing"}
SOMEBODY = Caller("operator@data-quality", "data-quality", Role.OPERATOR)


def post(world: World, **submission: Any) -> tuple[int, Any]:
    return world.request("POST", "/jobs", {"task": "echo", **KEY, **LATER, **submission})


def batch(world: World, *jobs: dict[str, Any], **how: Any) -> tuple[int, Any]:
    return world.request("POST", "/jobs/batch", {"jobs": [{"task": "echo", **LATER, **job} for job in jobs]}, **how)


def stored(world: World) -> list[str]:
    return [item["job_id"]["S"] for item in world.items("jobs") if "task" in item]


def markers(world: World) -> list[dict[str, Any]]:
    return [item for item in world.items("jobs") if "holder" in item]


def test_a_second_job_with_the_key_of_a_live_one_is_refused_with_that_named(world: World) -> None:
    status, job = post(world)
    assert (status, job["dedupe_key"]) == (201, KEY["dedupe_key"])
    status, problem = post(world, name="another")
    assert status == 409
    assert problem["errors"][0]["field"] == "dedupe_key"
    assert job["job_id"] in problem["detail"]
    assert stored(world) == [job["job_id"]]


def test_or_it_is_answered_with_that_job_as_it_is(world: World) -> None:
    _, job = post(world)
    assert post(world, name="another", **RETURN) == (200, job)
    assert stored(world) == [job["job_id"]]
    assert post(world, dedupe_key="another", **RETURN)[0] == 201
    status, problem = post(world, task="no.such", **RETURN)  # what is sent must be good all the same
    assert (status, problem["errors"][0]["field"]) == (422, "task")


def test_a_key_is_its_owners_own(world: World) -> None:
    assert post(world)[0] == 201
    body = {"task": "echo", **LATER}
    assert world.request("POST", "/jobs", {**body, **KEY}, team="other")[0] == 201
    assert world.request("POST", "/jobs", {**body, "dedupe_key": "b#c"}, team="a")[0] == 201
    assert world.request("POST", "/jobs", {**body, "dedupe_key": "c"}, team="a#b")[0] == 201


def test_a_job_that_has_ended_gives_its_key_free(world: World) -> None:
    done = world.submit(**KEY)
    assert post(world)[0] == 409
    world.settle_down()
    assert world.request("GET", f"/jobs/{done['job_id']}")[1]["state"] == "done"
    status, second = post(world)
    assert status == 201
    assert world.request("DELETE", f"/jobs/{second['job_id']}")[0] == 200
    status, third = post(world, **RETURN)
    assert status == 201
    assert len({done["job_id"], second["job_id"], third["job_id"]}) == 3
    assert post(world, **RETURN) == (200, third)


def test_the_marker_of_a_key_expires_with_its_job_and_not_with_the_one_before(world: World) -> None:
    _, first = post(world)
    assert "expires_at" not in markers(world)[0]
    world.request("DELETE", f"/jobs/{first['job_id']}")
    [marker] = markers(world)
    [job] = [item for item in world.items("jobs") if "task" in item]
    assert marker["expires_at"] == job["expires_at"]
    done = world.submit(**KEY)
    assert "expires_at" not in markers(world)[0]
    world.settle_down()
    assert "expires_at" in markers(world)[0]
    _, live = post(world)
    assert world.request("DELETE", f"/jobs/{done['job_id']}")[0] == 200  # of one that was done before
    [marker] = markers(world)
    assert (marker["holder"]["S"], "expires_at" in marker) == (live["job_id"], False)


def test_a_job_that_ttl_removed_before_its_marker_gives_the_key_free(world: World) -> None:
    _, job = post(world)
    world.dynamodb.delete_item(TableName="jobs", Key={"job_id": {"S": job["job_id"]}})
    assert post(world)[0] == 201
    assert post(world)[0] == 409


def test_markers_are_in_no_list_and_wake_nobody(world: World) -> None:
    _, job = post(world)
    records = world.stream_records("jobs", "planner")
    assert [record["dynamodb"]["Keys"]["job_id"]["S"] for record in records] == [job["job_id"]]
    world.call("planner", {"Records": records})
    world.settle_down()
    assert [one["job_id"] for one in world.request("GET", "/jobs")[1]["items"]] == [job["job_id"]]
    assert world.receive("planner-dead") == []
    assert len(world.executions(job["job_id"])) == 1


def test_a_key_stays_with_its_job(world: World) -> None:
    _, job = post(world)
    path = f"/jobs/{job['job_id']}"
    for change in ({"dedupe_key": "another"}, {"dedupe_key": None}):
        status, problem = world.request("PATCH", path, change)
        assert (status, problem["errors"][0]["field"]) == (422, "dedupe_key")
        assert "submit one with another key" in problem["detail"]
    status, edited = world.request("PATCH", path, {"name": "other", **KEY})
    assert (status, edited["name"], edited["dedupe_key"]) == (200, "other", KEY["dedupe_key"])
    assert post(world)[0] == 409
    plain = world.submit(**LATER)
    assert world.request("PATCH", f"/jobs/{plain['job_id']}", KEY)[0] == 422


@pytest.mark.parametrize(
    ("submission", "field"),
    [
        ({"dedupe_key": ""}, "dedupe_key"),
        ({"dedupe_key": "k" * 201}, "dedupe_key"),
        ({"dedupe_key": 7}, "dedupe_key"),
        ({**KEY, "on_duplicate": "replace"}, "on_duplicate"),
        ({"on_duplicate": "refuse"}, "on_duplicate"),
    ],
)
def test_a_bad_key_or_policy_is_refused_by_its_field(world: World, submission: dict[str, Any], field: str) -> None:
    status, problem = world.request("POST", "/jobs", {"task": "echo", **submission})
    assert (status, problem["errors"][0]["field"]) == (422, field)
    assert world.items("jobs") == []


def test_the_longest_key_of_the_widest_characters_fits(world: World) -> None:
    assert post(world, dedupe_key="\U0001f600" * 200)[0] == 201
    assert post(world, dedupe_key="\U0001f600" * 200)[0] == 409


def test_an_idempotency_key_gives_the_first_answer_and_its_status(world: World) -> None:
    body = {"task": "echo", **KEY, **LATER, **RETURN}
    first = world.request("POST", "/jobs", body, headers={"idempotency-key": "a"})
    assert first[0] == 201
    assert world.request("POST", "/jobs", body, headers={"idempotency-key": "a"}) == first
    second = world.request("POST", "/jobs", body, headers={"idempotency-key": "b"})
    assert second == (200, first[1])
    world.request("DELETE", f"/jobs/{first[1]['job_id']}")
    assert world.request("POST", "/jobs", body, headers={"idempotency-key": "b"}) == second


# batches


def test_two_equal_keys_in_a_batch_are_refused_with_both_places(world: World) -> None:
    status, problem = batch(world, KEY, {}, {"dedupe_key": "other"}, {**KEY, **RETURN})
    assert (status, problem["errors"][0]["field"]) == (422, "jobs.3.dedupe_key")
    assert "jobs.0.dedupe_key" in problem["detail"]
    assert world.items("jobs") == []


@pytest.mark.parametrize("others", [3, 60])
def test_a_duplicate_in_a_batch_refuses_it_whole_with_its_place(world: World, others: int) -> None:
    _, job = post(world)
    fresh = [{"dedupe_key": f"fresh-{n}"} for n in range(others)]
    status, problem = batch(world, {}, *fresh, KEY)
    assert (status, problem["errors"][0]["field"]) == (409, f"jobs.{others + 1}.dedupe_key")
    assert job["job_id"] in problem["detail"]
    assert stored(world) == [job["job_id"]]
    assert len(markers(world)) == 1


@pytest.mark.parametrize("others", [3, 60])
def test_a_duplicate_in_a_batch_is_returned_in_its_place(world: World, others: int) -> None:
    _, job = post(world, name="first")
    fresh = [{"dedupe_key": f"fresh-{n}", "name": f"fresh-{n}"} for n in range(others)]
    status, answer = batch(world, {"name": "plain"}, *fresh, {**KEY, **RETURN})
    assert status == 201
    assert [one["name"] for one in answer["items"]] == ["plain", *(one["name"] for one in fresh), "first"]
    assert [one["created"] for one in answer["items"]] == [True] * (others + 1) + [False]
    assert answer["items"][-1]["job_id"] == job["job_id"]
    assert len(stored(world)) == others + 2
    again = batch(world, *({**one, **RETURN} for one in fresh))
    assert again[0] == 200
    assert [one["job_id"] for one in again[1]["items"]] == [one["job_id"] for one in answer["items"][1:-1]]


# two at once, and who dies on the way


class AtTransaction:
    """Something happens at the n-th transaction: before it, or when it is done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._plan: tuple[str, int, Callable[[], Any]] | None = None
        self._seen = 0
        real = BaseClient._make_api_call

        def call(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
            if operation != "TransactWriteItems":
                return real(client, operation, request)
            self._seen += 1
            place = self._seen
            self._reached("before", place)
            answer = real(client, operation, request)
            self._reached("after", place)
            return answer

        monkeypatch.setattr(BaseClient, "_make_api_call", call)

    def plan(self, when: str, act: Callable[[], Any], number: int = 1) -> None:
        self._seen, self._plan = 0, (when, number, act)

    def _reached(self, when: str, place: int) -> None:
        if self._plan is not None and self._plan[:2] == (when, place):
            act, self._plan = self._plan[2], None
            act()


def kill() -> None:
    raise Killed


def another(world: World, **submission: Any) -> Any:
    """What a second handler does meanwhile."""
    stage = world.function("api").jobs.submit
    return stage.submit({"task": "echo", **KEY, **LATER, **submission}, SOMEBODY)


@pytest.mark.parametrize("ended", [False, True])
def test_of_two_at_once_exactly_one_wins(world: World, monkeypatch: pytest.MonkeyPatch, ended: bool) -> None:
    """Also where both see a marker whose job has ended, and want to take it over."""
    before = []
    if ended:
        _, first = post(world)
        world.request("DELETE", f"/jobs/{first['job_id']}")
        before = [first["job_id"]]
    transaction, won = AtTransaction(monkeypatch), []
    transaction.plan("before", lambda: won.append(another(world).job.job_id), number=2 if ended else 1)
    status, problem = post(world)
    assert status == 409
    assert won[0] in problem["detail"]
    assert sorted(stored(world)) == sorted(before + won)
    transaction.plan("before", lambda: won.append(another(world, dedupe_key="second").job.job_id))
    assert post(world, dedupe_key="second", **RETURN)[1]["job_id"] == won[1]
    assert len(stored(world)) == len(before) + 2


def test_one_that_loses_to_a_job_that_ends_at_once_takes_over_from_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = AtTransaction(monkeypatch)

    def come_and_go() -> None:
        manage = world.function("api").jobs.manage
        manage.move(another(world).job.job_id, JobState.DELETED, SOMEBODY)

    transaction.plan("before", come_and_go)
    status, job = post(world)
    assert status == 201
    assert markers(world)[0]["holder"]["S"] == job["job_id"]


def test_who_dies_before_storing_leaves_nothing_and_after_it_a_job_with_its_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = AtTransaction(monkeypatch)
    transaction.plan("before", kill)
    with pytest.raises(Killed):
        post(world)
    assert world.items("jobs") == []
    transaction.plan("after", kill)
    with pytest.raises(Killed):
        post(world)
    [job_id] = stored(world)
    assert markers(world)[0]["holder"]["S"] == job_id
    assert post(world)[0] == 409
    assert post(world, **RETURN)[1]["job_id"] == job_id


def test_an_answer_of_dynamodb_that_gets_lost_is_no_duplicate(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK tries again, and by then the transaction's own job has the key."""
    real, lost = BaseClient._make_api_call, []

    def call(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        answer = real(client, operation, request)
        if operation == "TransactWriteItems" and not lost:
            lost.append(answer)
            return real(client, operation, request)
        return answer

    monkeypatch.setattr(BaseClient, "_make_api_call", call)
    status, job = post(world)
    assert (status, lost != []) == (201, True)
    assert stored(world) == [job["job_id"]]


@pytest.mark.parametrize("together", [True, False])
def test_a_batch_that_loses_a_key_to_another_stores_nothing_that_runs(
    world: World, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    """In one transaction nothing is stored; of several, what the first ones stored is taken back."""
    transaction = AtTransaction(monkeypatch)
    transaction.plan("before", lambda: another(world), number=1 if together else 2)
    fresh = [{"dedupe_key": f"fresh-{n}"} for n in range(3 if together else 30)]
    status, problem = batch(world, {}, *fresh, KEY)
    assert (status, problem["errors"][0]["field"]) == (409, f"jobs.{len(fresh) + 1}.dedupe_key")
    active = [item for item in world.items("jobs") if item.get("state", {}).get("S") == "active"]
    assert len(active) == 1
    status, answer = batch(world, *fresh)
    assert status == 201
    assert all(one["created"] for one in answer["items"])


def test_a_batch_that_loses_a_key_to_another_returns_its_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    transaction, won = AtTransaction(monkeypatch), []
    transaction.plan("before", lambda: won.append(another(world).job.job_id))
    status, answer = batch(world, {"dedupe_key": "fresh"}, {**KEY, **RETURN})
    assert status == 201
    assert [one["created"] for one in answer["items"]] == [True, False]
    assert answer["items"][1]["job_id"] == won[0]
    with pytest.raises(Conflict):
        another(world)
