"""Unique jobs: at most one live job of an owner holds a given dedupe key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.client import BaseClient

from punctual.domain.errors import Conflict
from punctual.domain.jobs.job import JobState
from punctual.domain.requests.caller import Caller, Role
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World

KEY = {"dedupe_key": "orders-2026-11-16"}
HOURLY = {"schedule": {"every_seconds": 3600}}
RETURN_EXISTING = {"on_duplicate": "return_existing"}
OPERATOR = Caller("operator@data-quality", ("data-quality",), Role.OPERATOR)


def post(world: World, **submission: Any) -> tuple[int, Any]:
    return world.request("POST", "/jobs", {"task": "echo", **KEY, **HOURLY, **submission})


def batch(world: World, *jobs: dict[str, Any], **how: Any) -> tuple[int, Any]:
    return world.request("POST", "/jobs/batch", {"jobs": [{"task": "echo", **HOURLY, **job} for job in jobs]}, **how)


def is_same(answer: tuple[int, Any], job: dict[str, Any]) -> bool:
    """Whether the job was returned unchanged. Only the answer to a submission of a new job says what it has done."""
    return answer[0] == 200 and answer[1] == {**job, "recent_executions": None, "running": None}


def stored_job_ids(world: World) -> list[str]:
    return [item["job_id"]["S"] for item in world.items("jobs") if "task" in item]


def markers(world: World) -> list[dict[str, Any]]:
    return [item for item in world.items("jobs") if "holder" in item]


def test_a_second_job_with_the_key_of_a_live_job_is_rejected_and_names_that_job(world: World) -> None:
    status, job = post(world)
    assert (status, job["dedupe_key"]) == (201, KEY["dedupe_key"])
    status, problem = post(world, name="another")
    assert status == 409
    assert problem["errors"][0]["field"] == "dedupe_key"
    assert job["job_id"] in problem["detail"]
    assert stored_job_ids(world) == [job["job_id"]]


def test_return_existing_returns_the_live_job_unchanged(world: World) -> None:
    _, job = post(world)
    assert is_same(post(world, name="another", **RETURN_EXISTING), job)
    assert stored_job_ids(world) == [job["job_id"]]
    assert post(world, dedupe_key="another", **RETURN_EXISTING)[0] == 201
    status, problem = post(world, task="no.such", **RETURN_EXISTING)  # the submission is validated nevertheless
    assert (status, problem["errors"][0]["field"]) == (422, "task")


def test_a_dedupe_key_is_scoped_to_its_owner(world: World) -> None:
    assert post(world)[0] == 201
    body = {"task": "echo", **HOURLY}
    assert world.request("POST", "/jobs", {**body, **KEY}, team="other")[0] == 201
    assert world.request("POST", "/jobs", {**body, "dedupe_key": "b#c"}, team="a")[0] == 201
    assert world.request("POST", "/jobs", {**body, "dedupe_key": "c"}, team="a#b")[0] == 403  # the separator of keys


def test_an_ended_job_releases_its_key(world: World) -> None:
    done = world.submit(**KEY)
    assert post(world)[0] == 409
    world.run_until_idle()
    assert world.request("GET", f"/jobs/{done['job_id']}")[1]["state"] == "done"
    status, second = post(world)
    assert status == 201
    assert world.request("DELETE", f"/jobs/{second['job_id']}")[0] == 200
    status, third = post(world, **RETURN_EXISTING)
    assert status == 201
    assert len({done["job_id"], second["job_id"], third["job_id"]}) == 3
    assert is_same(post(world, **RETURN_EXISTING), third)


def test_a_key_marker_expires_with_its_current_job_and_not_with_an_earlier_one(world: World) -> None:
    _, first = post(world)
    assert "expires_at" not in markers(world)[0]
    world.request("DELETE", f"/jobs/{first['job_id']}")
    [marker] = markers(world)
    [job] = [item for item in world.items("jobs") if "task" in item]
    assert marker["expires_at"] == job["expires_at"]
    done = world.submit(**KEY)
    assert "expires_at" not in markers(world)[0]
    world.run_until_idle()
    assert "expires_at" in markers(world)[0]
    _, live = post(world)
    assert world.request("DELETE", f"/jobs/{done['job_id']}")[0] == 200  # an earlier job that is already done
    [marker] = markers(world)
    assert (marker["holder"]["S"], "expires_at" in marker) == (live["job_id"], False)


def test_a_job_that_ttl_removed_before_its_marker_releases_the_key(world: World) -> None:
    _, job = post(world)
    world.dynamodb.delete_item(TableName="jobs", Key={"job_id": {"S": job["job_id"]}})
    assert post(world)[0] == 201
    assert post(world)[0] == 409


def test_key_markers_are_never_listed_and_trigger_no_consumer(world: World) -> None:
    _, job = post(world)
    records = world.stream_records("jobs", "planner")
    assert [record["dynamodb"]["Keys"]["job_id"]["S"] for record in records] == [job["job_id"]]
    world.call("planner", {"Records": records})
    world.run_until_idle()
    assert [one["job_id"] for one in world.request("GET", "/jobs")[1]["items"]] == [job["job_id"]]
    assert world.receive("planner-dead") == []
    assert len(world.executions(job["job_id"])) == 1


def test_the_dedupe_key_of_a_job_cannot_be_edited(world: World) -> None:
    _, job = post(world)
    path = f"/jobs/{job['job_id']}"
    for change in ({"dedupe_key": "another"}, {"dedupe_key": None}):
        status, problem = world.request("PATCH", path, change)
        assert (status, problem["errors"][0]["field"]) == (422, "dedupe_key")
        assert "submit a new one with the other key" in problem["detail"]
    status, edited = world.request("PATCH", path, {"name": "other", **KEY})
    assert (status, edited["name"], edited["dedupe_key"]) == (200, "other", KEY["dedupe_key"])
    assert post(world)[0] == 409
    plain = world.submit(**HOURLY)
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
def test_an_invalid_key_or_policy_is_rejected_with_its_field(
    world: World, submission: dict[str, Any], field: str
) -> None:
    status, problem = world.request("POST", "/jobs", {"task": "echo", **submission})
    assert (status, problem["errors"][0]["field"]) == (422, field)
    assert world.items("jobs") == []


def test_the_longest_key_of_four_byte_characters_is_accepted(world: World) -> None:
    assert post(world, dedupe_key="\U0001f600" * 200)[0] == 201
    assert post(world, dedupe_key="\U0001f600" * 200)[0] == 409


def test_a_repeated_idempotency_key_answers_with_the_first_status_and_the_job_as_it_is_now(world: World) -> None:
    body = {"task": "echo", **KEY, **HOURLY, **RETURN_EXISTING}
    first = world.request("POST", "/jobs", body, headers={"idempotency-key": "a"})
    assert first[0] == 201
    assert world.request("POST", "/jobs", body, headers={"idempotency-key": "a"}) == first
    second = world.request("POST", "/jobs", body, headers={"idempotency-key": "b"})
    assert is_same(second, first[1])
    world.request("DELETE", f"/jobs/{first[1]['job_id']}")
    repeated = world.request("POST", "/jobs", body, headers={"idempotency-key": "b"})
    assert (repeated[0], repeated[1]["job_id"], repeated[1]["state"]) == (200, first[1]["job_id"], "deleted")
    assert stored_job_ids(world) == [first[1]["job_id"]]


# batches


def test_equal_keys_within_a_batch_are_rejected_with_both_indexes(world: World) -> None:
    status, problem = batch(world, KEY, {}, {"dedupe_key": "other"}, {**KEY, **RETURN_EXISTING})
    assert (status, problem["errors"][0]["field"]) == (422, "jobs.3.dedupe_key")
    assert "jobs.0.dedupe_key" in problem["detail"]
    assert world.items("jobs") == []


@pytest.mark.parametrize("others", [3, 60])
def test_a_duplicate_rejects_the_whole_batch_with_its_index(world: World, others: int) -> None:
    _, job = post(world)
    fresh = [{"dedupe_key": f"fresh-{n}"} for n in range(others)]
    status, problem = batch(world, {}, *fresh, KEY)
    assert (status, problem["errors"][0]["field"]) == (409, f"jobs.{others + 1}.dedupe_key")
    assert job["job_id"] in problem["detail"]
    assert stored_job_ids(world) == [job["job_id"]]
    assert len(markers(world)) == 1


@pytest.mark.parametrize("others", [3, 60])
def test_a_duplicate_in_a_batch_is_returned_at_its_index(world: World, others: int) -> None:
    _, job = post(world, name="first")
    fresh = [{"dedupe_key": f"fresh-{n}", "name": f"fresh-{n}"} for n in range(others)]
    status, answer = batch(world, {"name": "plain"}, *fresh, {**KEY, **RETURN_EXISTING})
    assert status == 201
    assert [one["name"] for one in answer["items"]] == ["plain", *(one["name"] for one in fresh), "first"]
    assert [one["created"] for one in answer["items"]] == [True] * (others + 1) + [False]
    assert answer["items"][-1]["job_id"] == job["job_id"]
    assert len(stored_job_ids(world)) == others + 2
    again = batch(world, *({**one, **RETURN_EXISTING} for one in fresh))
    assert again[0] == 200
    assert [one["job_id"] for one in again[1]["items"]] == [one["job_id"] for one in answer["items"][1:-1]]


# concurrent submissions and crashes


class AtTransaction:
    """Runs an action before or after the n-th DynamoDB transaction."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._plan: tuple[str, int, Callable[[], Any]] | None = None
        self._seen = 0
        real = BaseClient._make_api_call

        def call(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
            if operation != "TransactWriteItems":
                return real(client, operation, request)
            self._seen += 1
            place = self._seen
            self._run_action_at("before", place)
            answer = real(client, operation, request)
            self._run_action_at("after", place)
            return answer

        monkeypatch.setattr(BaseClient, "_make_api_call", call)

    def plan(self, when: str, act: Callable[[], Any], number: int = 1) -> None:
        self._seen, self._plan = 0, (when, number, act)

    def _run_action_at(self, when: str, place: int) -> None:
        if self._plan is not None and self._plan[:2] == (when, place):
            act, self._plan = self._plan[2], None
            act()


def crash() -> None:
    raise Killed


def submit_concurrently(world: World, **submission: Any) -> Any:
    """Submit a job as a second API handler would during the first request."""
    stage = world.function("api").jobs.submit
    return stage.submit({"task": "echo", **KEY, **HOURLY, **submission}, OPERATOR)


@pytest.mark.parametrize("ended", [False, True])
def test_exactly_one_of_two_concurrent_submissions_wins(
    world: World, monkeypatch: pytest.MonkeyPatch, ended: bool
) -> None:
    """Also where both see a marker whose job has ended, and want to take it over."""
    before = []
    if ended:
        _, first = post(world)
        world.request("DELETE", f"/jobs/{first['job_id']}")
        before = [first["job_id"]]
    transaction, winners = AtTransaction(monkeypatch), []
    transaction.plan("before", lambda: winners.append(submit_concurrently(world).job.job_id), number=2 if ended else 1)
    status, problem = post(world)
    assert status == 409
    assert winners[0] in problem["detail"]
    assert sorted(stored_job_ids(world)) == sorted(before + winners)
    transaction.plan("before", lambda: winners.append(submit_concurrently(world, dedupe_key="second").job.job_id))
    assert post(world, dedupe_key="second", **RETURN_EXISTING)[1]["job_id"] == winners[1]
    assert len(stored_job_ids(world)) == len(before) + 2


def test_a_submission_that_loses_to_a_job_that_ends_immediately_takes_over_the_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = AtTransaction(monkeypatch)

    def submit_and_delete() -> None:
        job_state = world.function("api").jobs.job_state
        job_state.change_state(submit_concurrently(world).job.job_id, JobState.DELETED, OPERATOR)

    transaction.plan("before", submit_and_delete)
    status, job = post(world)
    assert status == 201
    assert markers(world)[0]["holder"]["S"] == job["job_id"]


def test_a_crash_before_the_transaction_stores_nothing_and_after_it_a_job_with_its_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = AtTransaction(monkeypatch)
    transaction.plan("before", crash)
    with pytest.raises(Killed):
        post(world)
    assert world.items("jobs") == []
    transaction.plan("after", crash)
    with pytest.raises(Killed):
        post(world)
    [job_id] = stored_job_ids(world)
    assert markers(world)[0]["holder"]["S"] == job_id
    assert post(world)[0] == 409
    assert post(world, **RETURN_EXISTING)[1]["job_id"] == job_id


def test_a_lost_response_of_dynamodb_does_not_count_as_a_duplicate(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK retries the transaction after its own job has taken the key."""
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
    assert stored_job_ids(world) == [job["job_id"]]


@pytest.mark.parametrize("one_transaction", [True, False])
def test_a_batch_that_loses_a_key_race_leaves_no_active_job(
    world: World, monkeypatch: pytest.MonkeyPatch, one_transaction: bool
) -> None:
    """A single transaction stores nothing; of several, the jobs that earlier ones stored are rolled back."""
    transaction = AtTransaction(monkeypatch)
    transaction.plan("before", lambda: submit_concurrently(world), number=1 if one_transaction else 2)
    fresh = [{"dedupe_key": f"fresh-{n}"} for n in range(3 if one_transaction else 30)]
    status, problem = batch(world, {}, *fresh, KEY)
    assert (status, problem["errors"][0]["field"]) == (409, f"jobs.{len(fresh) + 1}.dedupe_key")
    active = [item for item in world.items("jobs") if item.get("state", {}).get("S") == "active"]
    assert len(active) == 1
    status, answer = batch(world, *fresh)
    assert status == 201
    assert all(one["created"] for one in answer["items"])


def test_a_batch_that_loses_a_key_race_returns_the_winning_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    transaction, winners = AtTransaction(monkeypatch), []
    transaction.plan("before", lambda: winners.append(submit_concurrently(world).job.job_id))
    status, answer = batch(world, {"dedupe_key": "fresh"}, {**KEY, **RETURN_EXISTING})
    assert status == 201
    assert [one["created"] for one in answer["items"]] == [True, False]
    assert answer["items"][1]["job_id"] == winners[0]
    with pytest.raises(Conflict):
        submit_concurrently(world)
