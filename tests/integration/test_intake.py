"""Messages from external systems, received through the intake queue."""

from __future__ import annotations

import json
from typing import Any

import pytest

from punctual.aws import clients as aws
from tests.integration.world import World


def queue_job(world: World, **submission: Any) -> str:
    job_id: str = world.submit(task="echo", schedule={"queue": True}, **submission)["job_id"]
    return job_id


def send(world: World, body: Any) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=text)


def test_a_redelivered_message_creates_one_execution(world: World) -> None:
    job_id = queue_job(world)
    send(world, {"job_id": job_id, "payload": {"n": 1}})
    send(world, {"job_id": job_id, "payload": {"n": 1}})
    messages = world.receive("intake")
    world.call("intake", {"Records": messages})
    world.call("intake", {"Records": messages[::-1]})
    world.run_until_idle()
    world.call("intake", {"Records": messages})
    world.run_until_idle()
    executions = world.executions(job_id)
    assert [(one["status"], one["attempt"], one["parameters"]) for one in executions] == [
        ("succeeded", 1, {"n": 1})
    ] * 2


def test_the_parameters_of_the_job_are_defaults_for_the_payload(world: World) -> None:
    job_id = queue_job(world, parameters={"region": "eu", "n": 0})
    send(world, {"job_id": job_id, "payload": {"n": 7}})
    world.run_until_idle()
    assert world.executions(job_id)[0]["parameters"] == {"region": "eu", "n": 7}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{broken", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ([1], "a message must look like"),
        ({"payload": {}}, "a message must look like"),
        ({"job_id": "unknown"}, "there is no job"),
        ({"job_id": "01m7j3myg0ab16wzvq72dx3zvq"}, "there is no job"),
        ({"job_id": "01m7j3myg0ab16wzvq72dx3zvq", "payload": 1}, "payload must be an object"),
        ({"job_id": "01m7j3myg0ab16wzvq72dx3zvq", "payload": {"x": "y" * 65536}}, "the limit is 65,536"),
    ],
)
def test_an_invalid_message_goes_to_the_dead_letter_queue_with_the_reason(world: World, body: Any, reason: str) -> None:
    send(world, body)
    world.deliver_intake()
    [dead] = world.receive("intake-dead")
    assert reason in dead["messageAttributes"]["reason"]["StringValue"]
    assert world.receive("intake") == []


def test_a_message_without_the_parameter_of_the_concurrency_key_goes_to_the_dead_letter_queue(world: World) -> None:
    job_id = queue_job(world, concurrency={"key": "customer-{customer}", "limit": 1})
    send(world, {"job_id": job_id, "payload": {}})
    world.deliver_intake()
    [dead] = world.receive("intake-dead")
    reason = "concurrency.key: names the parameter 'customer', which is missing"
    assert dead["messageAttributes"]["reason"]["StringValue"] == reason
    assert (world.receive("intake"), world.executions(job_id)) == ([], [])


def test_only_a_message_that_cannot_be_stored_is_redelivered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = queue_job(world)
    for number in range(3):
        send(world, {"job_id": job_id, "payload": {"n": number}})
    messages = world.receive("intake")
    client = aws.dynamodb()
    real = client.put_item

    def fail_for_one(**request: Any) -> Any:
        if json.loads(request["Item"]["parameters"]["S"])["n"] == 1:
            raise OSError("no route")
        return real(**request)

    world.function("intake")
    monkeypatch.setattr(client, "put_item", fail_for_one)
    answer = world.call("intake", {"Records": messages})
    [failed] = [message for message in messages if json.loads(message["body"])["payload"]["n"] == 1]
    assert answer == {"batchItemFailures": [{"itemIdentifier": failed["messageId"]}]}
    world.run_until_idle()
    assert sorted(one["parameters"]["n"] for one in world.executions(job_id)) == [0, 2]
