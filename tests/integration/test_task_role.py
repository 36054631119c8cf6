"""Tasks of the short lane run with the credentials of the task role, and the engine with those of the worker."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import boto3
import pytest

from punctual import Context
from punctual.aws import clients
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World

OF_TASK = "arn:aws:sts::123456789012:assumed-role/tasks/"


def identity(_: Context) -> str:
    """The identity of a client that a task creates."""
    return str(boto3.Session().client("sts").get_caller_identity()["Arn"])


def identity_and_environment_of_a_child(_: Context) -> dict[str, str]:
    child = subprocess.run(["env"], check=True, capture_output=True, text=True).stdout
    return {"arn": identity(_), "child": child, "own": os.environ["AWS_ACCESS_KEY_ID"]}


def access_key(client: Any) -> str:
    return str(client._request_signer._credentials.access_key)


def run(world: World) -> dict[str, Any]:
    job = world.submit(task="test.scripted")
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    return execution


def test_a_task_and_its_children_have_the_identity_of_the_task_role_and_the_engine_has_the_workers(
    world: World,
) -> None:
    TASK_BODIES.append(identity_and_environment_of_a_child)
    execution = run(world)
    seen = execution["result"]["value"]
    assert seen["arn"].startswith(OF_TASK)
    assert seen["arn"].endswith(f"@{execution['attempts'][0]['worker_id']}")
    engines = {access_key(create()) for create in (clients.dynamodb, clients.sqs, clients.s3)}
    assert seen["own"] not in engines
    assert f"AWS_ACCESS_KEY_ID={seen['own']}\n" in seen["child"]


def test_one_session_serves_the_attempts_of_half_an_hour(world: World) -> None:
    for _ in range(2):
        TASK_BODIES.append(identity)
        run(world)
    assert world.aws_requests.count("AssumeRole") == 1
    world.pass_time(31 * 60)
    TASK_BODIES.append(identity)
    assert run(world)["result"]["value"].startswith(OF_TASK)
    assert world.aws_requests.count("AssumeRole") == 2


def test_without_a_session_no_attempt_starts_and_the_order_is_delivered_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.submit(task="test.scripted")
    world.deliver_streams()
    [order] = world.orders()
    with monkeypatch.context() as patch:
        patch.setattr(clients.sts(), "_make_api_call", _unavailable)
        patch.setattr(clients.sqs(), "change_message_visibility", lambda **_: None)  # the test holds the message
        answer = world.work(order)
    assert answer["batchItemFailures"] == [{"itemIdentifier": order["messageId"]}]
    [execution] = world.executions(job["job_id"])
    assert (execution["status"], execution["attempt"]) == ("queued", 0)
    TASK_BODIES.append(identity)
    world.work(order)
    [execution] = world.executions(job["job_id"])
    assert execution["result"]["value"].startswith(OF_TASK)


def _unavailable(*_: Any) -> None:
    raise ConnectionError("STS does not answer")
