"""Job names: unique among the live jobs of a team, and another way to name the job of a message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.client import BaseClient

from punctual.domain.requests.caller import Caller, Role
from tests.integration.dependants import after
from tests.integration.fixture_tasks import Killed
from tests.integration.test_unique_jobs import is_same
from tests.integration.world import World

HOURLY = {"task": "echo", "schedule": {"every_seconds": 3600}}
ORDERS = {"name": "orders", **HOURLY}
OPERATOR = Caller("operator@data-quality", ("data-quality",), Role.OPERATOR)


def post(world: World, **submission: Any) -> tuple[int, Any]:
    return world.request("POST", "/jobs", {**ORDERS, **submission})


def batch(world: World, *jobs: dict[str, Any], **how: Any) -> tuple[int, Any]:
    return world.request("POST", "/jobs/batch", {"jobs": [{**HOURLY, **job} for job in jobs]}, **how)


def stored_names(world: World) -> list[str | None]:
    return [item.get("name", {}).get("S") for item in world.items("jobs") if "task" in item]


def test_a_job_without_a_name_keeps_none(world: World) -> None:
    status, job = post(world, name=None)
    assert (status, job["name"]) == (201, None)
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["name"] is None
    assert post(world, name=None)[0] == 201
    assert [item["job_id"] for item in world.items("jobs") if "holder" in item] == []


def test_a_name_of_a_live_job_is_refused_with_409_that_names_that_job(world: World) -> None:
    _, job = post(world)
    status, problem = post(world)
    assert (status, problem["errors"][0]["field"]) == (409, "name")
    assert problem["detail"] == (
        f"name: job '{job['job_id']}' has this name and is active: use another name, or edit that job"
    )
    world.request("POST", f"/jobs/{job['job_id']}/pause")
    assert "and is paused" in post(world)[1]["detail"]
    assert stored_names(world) == ["orders"]


def test_another_team_may_use_the_same_name(world: World) -> None:
    assert post(world)[0] == 201
    assert world.request("POST", "/jobs", ORDERS, team="billing")[0] == 201


@pytest.mark.parametrize("end", [("PUT", "/cancel"), ("DELETE", "")])
def test_the_name_of_an_ended_job_is_free(world: World, end: tuple[str, str]) -> None:
    _, job = post(world)
    world.request(end[0], f"/jobs/{job['job_id']}{end[1]}")
    status, other = post(world)
    assert (status, other["name"]) == (201, "orders")
    assert post(world)[0] == 409


def test_the_name_of_a_job_that_is_done_is_free_and_its_marker_expires_with_it(world: World) -> None:
    job = world.submit(name="orders")
    world.run_until_idle()
    done = world.request("GET", f"/jobs/{job['job_id']}")[1]
    [marker] = [item for item in world.items("jobs") if "holder" in item]
    assert done["state"] == "done"
    assert "expires_at" in marker
    assert post(world)[0] == 201


def test_a_dry_run_names_the_job_that_has_the_name(world: World) -> None:
    _, job = post(world)
    status, problem = world.request("POST", "/jobs?dry_run=true", ORDERS)
    assert (status, job["job_id"] in problem["detail"]) == (409, True)


def test_an_existing_job_with_the_dedupe_key_is_returned_whatever_its_name(world: World) -> None:
    key = {"dedupe_key": "orders-1", "on_duplicate": "return_existing"}
    _, job = post(world, **key)
    assert is_same(post(world, **key), job)
    assert is_same(post(world, name="other", **key), job)
    status, problem = post(world, dedupe_key="orders-2", on_duplicate="return_existing")
    assert (status, problem["errors"][0]["field"]) == (409, "name")


# edits


def test_a_renamed_job_frees_its_former_name_and_takes_the_new_one(world: World) -> None:
    _, job = post(world)
    path = f"/jobs/{job['job_id']}"
    status, renamed = world.request("PATCH", path, {"name": "invoices"})
    assert (status, renamed["name"], renamed["revision"]) == (200, "invoices", 2)
    assert post(world, name="invoices")[0] == 409
    assert post(world)[0] == 201
    status, unnamed = world.request("PATCH", path, {"name": None})
    assert (status, unnamed["name"]) == (200, None)
    assert post(world, name="invoices")[0] == 201


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_a_job_cannot_be_renamed_to_the_name_of_a_live_job(world: World, query: str) -> None:
    _, job = post(world)
    _, other = post(world, name="invoices")
    status, problem = world.request("PATCH", f"/jobs/{other['job_id']}{query}", {"name": "orders"})
    assert (status, problem["errors"][0]["field"], job["job_id"] in problem["detail"]) == (409, "name", True)
    assert world.request("GET", f"/jobs/{other['job_id']}")[1]["revision"] == 1
    assert world.request("PATCH", f"/jobs/{job['job_id']}{query}", {"name": "orders", "priority": "high"})[0] == 200


def test_a_job_takes_over_the_name_of_an_ended_job(world: World) -> None:
    _, job = post(world)
    _, other = post(world, name="invoices")
    world.request("DELETE", f"/jobs/{job['job_id']}")
    assert world.request("PATCH", f"/jobs/{other['job_id']}", {"name": "orders"})[0] == 200
    assert post(world)[0] == 409


def test_of_a_rename_and_a_submission_at_the_same_time_one_gets_the_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job = post(world, name="invoices")
    real, winners = BaseClient._make_api_call, []

    def call(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation == "TransactWriteItems" and not winners:
            winners.append(None)
            winners.append(world.function("api").jobs.submit.submit(ORDERS, OPERATOR).job.job_id)
        return real(client, operation, request)

    monkeypatch.setattr(BaseClient, "_make_api_call", call)
    status, problem = world.request("PATCH", f"/jobs/{job['job_id']}", {"name": "orders"})
    assert (status, winners[1] in problem["detail"]) == (409, True)
    assert sorted(map(str, stored_names(world))) == ["invoices", "orders"]
    assert post(world, name="invoices")[0] == 409


# batches


def test_equal_names_in_a_batch_are_refused_with_both_indexes(world: World) -> None:
    status, problem = batch(world, {}, {"name": "orders"}, {}, {"name": "orders"})
    assert (status, problem["errors"][0]["field"]) == (422, "jobs.3.name")
    assert "jobs.1.name" in problem["detail"]
    assert world.items("jobs") == []


@pytest.mark.parametrize("others", [2, 60])
def test_a_taken_name_refuses_the_whole_batch_with_its_index(world: World, others: int) -> None:
    _, job = post(world)
    status, problem = batch(world, {}, *({"name": f"n{n}"} for n in range(others)), {"name": "orders"})
    assert (status, problem["errors"][0]["field"]) == (409, f"jobs.{others + 1}.name")
    assert job["job_id"] in problem["detail"]
    assert stored_names(world) == ["orders"]


@pytest.mark.parametrize("transactions", [0, 1, 3])
def test_a_batch_with_an_idempotency_key_is_completed_by_a_repetition_after_a_crash(
    world: World, monkeypatch: pytest.MonkeyPatch, transactions: int
) -> None:
    names = [{"name": f"n{n}", "dedupe_key": f"k{n}"} for n in range(60)]
    key = {"idempotency-key": "nightly"}
    real, seen = BaseClient._make_api_call, []

    def crash_after(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation == "TransactWriteItems":
            if len(seen) == transactions:
                raise Killed
            seen.append(operation)
        elif operation == "UpdateItem" and len(seen) == transactions:
            raise Killed
        return real(client, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", crash_after)
        with pytest.raises(Killed):
            batch(world, *names, {}, headers=key)
    assert len(stored_names(world)) == min(25 * transactions, 60) + (transactions == 3)
    status, answer = batch(world, *names, {}, headers=key)
    assert status == 201
    assert [one["name"] for one in answer["items"]] == [*(one["name"] for one in names), None]
    assert len(stored_names(world)) == 61
    assert batch(world, *names, {}, headers=key) == (status, answer)


def test_a_dependency_cannot_name_a_job_without_a_name(world: World) -> None:
    status, problem = batch(world, {}, {"name": "report", "depends_on": [{"job": "echo"}]})
    assert (status, problem["errors"][0]["field"]) == (422, "jobs.1.depends_on.0.job")


def test_reasons_show_the_task_of_an_upstream_without_a_name(world: World) -> None:
    upstream = world.submit(task="fail", parameters={"fatal": True})
    job = world.submit(depends_on=after(upstream))
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    assert execution["reason"].startswith("upstream failed: fail (")


# messages


def send(world: World, **body: Any) -> None:
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=json.dumps(body))


def test_a_message_may_name_its_job_by_owner_and_name(world: World) -> None:
    job = world.submit(name="orders", schedule={"queue": True})
    other = world.submit(name="invoices", schedule={"queue": True})
    send(world, owner="data-quality", name="orders", payload={"n": 1})
    send(world, job_id=other["job_id"], payload={"n": 2})
    world.run_until_idle()
    assert [one["parameters"] for one in world.executions(job["job_id"])] == [{"n": 1}]
    assert [one["parameters"] for one in world.executions(other["job_id"])] == [{"n": 2}]


def test_a_message_for_a_name_goes_to_the_job_that_has_the_name_now(world: World) -> None:
    former = world.submit(name="orders", schedule={"queue": True})
    world.request("PATCH", f"/jobs/{former['job_id']}", {"name": "orders-old"})
    job = world.submit(name="orders", schedule={"queue": True})
    send(world, owner="data-quality", name="orders", payload={})
    world.run_until_idle()
    assert (len(world.executions(former["job_id"])), len(world.executions(job["job_id"]))) == (0, 1)


@pytest.mark.parametrize("named", [("data-quality", "unknown"), ("billing", "hourly"), ("data-quality", "deleted")])
def test_a_message_with_a_name_that_no_live_job_has_goes_to_the_dead_letter_queue(
    world: World, named: tuple[str, str]
) -> None:
    owner, name = named
    world.submit(**{**HOURLY, "name": "hourly"})
    deleted = world.submit(name="deleted", schedule={"queue": True})
    world.request("DELETE", f"/jobs/{deleted['job_id']}")
    assert dead_reason(world, owner=owner, name=name) == f"there is no live job of {owner!r} with the name {name!r}"


@pytest.mark.parametrize(
    "body",
    [
        {"name": "hourly"},
        {"owner": "data-quality"},
        {"owner": "data-quality", "name": 7},
        {"job_id": "01m7j3myg0ab16wzvq72dx3zvq", "owner": "data-quality", "name": "hourly"},
    ],
)
def test_a_message_that_names_its_job_in_part_or_twice_goes_to_the_dead_letter_queue(
    world: World, body: dict[str, Any]
) -> None:
    assert dead_reason(world, **body).startswith("a message must look like")


def test_a_message_with_the_name_of_another_kind_of_job_goes_to_the_dead_letter_queue(world: World) -> None:
    world.submit(**{**HOURLY, "name": "hourly"})
    reason = dead_reason(world, owner="data-quality", name="hourly")
    assert reason.endswith('does not take messages: its schedule is not {"queue": true}')


def dead_reason(world: World, **body: Any) -> str:
    send(world, **body)
    world.deliver_intake()
    [dead] = world.receive("intake-dead")
    reason: str = dead["messageAttributes"]["reason"]["StringValue"]
    return reason
