"""The transfer of a job to another team."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.client import BaseClient

from punctual import Context
from tests.integration.faults import crash_at, dies_before_write, just_before, on_table
from tests.integration.fixture_tasks import TASK_BODIES, Killed
from tests.integration.world import World

BOTH = "operator team:red team:blue"
HOURLY = {"cron": "30 * * * *"}
EVERY_MINUTE = {"every_seconds": 60}
KEYED: dict[str, Any] = {"overlap": "allow", "concurrency": {"key": "k", "limit": 1}}


def submit(world: World, owner: str = "red", **fields: Any) -> dict[str, Any]:
    body = {"task": "echo", "schedule": HOURLY, "owner": owner, **fields}
    status, job = world.request("POST", "/jobs", body, groups=BOTH)
    assert status == 201, job
    return job


def transfer(
    world: World,
    job_id: str,
    owner: str = "blue",
    expected: int = 200,
    groups: str = BOTH,
    query: str = "",
    **more: Any,
) -> dict[str, Any]:
    status, answer = world.request("POST", f"/jobs/{job_id}/transfer{query}", {"owner": owner}, groups=groups, **more)
    assert status == expected, answer
    return answer


def listed(world: World, query: str) -> list[str]:
    status, page = world.request("GET", query)
    assert status == 200, page
    return [one["job_id"] for one in page["items"]]


def owners_of_executions(world: World, job_id: str) -> list[tuple[str, str]]:
    return [(one["owner"], one["status"]) for one in world.executions(job_id)]


def stored(world: World) -> list[Any]:
    """All records but the set of owners: an owner without jobs does no harm."""
    jobs = [item for item in world.items("jobs") if item["job_id"]["S"] != "#owners"]
    return [jobs, world.items("revisions"), world.items("executions")]


def test_a_transferred_job_is_in_the_lists_of_its_new_owner_only(world: World) -> None:
    job_id = submit(world, name="orders")["job_id"]
    world.run_until_idle()
    job = transfer(world, job_id)
    assert (job["owner"], job["revision"], job["name"]) == ("blue", 2, "orders")
    for query in ("/jobs?owner={}", "/jobs?owner={}&name=ord", "/jobs?owner={}&sort=name"):
        assert listed(world, query.format("blue")) == [job_id]
        assert listed(world, query.format("red")) == []
    assert listed(world, "/jobs") == listed(world, "/jobs?name=orders") == [job_id]
    world.request("DELETE", f"/jobs/{job_id}", groups=BOTH)
    assert listed(world, "/jobs?owner=blue&state=deleted") == [job_id]
    assert listed(world, "/jobs?owner=red&state=deleted") == []


def test_a_paused_job_can_be_transferred_and_resumed_by_its_new_owner(world: World) -> None:
    job_id = submit(world)["job_id"]
    world.run_until_idle()
    world.request("POST", f"/jobs/{job_id}/pause", groups=BOTH)
    world.run_until_idle()
    assert transfer(world, job_id)["state"] == "paused"
    world.run_until_idle()
    assert listed(world, "/jobs") == [job_id]
    assert world.request("POST", f"/jobs/{job_id}/resume", groups="operator team:red")[0] == 403
    assert world.request("POST", f"/jobs/{job_id}/resume", groups="operator team:blue")[0] == 200
    world.run_until_idle()
    assert owners_of_executions(world, job_id) == [("blue", "scheduled")]


def test_a_transfer_is_a_revision_that_no_edit_restores(world: World) -> None:
    job_id = submit(world)["job_id"]
    transfer(world, job_id)
    second, _ = world.request("GET", f"/jobs/{job_id}/revisions")[1]["items"]
    assert second["changes"] == [{"field": "owner", "old": "red", "new": "blue", "restorable": False}]
    assert second["by"] == "operator@data-quality"
    assert transfer(world, job_id, "red")["revision"] == 3


# unique keys


def test_the_name_and_the_dedupe_key_move_with_the_job(world: World) -> None:
    job_id = submit(world, name="orders", dedupe_key="k", schedule={"queue": True})["job_id"]
    world.run_until_idle()
    transfer(world, job_id)
    for field, value in (("name", "orders"), ("dedupe_key", "k")):
        body = {"task": "echo", "owner": "blue", "schedule": HOURLY, field: value}
        status, problem = world.request("POST", "/jobs", body, groups=BOTH)
        assert (status, job_id in problem["detail"]) == (409, True)
    assert submit(world, name="orders", dedupe_key="k")["owner"] == "red"
    message = {"owner": "blue", "name": "orders", "payload": {"n": 1}}
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=json.dumps(message))
    world.run_until_idle()
    assert owners_of_executions(world, job_id) == [("blue", "succeeded")]
    world.request("DELETE", f"/jobs/{job_id}", groups=BOTH)
    markers = {item["job_id"]["S"]: item for item in world.items("jobs") if "holder" in item}
    assert {name for name, item in markers.items() if "expires_at" in item} == {
        "#name#blue#orders",
        "#dedupe_key#blue#k",
    }
    assert set(markers) == {f"#{field}#{owner}#{value}" for owner in ("red", "blue") for field, value in _KEYS}


_KEYS = (("name", "orders"), ("dedupe_key", "k"))


@pytest.mark.parametrize("key", [{"name": "orders"}, {"dedupe_key": "orders"}])
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_a_live_job_of_the_new_owner_with_the_same_key_is_named(world: World, key: dict[str, str], query: str) -> None:
    job_id, other = submit(world, **key)["job_id"], submit(world, "blue", **key)["job_id"]
    world.run_until_idle()
    before = stored(world)
    problem = transfer(world, job_id, expected=409, query=query)
    assert problem["errors"][0]["field"] == "owner"
    assert problem["detail"].startswith(
        f"owner: live job '{other}' of 'blue' has the same {next(iter(key))}, 'orders': "
    )
    assert stored(world) == before
    world.request("DELETE", f"/jobs/{other}", groups=BOTH)
    assert transfer(world, job_id, query=query)


# who


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ("operator team:red", "a transfer requires an operator of both teams, or an admin; you can act only for 'red'"),
        ("operator team:blue", "belongs to 'red'; you can manage only jobs of 'blue'"),
        ("operator team:green", "belongs to 'red'; you can manage only jobs of 'green'"),
        ("viewer team:red team:blue", "this requires the role operator; yours is viewer"),
    ],
)
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_only_operators_of_both_teams_and_admins_transfer_a_job(
    world: World, groups: str, reason: str, query: str
) -> None:
    job_id = submit(world)["job_id"]
    before = world.items("jobs"), world.items("revisions")
    assert transfer(world, job_id, expected=403, groups=groups, query=query)["detail"].endswith(reason)
    assert (world.items("jobs"), world.items("revisions")) == before
    assert transfer(world, job_id, groups="admin", query=query)


def test_the_new_owner_manages_the_executions_that_started_before_and_the_former_one_does_not(world: World) -> None:
    job_id = submit(world, task="test.scripted", schedule=None)["job_id"]
    answers: list[int] = []

    def transfer_while_running(_: Context) -> None:
        transfer(world, job_id)
        [execution] = world.executions(job_id)
        path = f"/executions/{execution['execution_id']}/cancel"
        for team in ("red", "blue"):
            answers.append(world.request("PUT", path, groups=f"operator team:{team}")[0])

    TASK_BODIES.append(transfer_while_running)
    world.run_until_idle()
    [execution] = world.executions(job_id)
    path = f"/executions/{execution['execution_id']}/retry"
    answers += [world.request("POST", path, groups=f"operator team:{team}")[0] for team in ("red", "blue")]
    assert answers == [403, 200, 403, 201]
    assert [one["owner"] for one in world.executions(job_id)] == ["red", "blue"]


# executions


def test_planned_executions_move_and_ended_ones_keep_their_owner(world: World) -> None:
    job_id = submit(world, schedule=EVERY_MINUTE)["job_id"]
    world.run_for(61, step=20)
    transfer(world, job_id)
    world.run_until_idle()
    owners = owners_of_executions(world, job_id)
    assert owners[0] == ("red", "succeeded")
    assert {owner for owner, _ in owners[1:]} == {"blue"}
    world.run_for(121, step=20)
    ended = [owner for owner, status in owners_of_executions(world, job_id) if status == "succeeded"]
    assert ended == ["red", "blue", "blue"]
    for owner in ("red", "blue"):
        _, page = world.request("GET", f"/executions?owner={owner}&status=succeeded")
        assert len(page["items"]) == ended.count(owner)
        _, summary = world.request("GET", f"/executions/summary?owner={owner}")
        assert sum(bucket["total"] for bucket in summary["items"]) == ended.count(owner)
    assert world.refused == set()


def test_a_dry_run_lists_the_executions_that_a_transfer_replaces_and_stores_nothing(world: World) -> None:
    job_id = submit(world)["job_id"]
    world.run_until_idle()
    before = world.items("jobs"), stored(world)
    preview = transfer(world, job_id, query="?dry_run=true")
    [execution] = world.executions(job_id)
    assert [one["execution_id"] for one in preview["repeat"]] == [execution["execution_id"]]
    assert preview["vanish"] == []
    assert (world.items("jobs"), stored(world)) == before


def test_a_planned_execution_of_the_long_lane_moves(world: World) -> None:
    job_id = submit(world, lane="long")["job_id"]
    world.run_until_idle()
    transfer(world, job_id)
    world.run_until_idle()
    assert owners_of_executions(world, job_id) == [("blue", "scheduled")]


def test_a_running_execution_keeps_its_place_at_the_key_of_the_former_owner(world: World) -> None:
    job_id = submit(world, task="test.scripted", schedule=EVERY_MINUTE, **KEYED)["job_id"]
    names: list[set[str]] = []

    def transfer_while_running(_: Context) -> None:
        transfer(world, job_id)
        world.run_until_idle()
        world.pass_time(60)
        TASK_BODIES.append(look)
        world.run_until_idle()

    def look(_: Context) -> None:
        held = [item["entry"]["S"] for item in world.items("gates") if item["gate"]["S"].startswith("holders#")]
        names.append(set(held))

    TASK_BODIES.append(transfer_while_running)
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    assert names == [{"key#red#k", "key#blue#k"}]
    assert owners_of_executions(world, job_id)[:2] == [("red", "succeeded"), ("blue", "succeeded")]
    assert not [item for item in world.items("gates") if item["gate"]["S"].startswith("holders#")]


def test_an_execution_that_waits_for_the_key_of_the_former_owner_waits_there_no_longer(world: World) -> None:
    other = submit(world, task="test.scripted", schedule=EVERY_MINUTE, **KEYED)["job_id"]
    job_id = submit(world, schedule=EVERY_MINUTE, **KEYED)["job_id"]
    seen: list[list[tuple[str, str]]] = []

    def transfer_the_waiting_one(_: Context) -> None:
        world.work(orders[job_id])
        seen.append(owners_of_executions(world, job_id)[:1])
        transfer(world, job_id)
        world.run_until_idle()
        seen.append(owners_of_executions(world, job_id)[:1])

    TASK_BODIES.append(transfer_the_waiting_one)
    world.run_until_idle()
    world.pass_time(60)
    orders = {json.loads(one["body"])["job_id"]: one for one in world.orders()}
    world.work(orders[other])
    world.run_until_idle()
    assert seen == [[("red", "waiting")], [("blue", "succeeded")]]
    assert owners_of_executions(world, other)[0] == ("red", "succeeded")
    world.run_for(61, step=20)
    assert not [item for item in world.items("gates") if item["gate"]["S"].startswith("queue#")]


def test_messages_that_wait_keep_the_former_owner_and_run(world: World) -> None:
    job_id = submit(world, task="test.scripted", schedule={"queue": True}, overlap="queue_all")["job_id"]

    def send(number: int) -> None:
        message = {"job_id": job_id, "payload": {"n": number}}
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=json.dumps(message))

    def transfer_while_one_waits(_: Context) -> None:
        send(2)
        world.run_until_idle()
        transfer(world, job_id)
        send(3)
        world.run_until_idle()

    TASK_BODIES.append(transfer_while_one_waits)
    send(1)
    world.run_until_idle()
    found = sorted((one["parameters"]["n"], one["owner"], one["status"]) for one in world.executions(job_id))
    assert found == [(1, "red", "succeeded"), (2, "red", "succeeded"), (3, "blue", "succeeded")]


# crashes, repetitions and concurrent changes


def test_a_repeated_transfer_changes_nothing(world: World) -> None:
    job_id = submit(world)["job_id"]
    first = transfer(world, job_id)
    before = stored(world)
    assert transfer(world, job_id)["revision"] == first["revision"] == 2
    preview = transfer(world, job_id, query="?dry_run=true")
    assert (preview["appear"], preview["vanish"], preview["repeat"]) == ([], [], [])
    assert stored(world) == before


def test_a_transfer_that_dies_before_its_transaction_leaves_the_job_with_its_owner(world: World) -> None:
    job_id = submit(world, name="orders")["job_id"]
    world.run_until_idle()
    before = stored(world)
    with crash_at("TransactWriteItems", table="revisions"), pytest.raises(Killed):
        transfer(world, job_id)
    assert stored(world) == before
    assert listed(world, "/jobs") == [job_id]
    assert transfer(world, job_id)["revision"] == 2


def test_a_transfer_whose_response_is_lost_is_repeated_without_effect(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = submit(world, name="orders")["job_id"]
    real = BaseClient._make_api_call

    def lose(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        answer = real(client, operation, request)
        if operation == "TransactWriteItems":
            raise Killed
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", lose)
        with pytest.raises(Killed):
            transfer(world, job_id)
    assert transfer(world, job_id)["revision"] == 2
    assert len(world.items("revisions")) == 1


def test_a_planner_that_dies_at_any_write_moves_all_planned_executions_when_the_record_is_redelivered(
    world: World,
) -> None:
    for number in range(1, 30):
        job_id = submit(world, schedule=EVERY_MINUTE)["job_id"]
        world.run_until_idle()
        transfer(world, job_id)
        records = {"Records": world.stream_records("jobs", "planner")}
        died = dies_before_write(number, lambda records=records: world.call("planner", records))  # type: ignore[misc]
        world.call("planner", records)
        planned = owners_of_executions(world, job_id)
        assert len(planned) > 3
        assert {owner for owner, _ in planned} == {"blue"}
        if not died:
            assert number > 3
            return
    raise AssertionError("the planner makes more writes than expected")


def test_of_two_transfers_at_the_same_time_one_is_stored(world: World) -> None:
    job_id = submit(world, name="orders")["job_id"]
    with just_before("TransactWriteItems", lambda: transfer(world, job_id, "green", groups="admin")):
        transfer(world, job_id, expected=412)
    assert world.request("GET", f"/jobs/{job_id}")[1]["owner"] == "green"
    names = [item["job_id"]["S"] for item in world.items("jobs") if "holder" in item]
    assert names == ["#name#green#orders"]
    assert len(world.items("revisions")) == 1


def test_of_a_transfer_and_an_edit_at_the_same_time_one_is_stored(world: World) -> None:
    job_id = submit(world, name="orders")["job_id"]

    def rename() -> None:
        assert world.request("PATCH", f"/jobs/{job_id}", {"name": "invoices"}, groups=BOTH)[0] == 200

    with just_before("TransactWriteItems", rename):
        transfer(world, job_id, expected=412)
    job = transfer(world, job_id)
    assert (job["owner"], job["name"], job["revision"]) == ("blue", "invoices", 3)
    assert [item["job_id"]["S"] for item in world.items("jobs") if "holder" in item] == ["#name#blue#invoices"]


def test_of_a_transfer_and_a_submission_with_the_same_name_one_gets_the_name(world: World) -> None:
    job_id = submit(world, name="orders")["job_id"]
    winners: list[str] = []
    take = lambda: winners.append(submit(world, "blue", name="orders")["job_id"])  # noqa: E731
    with just_before("TransactWriteItems", take, containing='"revisions"'):
        problem = transfer(world, job_id, expected=409)
    assert winners[0] in problem["detail"]
    assert world.request("GET", f"/jobs/{job_id}")[1]["owner"] == "red"
    assert len(world.items("revisions")) == 0


@pytest.mark.parametrize(("method", "path"), [("DELETE", ""), ("POST", "/pause")])
def test_a_transfer_of_a_job_whose_state_changes_at_the_same_time_is_refused(
    world: World, method: str, path: str
) -> None:
    job_id = submit(world, name="orders")["job_id"]

    def change() -> None:
        assert world.request(method, f"/jobs/{job_id}{path}", groups=BOTH)[0] == 200

    with just_before("TransactWriteItems", change, on_table("revisions")):
        transfer(world, job_id, expected=412)
    job = world.request("GET", f"/jobs/{job_id}")[1]
    assert (job["owner"], job["revision"]) == ("red", 1)


# input


@pytest.mark.parametrize(
    "body", [{}, {"owner": ""}, {"owner": "a b"}, {"owner": "a,b"}, {"owner": "a#b"}, {"owner": 7}, {"owner": "x" * 65}]
)
def test_an_invalid_owner_is_refused(world: World, body: dict[str, Any]) -> None:
    job_id = submit(world)["job_id"]
    status, problem = world.request("POST", f"/jobs/{job_id}/transfer", body, groups="admin")
    assert (status, problem["errors"][0]["field"]) == (422, "owner")


def test_a_transfer_is_refused_for_another_revision_and_for_a_job_that_has_ended(world: World) -> None:
    job_id = submit(world)["job_id"]
    transfer(world, job_id, expected=412, headers={"if-match": "2"})
    transfer(world, job_id, headers={"if-match": "1"})
    world.request("DELETE", f"/jobs/{job_id}", groups=BOTH)
    assert transfer(world, job_id, "red", expected=409)["errors"][0]["field"] == "job_id"
    assert world.request("POST", "/jobs/01m7j3myg0ab16wzvq72dx3zvq/transfer", {"owner": "red"}, groups=BOTH)[0] == 404
