"""Requests whose response from DynamoDB is lost: here and not in tests/integration, as moto ignores the tokens of
transactions."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from tests.simulator.aws.account import Account
from tests.simulator.aws.errors import ConnectionLost, conflict
from tests.simulator.deployment import Deployment, installed
from tests.simulator.kernel import Kernel
from tests.simulator.operator import event


def request(deployment: Deployment, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    deployment.kernel.now += timedelta(seconds=1)
    response = deployment.call("api", event(method, path, json.dumps(body) if body is not None else None))
    return response["statusCode"], json.loads(response["body"])


def lose_first_response(account: Account, containing: str) -> list[str]:
    """Lose the response of the first such request. Returns the list that its operation is added to then."""
    lost: list[str] = []

    def after_call(service: str, operation: str, parameters: Any, outcome: Any) -> None:
        del service, outcome
        if containing in str(parameters) and not lost:
            lost.append(operation)
            raise ConnectionLost

    account.hooks.after_call = after_call
    return lost


def test_a_manual_retry_whose_response_was_lost_is_stored_once_and_reported_as_stored() -> None:
    kernel = Kernel()
    account = Account(lambda: kernel.now)
    with installed(kernel, account) as deployment:
        status, job = request(deployment, "POST", "/jobs", {"task": "echo"})
        assert status == 201
        deployment.call("planner", {"Records": account.dynamodb.tables["jobs"].records()})
        [execution_id] = [key[1] for key in account.dynamodb.tables["executions"].items]
        assert request(deployment, "PUT", f"/executions/{execution_id}/cancel")[0] == 200
        lost = lose_first_response(account, "'retry_of'")
        status, answer = request(deployment, "POST", f"/executions/{execution_id}/retry", {})
    assert lost
    assert status == 201, answer
    assert answer["execution"]["job_id"] == job["job_id"]
    stored = {key[1] for key in account.dynamodb.tables["executions"].items}
    assert stored == {execution_id, answer["execution"]["execution_id"]}


def test_an_edit_whose_response_was_lost_is_one_revision() -> None:
    kernel = Kernel()
    account = Account(lambda: kernel.now)
    with installed(kernel, account) as deployment:
        _, job = request(deployment, "POST", "/jobs", {"task": "echo", "schedule": {"every_seconds": 60}})
        lost = lose_first_response(account, "'changes'")
        status, edited = request(deployment, "PATCH", f"/jobs/{job['job_id']}", {"priority": "low", "name": "orders"})
        _, page = request(deployment, "GET", f"/jobs/{job['job_id']}/revisions")
    assert lost == ["transact_write_items"]
    assert (status, edited["revision"], edited["name"]) == (200, 2, "orders")
    assert [one["revision"] for one in page["items"]] == [2, 1]


def test_an_edit_whose_response_was_lost_and_whose_repetition_conflicts_is_one_revision() -> None:
    kernel = Kernel()
    account = Account(lambda: kernel.now)
    with installed(kernel, account) as deployment:
        _, job = request(deployment, "POST", "/jobs", {"task": "echo", "schedule": {"every_seconds": 60}})
        lost, refused = lose_first_response(account, "'changes'"), list[str]()

        def before_call(_: str, operation: str, parameters: Any) -> None:
            if lost and operation == "transact_write_items" and not refused:
                refused.append(operation)
                raise conflict(parameters["TransactItems"])

        account.hooks.before_call = before_call
        status, edited = request(deployment, "PATCH", f"/jobs/{job['job_id']}", {"priority": "low"})
    assert lost == refused == ["transact_write_items"]
    assert (status, edited["revision"]) == (200, 2)
