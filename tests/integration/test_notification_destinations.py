"""Destinations of a job's notices: SNS topics, e-mail and webhooks, each with its own retries."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import boto3
import pytest

from punctual.aws import clients as aws
from punctual.domain.errors import Fatal
from punctual.domain.notices.webhook_request import signature
from punctual.runtime.notices import webhooks
from tests.integration.test_notifications import run_notifier
from tests.integration.world import LambdaContext, World
from tests.recipes import ROOT, blocks_of, recipes_of

URL, SECRET = "https://hooks.example.com/orders", "a secret of 24 letters.."
SLACK_URL = "https://hooks.slack.com/services/T0/B0/token"
WEBHOOK = {"webhook": {"url": URL, "secret": SECRET}}
ACCOUNT = "arn:aws:sns:us-east-1:123456789012"


@dataclass
class Response:
    status: int

    def close(self) -> None:
        """The body is not read."""


@dataclass
class Receiver:
    """Stands for the receivers of all webhooks. ``answers`` are given in order, then 200."""

    answers: list[Any] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, method: str, url: str, *, headers: dict[str, str], body: bytes, timeout_seconds: float) -> Any:
        assert timeout_seconds <= 5
        self.requests.append({"method": method, "url": url, "headers": dict(headers), "body": body})
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, Exception):
            raise answer
        return Response(answer)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Receiver:
    found = Receiver()
    monkeypatch.setattr(webhooks, "public_request", found)
    return found


@pytest.fixture
def mail(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(aws.ses(), "send_email", lambda **request: sent.append(request))
    return sent


def failing_job(world: World, to: Any, **submission: Any) -> dict[str, Any]:
    """Submit a job that fails, and run it until its notices are in the queue."""
    job = world.submit(name="load", task="fail", parameters={"fatal": True}, notify={"to": to}, **submission)
    world.run_until_idle()
    return job


def dead_letters(world: World) -> list[str]:
    """The reasons of the messages in the notifier's dead-letter queue."""
    return [one["messageAttributes"]["reason"]["StringValue"] for one in world.receive("notifier-dead")]


def deliver(world: World, receives: int = 1) -> list[dict[str, Any]]:
    """Deliver the messages of the notice queue once, as received for the given time. Return those to be redelivered."""
    messages = world.receive("notices")
    for message in messages:
        message["attributes"]["ApproximateReceiveCount"] = str(receives)
    hidden: dict[str, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aws.sqs(), "change_message_visibility", lambda **request: hidden.update(_hidden(request)))
        answer = world.call("notifier", {"Records": messages})
    returned = {one["itemIdentifier"] for one in answer["batchItemFailures"]}
    again = [one for one in messages if one["messageId"] in returned]
    return [{"body": one["body"], "seconds": hidden[one["receiptHandle"]]} for one in again]


def _hidden(request: dict[str, Any]) -> dict[str, int]:
    return {request["ReceiptHandle"]: request["VisibilityTimeout"]}


def redeliver(world: World, messages: list[dict[str, Any]], receives: int) -> list[dict[str, Any]]:
    """Let the delay of the messages pass, and deliver them again."""
    for message in messages:
        world.pass_time(message["seconds"])
        world.sqs.send_message(QueueUrl=world.queues["notices"], MessageBody=message["body"])
    return deliver(world, receives)


# the webhook


def test_a_webhook_receives_the_signed_notice(world: World, receiver: Receiver) -> None:
    job = failing_job(world, WEBHOOK)
    assert run_notifier(world) == []
    [request] = receiver.requests
    assert (request["method"], request["url"]) == ("POST", URL)
    notice, headers = json.loads(request["body"]), request["headers"]
    [execution] = world.executions(job["job_id"])
    assert (notice["event"], notice["execution_id"]) == ("failed", execution["execution_id"])
    assert headers["Idempotency-Key"] == notice["id"]
    assert headers["Punctual-Signature"] == signature(SECRET, request["body"], int(world.now.timestamp()))
    assert notice["facts"]["link"].endswith(execution["execution_id"])
    assert world.published("notice") == []


@pytest.mark.parametrize("answer", [500, 503, 429, 408, OSError("refused"), TimeoutError()])
def test_a_webhook_that_fails_is_tried_again_with_backoff_and_the_same_key(
    world: World, receiver: Receiver, answer: Any
) -> None:
    receiver.answers = [answer, answer]
    failing_job(world, WEBHOOK)
    first = deliver(world)
    assert [one["seconds"] for one in first] == [65]
    second = redeliver(world, first, 2)
    assert [one["seconds"] for one in second] == [130]
    assert redeliver(world, second, 3) == []
    assert len(receiver.requests) == 3
    assert len({one["headers"]["Idempotency-Key"] for one in receiver.requests}) == 1
    assert dead_letters(world) == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (404, "Undeliverable: hooks.example.com answered with the HTTP status 404"),
        (302, "Undeliverable: hooks.example.com answered with the HTTP status 302; redirects are not followed"),
        (Fatal("hooks.example.com is 10.0.0.1, which is not a public address"), "which is not a public address"),
    ],
)
def test_a_notice_that_a_webhook_will_never_accept_goes_to_the_dead_letter_queue_at_once(
    world: World, receiver: Receiver, answer: Any, reason: str
) -> None:
    receiver.answers = [answer]
    failing_job(world, WEBHOOK)
    assert run_notifier(world) == []
    [found] = dead_letters(world)
    assert reason in found
    assert len(receiver.requests) == 1


def test_a_webhook_that_keeps_failing_ends_in_the_dead_letter_queue_from_which_it_can_be_sent_again(
    world: World, receiver: Receiver
) -> None:
    receiver.answers = [500, 500]
    failing_job(world, WEBHOOK)
    again = deliver(world, 19)
    assert [one["seconds"] for one in again] == [900]
    assert redeliver(world, again, 20) == []
    [dead] = world.receive("notifier-dead")
    assert dead["messageAttributes"]["reason"]["StringValue"].endswith("answered with the HTTP status 500")
    assert redeliver(world, [{"body": dead["body"], "seconds": 100}], 1) == []
    assert len(receiver.requests) == 3


def test_a_destination_that_fails_neither_delays_nor_repeats_the_others(world: World, receiver: Receiver) -> None:
    receiver.answers = [500]
    failing_job(world, ["notice", WEBHOOK, {"webhook": {"url": SLACK_URL, "format": "slack"}}])
    again = deliver(world)
    assert len(again) == 1
    assert len(world.published("notice")) == 1
    assert [one["url"] for one in receiver.requests] == [URL, SLACK_URL]
    assert redeliver(world, again, 2) == []
    assert [one["url"] for one in receiver.requests] == [URL, SLACK_URL, URL]
    assert world.published("notice") == []


def test_a_duplicate_notice_is_posted_once(world: World, receiver: Receiver) -> None:
    failing_job(world, WEBHOOK)
    messages = world.receive("notices")
    for _ in range(2):
        assert world.call("notifier", {"Records": messages}) == {"batchItemFailures": []}
    assert len(receiver.requests) == 1


def test_a_webhook_that_an_edit_has_removed_is_not_called(world: World, receiver: Receiver) -> None:
    job = failing_job(world, WEBHOOK, schedule={"cron": "* * * * *"})
    world.run_for(60, step=60)
    status, _ = world.request("PATCH", f"/jobs/{job['job_id']}", {"notify": {"to": "notice"}})
    assert status == 200
    assert run_notifier(world) == []
    assert receiver.requests == []
    assert "the job does not name this webhook any more" in dead_letters(world)[0]


def test_messages_for_which_no_time_is_left_are_delivered_again(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing_job(world, WEBHOOK)
    messages = world.receive("notices")
    monkeypatch.setattr(aws.sqs(), "change_message_visibility", lambda **_: None)
    answer = world.call("notifier", {"Records": messages}, LambdaContext(remaining_seconds=11))
    assert [one["itemIdentifier"] for one in answer["batchItemFailures"]] == [messages[0]["messageId"]]
    assert receiver.requests == []


# the secret


def test_the_secret_is_in_no_answer_message_log_line_or_dead_letter(
    world: World, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    receiver.answers = [404, 404]
    hooks = [WEBHOOK, {"webhook": {"url": SLACK_URL, "format": "slack"}}]
    job = failing_job(world, hooks, schedule={"cron": "* * * * *"})
    world.run_for(60, step=60)
    _, shown = world.request("GET", f"/jobs/{job['job_id']}")
    assert shown["notify"]["to"] == [
        {"webhook": {"url": URL, "secret": "…", "format": "json"}},
        {"webhook": {"url": "https://hooks.slack.com/…", "format": "slack"}},
    ]
    refused = world.request("PATCH", f"/jobs/{job['job_id']}", {"notify": {"to": [*hooks, {"webhook": {"url": URL}}]}})
    queued = world.receive("notices")
    world.call("notifier", {"Records": queued})
    dead = world.receive("notifier-dead")
    assert len(dead) == 2
    everything = json.dumps([job, shown, refused, queued, dead, world.items("signals")], default=str) + caplog.text
    for secret in (SECRET, SLACK_URL, "B0/token"):
        assert secret not in everything


def test_an_edit_of_another_field_keeps_the_secret(world: World, receiver: Receiver) -> None:
    job = failing_job(world, WEBHOOK, schedule={"cron": "* * * * *"})
    status, edited = world.request("PATCH", f"/jobs/{job['job_id']}", {"priority": "high"})
    assert status == 200, edited
    world.run_for(60, step=60)
    run_notifier(world)
    [request] = receiver.requests
    assert request["headers"]["Punctual-Signature"].startswith("t=")


def test_a_masked_secret_is_refused(world: World) -> None:
    job = world.submit(schedule={"cron": "* * * * *"}, notify={"to": WEBHOOK})
    status, problem = world.request("PATCH", f"/jobs/{job['job_id']}", {"notify": job["notify"]})
    assert (status, problem["errors"][0]["field"]) == (422, "notify.to.webhook.secret")
    assert "give the secret again" in problem["detail"]


# topics and e-mail


def test_a_topic_that_a_job_names_receives_its_notices(world: World) -> None:
    arn = boto3.client("sns").create_topic(Name="orders")["TopicArn"]
    boto3.client("sns").subscribe(
        TopicArn=arn, Protocol="sqs", Endpoint="arn:aws:sqs:us-east-1:123456789012:page-subscriber"
    )
    failing_job(world, {"sns": arn})
    assert run_notifier(world) == []
    [envelope] = world.published("page")
    assert envelope["TopicArn"] == arn
    assert json.loads(envelope["Message"])["to"] == f"sns:{arn}"


def test_a_topic_that_refuses_notices_is_named_in_the_dead_letter_queue(world: World) -> None:
    failing_job(world, ["notice", {"sns": f"{ACCOUNT}:missing"}])
    assert run_notifier(world) == []
    [reason] = dead_letters(world)
    assert reason.startswith(f"Undeliverable: {ACCOUNT}:missing: NotFound: the policy of the topic must allow")
    assert len(world.published("notice")) == 1


def test_a_notice_is_sent_by_email_from_the_sender_of_the_stage(world: World, mail: list[dict[str, Any]]) -> None:
    failing_job(world, {"email": "team@example.com"})
    assert run_notifier(world) == []
    [message] = mail
    assert message["FromEmailAddress"] == "punctual@example.com"
    assert message["Destination"] == {"ToAddresses": ["team@example.com"]}
    content = message["Content"]["Simple"]
    assert content["Subject"]["Data"] == "load failed"
    assert "Cause: Fatal" in content["Body"]["Text"]["Data"]


def test_an_email_that_ses_rejects_goes_to_the_dead_letter_queue(world: World) -> None:
    failing_job(world, {"email": "team@example.com"})  # no identity is verified in this account
    assert run_notifier(world) == []
    [reason] = dead_letters(world)
    assert reason.startswith("Undeliverable: team@example.com: MessageRejected")


def test_a_stage_without_a_sender_refuses_an_email_address(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_SENDER", "")
    body = {"task": "echo", "notify": {"to": ["notice", {"email": "team@example.com"}]}}
    status, problem = world.request("POST", "/jobs", body)
    assert (status, problem["errors"][0]["field"]) == (422, "notify.to")
    assert "this stage sends no e-mail" in problem["detail"]
    assert world.items("jobs") == []


def test_the_old_form_is_kept(world: World) -> None:
    assert world.submit(notify={"to": "page"})["notify"]["to"] == "page"
    assert world.submit()["notify"]["to"] == "notice"


# the recipe


def test_the_answers_of_the_recipe_are_those_of_the_api(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_SENDER", "")
    recipes = {one.name: one for one in recipes_of(ROOT / "docs/recipes/notifications.md")}
    for name, path in (("webhook", "notify"), ("chat", "notify.to")):
        [body] = bodies_in(recipes[name].code)
        job = world.submit(**body)
        shown = job["notify"] if path == "notify" else job["notify"]["to"]
        assert recipes[name].matches(f"{json.dumps({path: shown}, ensure_ascii=False)}\ndeleted"), job
    answers = [world.request("POST", "/jobs", body)[1] for body in bodies_in(recipes["refused"].code)]
    printed = [json.dumps({"status": one["status"], "detail": one["detail"]}) for one in answers]
    assert recipes["refused"].matches("\n".join(printed))


def test_the_receiver_of_the_recipe_accepts_signed_requests_and_no_others(world: World, receiver: Receiver) -> None:
    blocks = blocks_of(ROOT / "docs/recipes/notifications.md")
    [code] = [text for kind, text in blocks if kind == "python" and "def is_from_punctual(" in text]
    of_recipe: dict[str, Any] = {}
    exec(code, of_recipe)
    accepts = of_recipe["is_from_punctual"]
    failing_job(world, WEBHOOK)
    assert run_notifier(world) == []
    [request] = receiver.requests
    headers, body, now = request["headers"], request["body"], world.now.timestamp()
    of_recipe["time"] = SimpleNamespace(time=lambda: now)
    assert accepts(headers, body, SECRET)
    assert not accepts(headers, body + b" ", SECRET)
    assert not accepts(headers, body, "another secret of 24 let")
    later = headers["Punctual-Signature"].replace(f"t={int(now)}", f"t={int(now) + 1}")
    assert not accepts({"Punctual-Signature": later}, body, SECRET)
    of_recipe["time"] = SimpleNamespace(time=lambda: now + 301)  # a request that was recorded and repeated
    assert not accepts(headers, body, SECRET)


def bodies_in(code: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in re.findall(r"-d '(.*?)'", code, re.DOTALL)]
