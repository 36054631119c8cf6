"""Messages of queue jobs, sent through the API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from punctual.aws import clients as aws
from punctual.aws.dynamodb.keyed_requests import DynamoKeyedRequests
from punctual.aws.sqs import intake_queue
from tests.integration.test_intake import queue_job
from tests.integration.world import World


def send(world: World, job_id: str, *messages: Any, query: str = "", **options: Any) -> tuple[int, Any]:
    return world.request("POST", f"/jobs/{job_id}/messages{query}", {"messages": list(messages)}, **options)


def error_of(answer: tuple[int, Any]) -> tuple[int, str, str]:
    status, problem = answer
    [error] = problem["errors"]
    return status, error["field"], error["message"]


def test_messages_become_the_executions_that_the_answer_names(world: World) -> None:
    job_id = queue_job(world, parameters={"region": "eu"})
    status, answer = send(world, job_id, *({"payload": {"n": number}} for number in range(25)))
    assert (status, answer["failed"]) == (202, 0)
    world.run_until_idle()
    found = {one["execution_id"]: (one["status"], one["parameters"]) for one in world.executions(job_id)}
    assert found == {
        one["execution_id"]: ("succeeded", {"region": "eu", "n": number}) for number, one in enumerate(answer["items"])
    }


def test_a_repeated_message_id_gives_one_execution(world: World) -> None:
    job_id, message = queue_job(world), {"payload": {"n": 1}, "message_id": "order 4711 é"}
    first = send(world, job_id, message)
    world.pass_time(23 * 3600)
    second = send(world, job_id, message, message)
    world.run_until_idle()
    [execution] = world.executions(job_id)
    assert {one["execution_id"] for one in first[1]["items"] + second[1]["items"]} == {execution["execution_id"]}
    assert (first[0], second[0], execution["attempt"]) == (202, 202, 1)
    assert second[1]["items"][0]["message_id"] == "order 4711 é"


def test_a_message_id_is_free_again_after_a_day(world: World) -> None:
    job_id = queue_job(world)
    send(world, job_id, {"message_id": "a", "payload": {"n": 1}})
    world.pass_time(86_401)
    assert send(world, job_id, {"message_id": "a", "payload": {"n": 2}})[0] == 202
    world.run_until_idle()
    assert [one["parameters"] for one in world.executions(job_id)] == [{"n": 1}, {"n": 2}]


def test_two_jobs_may_use_the_same_message_id(world: World) -> None:
    jobs = [queue_job(world), queue_job(world)]
    for job_id in jobs:
        assert send(world, job_id, {"message_id": "a"})[0] == 202
    world.run_until_idle()
    assert [len(world.executions(job_id)) for job_id in jobs] == [1, 1]


def test_a_message_id_with_another_payload_is_rejected(world: World) -> None:
    job_id = queue_job(world)
    send(world, job_id, {"message_id": "a", "payload": {"n": 1}})
    world.run_until_idle()
    known = world.items("idempotency")
    for other in ("a", "b"):
        first, second = {"message_id": "b", "payload": {}}, {"message_id": other, "payload": {"n": 2}}
        status, field, message = error_of(send(world, job_id, first, second))
        assert (status, field) == (422, "messages.1.message_id")
        assert "another payload" in message
    assert (world.receive("intake"), world.items("idempotency")) == ([], known)


def test_an_id_that_a_concurrent_request_uses_for_another_payload_is_rejected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = queue_job(world)
    send(world, job_id, {"message_id": "a", "payload": {"n": 1}})
    world.run_until_idle()
    monkeypatch.setattr(DynamoKeyedRequests, "body_digests", lambda *_: {})
    answer = send(world, job_id, {"message_id": "a", "payload": {"n": 2}})
    assert error_of(answer)[:2] == (422, "messages.0.message_id")
    assert world.receive("intake") == []


def test_a_request_repeated_with_its_idempotency_key_gives_one_execution_per_message(world: World) -> None:
    job_id, key = queue_job(world), {"Idempotency-Key": "k"}
    answers = [send(world, job_id, {"payload": {"n": 1}}, {}, headers=key) for _ in range(2)]
    world.run_until_idle()
    assert answers[0] == answers[1]
    assert len(world.executions(job_id)) == 2


def test_a_dry_run_of_messages_sends_nothing(world: World) -> None:
    job_id = queue_job(world)
    status, changes = send(world, job_id, {"message_id": "a"}, {}, query="?dry_run=true")
    assert (status, len({one["execution_id"] for one in changes["appear"]})) == (200, 2)
    assert (world.receive("intake"), world.items("idempotency")) == ([], [])
    send(world, job_id, {"message_id": "a"})
    assert len(send(world, job_id, {"message_id": "a"}, {}, query="?dry_run=true")[1]["appear"]) == 1
    assert error_of(send(world, job_id, {"payload": 1}, query="?dry_run=true"))[1] == "messages.0.payload"


@pytest.mark.parametrize(
    ("message", "status", "field", "text"),
    [
        ({"payload": 1}, 422, "messages.1.payload", "must be a JSON object"),
        ({"payload": {"x": "y" * 65536}}, 413, "messages.1.payload", "the limit is 65,536"),
        ({"payload": {"seconds": "3"}}, 422, "messages.1.payload.seconds", "must be a number"),
        ({"payload": {"seconds": None}}, 422, "messages.1.payload", "names the parameter 'seconds', which is"),
        ({"message_id": ""}, 422, "messages.1.message_id", "must have at least 1 character"),
        ({"message_id": "a\n"}, 422, "messages.1.message_id", "must be printable text"),
        ({"mesage_id": "a"}, 422, "messages.1.mesage_id", "did you mean 'message_id'?"),
    ],
)
def test_an_invalid_message_is_named_and_nothing_is_sent(
    world: World, message: Any, status: int, field: str, text: str
) -> None:
    concurrency = {"key": "{seconds}", "limit": 1}
    job = world.submit(task="sleep", parameters={"seconds": 0}, schedule={"queue": True}, concurrency=concurrency)
    answer = error_of(send(world, job["job_id"], {}, message))
    assert answer[:2] == (status, field)
    assert text in answer[2]
    assert world.receive("intake") == []


@pytest.mark.parametrize("messages", [[], [{}] * 101])
def test_a_request_has_between_1_and_100_messages(world: World, messages: list[Any]) -> None:
    assert error_of(send(world, queue_job(world), *messages))[:2] == (422, "messages")


def test_only_a_live_queue_job_takes_messages_and_only_from_its_team(world: World) -> None:
    job_id, other = queue_job(world), world.submit(schedule={"cron": "0 * * * *"})["job_id"]
    assert "does not take messages" in error_of(send(world, other, {}))[2]
    assert send(world, "01m7j3myg0ab16wzvq72dx3zvq", {})[0] == 404
    assert send(world, job_id, {}, role="viewer")[0] == 403
    assert send(world, job_id, {}, team="other")[0] == 403
    world.request("PUT", f"/jobs/{job_id}/cancel")
    assert error_of(send(world, job_id, {}))[::2] == (409, f"job {job_id!r} is cancelled")


def test_messages_of_a_paused_job_run_when_it_is_resumed(world: World) -> None:
    job_id = queue_job(world)
    world.request("POST", f"/jobs/{job_id}/pause")
    world.run_until_idle()
    assert send(world, job_id, {"payload": {"n": 1}})[0] == 202
    world.run_until_idle()
    assert world.executions(job_id)[0]["status"] == "scheduled"
    world.request("POST", f"/jobs/{job_id}/resume")
    world.run_until_idle()
    assert world.executions(job_id)[0]["status"] == "succeeded"


class PartlyFailingQueue:
    """Refuses entries of each batch as SQS does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, refuses: Any) -> None:
        self.real, self.refuses, self.sizes = aws.sqs().send_message_batch, refuses, list[int]()
        monkeypatch.setattr(aws.sqs(), "send_message_batch", self)
        monkeypatch.setattr(intake_queue, "BACKOFF_SECONDS", 0)

    def __call__(self, **request: Any) -> Any:
        entries = request["Entries"]
        self.sizes.append(len(entries))
        refused = [one for one in entries if self.refuses(json.loads(one["MessageBody"])["payload"]["n"], self.sizes)]
        accepted = [one for one in entries if one not in refused]
        if accepted:
            self.real(**{**request, "Entries": accepted})
        failed = [{"Id": one["Id"], "SenderFault": False, "Code": "InternalError"} for one in refused]
        return {"Successful": [], "Failed": failed}


def test_messages_that_sqs_refuses_once_are_sent_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = queue_job(world)
    queue = PartlyFailingQueue(monkeypatch, lambda n, sizes: n in (3, 11) and len(sizes) <= 2)
    status, answer = send(world, job_id, *({"payload": {"n": number}} for number in range(12)))
    assert (status, answer["failed"], queue.sizes) == (202, 0, [10, 2, 2])
    world.run_until_idle()
    assert sorted(one["parameters"]["n"] for one in world.executions(job_id)) == list(range(12))


def test_messages_that_sqs_keeps_refusing_are_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = queue_job(world)
    refused = {1}
    PartlyFailingQueue(monkeypatch, lambda n, _: n in refused)
    messages = [{"payload": {"n": number}, "message_id": str(number)} for number in range(3)]
    status, answer = send(world, job_id, *messages)
    assert (status, answer["failed"]) == (207, 1)
    assert [one["reason"] for one in answer["items"]] == [None, "SQS did not accept it: InternalError", None]
    refused.clear()
    assert send(world, job_id, *messages)[0] == 202
    world.run_until_idle()
    assert len(world.executions(job_id)) == 3


def test_large_messages_are_sent_in_batches_that_sqs_accepts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = queue_job(world)
    queue = PartlyFailingQueue(monkeypatch, lambda *_: False)
    large = [{"payload": {"n": number, "text": "é" * 30_000}} for number in range(3)]
    assert send(world, job_id, *large)[0] == 202
    assert queue.sizes == [1, 1, 1]  # each é takes six characters in the body
    world.run_until_idle()
    assert {one["parameters"]["text"] for one in world.executions(job_id)} == {"é" * 30_000}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"message_id": "a"}, "sent_at: is required"),
        ({"message_id": 1, "sent_at": "2026-11-15T07:00:00Z"}, "message_id: must be printable text"),
        ({"message_id": "a", "sent_at": "today"}, "sent_at: 'today' is not an instant"),
        ({"message_id": "a", "sent_at": "2026-01-01T00:00:00Z"}, "sent_at: must be within a day"),
        ({"message_id": "a", "sent_at": "2036-01-01T00:00:00Z"}, "sent_at: must be within a day"),
    ],
)
def test_a_producer_that_sends_an_invalid_id_gets_a_dead_letter(world: World, fields: Any, reason: str) -> None:
    body = json.dumps({"job_id": queue_job(world), **fields})
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)
    world.deliver_intake()
    [dead] = world.receive("intake-dead")
    assert reason in dead["messageAttributes"]["reason"]["StringValue"]
