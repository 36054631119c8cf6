"""Notice delivery: from the notices queue through the notifier to the subscribers of a topic."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError

from punctual.aws import clients as aws
from punctual.aws.sqs.notice_queue import SqsNotices
from punctual.domain.executions.execution import Execution, Failure
from punctual.domain.jobs.destination import Topic
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import Event, Notify
from punctual.domain.notices.digest_window import MAX_NAMED_EXECUTIONS, OUTCOME_WINDOW, DigestWindow, group_of
from punctual.domain.notices.notice import Notice
from punctual.domain.notices.outcome_notice import outcome_notice
from punctual.domain.schedules.schedule import Now
from punctual.domain.status import Status
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World

DUE = datetime(2026, 11, 16, 11, 55, tzinfo=UTC)
WINDOW = OUTCOME_WINDOW.total_seconds()
VISIBILITY_TIMEOUT = 180


def notice(number: int = 0, *, to: Topic = Topic.NOTICE, event: Event = Event.FAILED, **fields: Any) -> Notice:
    execution = Execution(
        job_id=fields.pop("job_id", "job"),
        execution_id=f"20261116T115500000Z-job-{number:02}",
        owner=fields.pop("owner", "team-a"),
        task="quality.weekly",
        scheduled_at=DUE,
        status=Status.FAILED,
        attempt=3,
        started_at=DUE,
        ended_at=DUE + timedelta(seconds=number),
        error=Failure(type="EmptySource", message=f"no rows in {number}"),
    )
    job = Job(
        job_id=execution.job_id,
        name="weekly-quality",
        owner=execution.owner,
        created_by="someone",
        task=execution.task,
        schedule=Now(DUE),
        created_at=DUE,
        updated_at=DUE,
        notify=Notify(frozenset(Event), (to,)),
    )
    created = outcome_notice(execution, job)
    assert created is not None
    return replace(created, event=event, **fields)


def send(world: World, *notices: Notice) -> None:
    SqsNotices(world.queues["notices"], aws.sqs).send(notices)


def run_notifier(world: World) -> list[dict[str, Any]]:
    """Run the notifier until its queue is empty; return the messages that it reported as failed."""
    failed = []
    while messages := world.receive("notices"):
        answer = world.call("notifier", {"Records": messages})
        returned = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        failed += [message for message in messages if message["messageId"] in returned]
    return failed


def published_messages(world: World, topic: str = "notice") -> list[dict[str, Any]]:
    """Return the fields of every message that was published since the previous call."""
    published = []
    while envelopes := world.published(topic):
        published += [json.loads(envelope["Message"]) for envelope in envelopes]
    return published


def published_titles(world: World, topic: str = "notice") -> list[str]:
    return [one["title"] for one in published_messages(world, topic)]


def internal_error(operation: str) -> ClientError:
    return ClientError({"Error": {"Code": "InternalError", "Message": "no answer"}}, operation)


def test_a_notice_is_published_to_its_topic_with_all_its_fields(world: World) -> None:
    page = notice(to=Topic.PAGE)
    send(world, page)
    assert run_notifier(world) == []
    [envelope] = world.published("page")
    assert envelope["Subject"] == "weekly-quality failed"
    link = f"https://api.example.com/console/executions/{page.execution_id}"
    linked = replace(page, text=f"{page.text}\nLink: {link}", facts={**page.facts, "link": link})
    assert json.loads(envelope["Message"]) == json.loads(linked.to_body())
    assert {name: one["Value"] for name, one in envelope["MessageAttributes"].items()} == {
        "owner": "team-a",
        "job": "weekly-quality",
        "job_id": "job",
        "event": "failed",
    }
    assert world.published("notice") == []


def test_an_email_contains_the_readable_text(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[dict[str, Any]] = []
    world.function("notifier")
    monkeypatch.setattr(aws.sns(), "publish", lambda **request: requests.append(request))
    send(world, notice())
    run_notifier(world)
    [request] = requests
    assert request["MessageStructure"] == "json"
    link = f"https://api.example.com/console/executions/{notice().execution_id}"
    assert json.loads(request["Message"])["email"] == f"{notice().text}\nLink: {link}"


def test_a_subject_is_one_short_line_of_ascii(world: World) -> None:
    subjects = {
        "Qualität\tder Woche\nist «rot»": "Qualitat der Woche ist ?rot?",
        "n" * 200: "n" * 96 + "...",
        "n" * 99: "n" * 99,
        "\n\x07": "Punctual",
    }
    send(world, *(notice(title=title, id=title, job_id=str(n)) for n, title in enumerate(subjects)))
    assert run_notifier(world) == []
    envelopes = world.published("notice")
    assert {json.loads(one["Message"])["title"]: one["Subject"] for one in envelopes} == subjects


def test_message_attributes_are_never_empty_and_have_one_line(world: World) -> None:
    send(world, notice(owner="\n", job_name=" weekly \x00\n quality "))
    assert run_notifier(world) == []
    [envelope] = world.published("notice")
    values = {name: one["Value"] for name, one in envelope["MessageAttributes"].items()}
    assert (values["owner"], values["job"]) == ("-", "weekly quality")


def test_a_subscriber_receives_only_what_its_filter_policy_matches(world: World) -> None:
    world.queues["mine"] = world.sqs.create_queue(QueueName="mine")["QueueUrl"]
    boto3.client("sns").subscribe(
        TopicArn=world.topics["notice"],
        Protocol="sqs",
        Endpoint="arn:aws:sqs:us-east-1:123456789012:mine",
        Attributes={"FilterPolicy": json.dumps({"owner": ["team-b"], "event": ["failed", "deadline_missed"]})},
    )
    owners = {"a": "team-a", "b": "team-b"}
    send(world, *(notice(job_id=name, id=name, owner=owner) for name, owner in owners.items()))
    send(world, notice(job_id="b", id="c", owner="team-b", event=Event.RECOVERED))
    run_notifier(world)
    assert len(published_messages(world)) == 3
    [mine] = world.receive("mine")
    assert json.loads(json.loads(mine["body"])["Message"])["id"] == "b"


def test_a_duplicate_notice_is_published_once(world: World) -> None:
    send(world, notice(), notice())
    messages = world.receive("notices")
    for order in (messages, messages[::-1]):
        assert world.call("notifier", {"Records": order}) == {"batchItemFailures": []}
    world.pass_time(2 * WINDOW)
    run_notifier(world)
    world.call("notifier", {"Records": messages})
    assert published_titles(world) == ["weekly-quality failed"]


def test_a_job_that_fails_every_minute_is_reported_in_summaries(world: World) -> None:
    for minute in range(30):
        send(world, notice(minute))
        run_notifier(world)
        world.pass_time(60)
        run_notifier(world)
    first, *summaries = published_messages(world)
    assert first["title"] == "weekly-quality failed"
    assert [one["title"] for one in summaries] == [
        f"weekly-quality failed {times} more times in 15 minutes" for times in (14, 15)
    ]
    assert "no rows in 14" in summaries[0]["text"]
    assert "no rows in 13" not in summaries[0]["text"]
    for summary, numbers in zip(summaries, (range(1, 15), range(15, 30)), strict=True):
        assert summary["facts"]["executions"] == [notice(number).execution_id for number in numbers]
    world.pass_time(WINDOW)
    run_notifier(world)
    send(world, notice(99))
    run_notifier(world)
    assert published_titles(world) == ["weekly-quality failed"]  # not digested: the window had been empty


def test_a_summary_lists_a_limited_number_of_executions_and_counts_the_rest(world: World) -> None:
    send(world, *(notice(number) for number in range(MAX_NAMED_EXECUTIONS + 6)))
    run_notifier(world)
    world.pass_time(WINDOW)
    run_notifier(world)
    _, summary = published_messages(world)
    assert summary["facts"]["more"] == MAX_NAMED_EXECUTIONS + 5
    assert len(summary["facts"]["executions"]) == MAX_NAMED_EXECUTIONS
    assert "\nand others\n" in summary["text"]


def test_a_summary_shows_the_latest_event_regardless_of_arrival_order(world: World) -> None:
    send(world, notice(1))
    run_notifier(world)
    for number in (3, 2):
        send(world, notice(number))
        run_notifier(world)
    world.pass_time(WINDOW)
    run_notifier(world)
    _, summary = published_messages(world)
    assert summary["execution_id"] == notice(3).execution_id
    assert summary["facts"]["more"] == 2


def test_the_next_notice_closes_a_window_whose_end_message_was_lost(world: World) -> None:
    for number in (1, 2):
        send(world, notice(number))
        run_notifier(world)
    world.pass_time(WINDOW)
    [_lost] = world.receive("notices")
    send(world, notice(3))
    run_notifier(world)
    assert published_titles(world) == ["weekly-quality failed", "weekly-quality failed 2 more times in 15 minutes"]


def test_ledger_items_expire_after_the_retention_time(world: World) -> None:
    for number in (1, 2):
        send(world, notice(number))
        run_notifier(world)
    items = {item["id"]["S"]: item for item in world.items("signals")}
    first, second = (f"notice#{notice(number).id}" for number in (1, 2))
    assert set(items) == {first, second, "group#job#failed#notice"}
    expiry = int((world.now + timedelta(days=90)).timestamp())
    assert {int(item["expires_at"]["N"]) for item in items.values()} == {expiry}
    assert (items[first]["state"]["S"], items[second]["state"]["S"]) == ("told", "counted")
    assert set(items[first]) == {"id", "state", "expires_at"}


# failures


def test_an_unreadable_message_is_dead_lettered_immediately_with_the_reason(world: World) -> None:
    fields = json.loads(notice().to_body())
    reasons = {
        "{broken": "JSONDecodeError",
        "[" * 100_000: "RecursionError",
        "{}": "not a notice",
        json.dumps({**fields, "to": "everybody"}): "'everybody'",
        json.dumps({**fields, "id": "x" * 3000}): "the limit is 1,000",
        '{"window_until": "soon", "job_id": "job", "event": "failed", "to": "page"}': "window end",
    }
    for body in reasons:
        world.sqs.send_message(QueueUrl=world.queues["notices"], MessageBody=body)
    send(world, notice())
    assert run_notifier(world) == []
    dead = world.receive("notifier-dead")
    reasons_found = {one["body"]: one["messageAttributes"]["reason"]["StringValue"] for one in dead}
    assert set(reasons_found) == set(reasons)
    assert all(reason in reasons_found[body] for body, reason in reasons.items()), reasons_found.values()
    assert published_titles(world) == ["weekly-quality failed"]


def test_a_message_that_cannot_be_dead_lettered_is_redelivered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.sqs.send_message(QueueUrl=world.queues["notices"], MessageBody="{broken")
    messages = world.receive("notices")
    world.function("notifier")

    def reject(**_request: Any) -> None:
        raise internal_error("SendMessage")

    monkeypatch.setattr(aws.sqs(), "send_message", reject)
    answer = world.call("notifier", {"Records": messages})
    assert answer == {"batchItemFailures": [{"itemIdentifier": messages[0]["messageId"]}]}


def test_a_notice_that_sns_rejects_is_redelivered_alone_and_published_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.function("notifier")
    real = aws.sns().publish

    def reject_one(**request: Any) -> Any:
        if request["MessageAttributes"]["job_id"]["StringValue"] == "b":
            raise internal_error("Publish")
        return real(**request)

    send(world, *(notice(job_id=name, id=name) for name in "abc"))
    monkeypatch.setattr(aws.sns(), "publish", reject_one)
    failed = run_notifier(world)
    assert [json.loads(message["body"])["job_id"] for message in failed] == ["b"]
    assert sorted(one["job_id"] for one in published_messages(world)) == ["a", "c"]
    monkeypatch.undo()
    world.pass_time(VISIBILITY_TIMEOUT)
    assert world.call("notifier", {"Records": failed}) == {"batchItemFailures": []}
    assert [one["job_id"] for one in published_messages(world)] == ["b"]


def test_a_notice_that_another_notifier_is_publishing_is_redelivered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(world, notice())
    messages = world.receive("notices")
    world.function("notifier")
    real = aws.sns().publish
    meanwhile: list[Any] = []

    def publish(**request: Any) -> Any:
        meanwhile.append(world.call("notifier", {"Records": messages}))
        return real(**request)

    monkeypatch.setattr(aws.sns(), "publish", publish)
    assert world.call("notifier", {"Records": messages}) == {"batchItemFailures": []}
    assert meanwhile == [{"batchItemFailures": [{"itemIdentifier": messages[0]["messageId"]}]}]
    assert published_titles(world) == ["weekly-quality failed"]


def test_a_notice_that_sqs_rejects_raises_an_error_that_tells_sender_and_service_faults_apart(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected = {"Id": "0", "Code": "InternalError", "SenderFault": False, "Message": "not today"}
    monkeypatch.setattr(aws.sqs(), "send_message_batch", lambda **_: {"Failed": [rejected]})
    with pytest.raises(ClientError, match="SQS rejected 1 of 2 messages: not today"):
        send(world, notice(1), notice(2))
    rejected |= {"SenderFault": True}
    with pytest.raises(ValueError, match="SQS rejected 1 of 2 messages: not today"):
        send(world, notice(1), notice(2))


class Interruption:
    """Runs an action before or after the n-th AWS call of the notifier."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        world.function("notifier")
        self.calls: list[str] = []
        self._at, self._act = "", kill
        real = BaseClient._make_api_call

        def call(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
            self.calls.append(operation)
            place = len(self.calls)
            self._run_action_at(f"before {place}")
            answer = real(client, operation, request)
            self._run_action_at(f"after {place}")
            return answer

        monkeypatch.setattr(BaseClient, "_make_api_call", call)

    def plan(self, at: str, act: Callable[[], Any]) -> None:
        self.calls, self._at, self._act = [], at, act

    def _run_action_at(self, place: str) -> None:
        if place == self._at:
            self._at = ""
            calls = list(self.calls)  # the calls that the action itself makes do not count
            try:
                self._act()
            finally:
                self.calls = calls


def kill() -> None:
    raise Killed


PUBLISHING_CALLS = ["GetItem", "TransactWriteItems", "SendMessage", "Publish", "UpdateItem"]
INTERRUPTION_POINTS = [
    f"{when} {place}" for place in range(1, len(PUBLISHING_CALLS) + 1) for when in ("before", "after")
]


def three_notices(job_id: str) -> tuple[Notice, Notice, Notice]:
    one, another, last = (notice(n, job_id=job_id, id=f"{job_id} {n}") for n in range(3))
    return one, another, last


def close_all_windows(world: World) -> None:
    """Let every digest window end and run the notifier."""
    for _ in range(3):
        world.pass_time(WINDOW)
        assert run_notifier(world) == []


def test_a_notifier_crash_at_any_call_loses_no_notice(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notifier crashes once while it publishes a notice and once while it publishes the summary of a window."""
    interruption = Interruption(world, monkeypatch)
    for at in INTERRUPTION_POINTS:
        one, another, last = three_notices(at)
        times = 2 if at in ("after 4", "before 5") else 1  # published, but not recorded as published
        send(world, one)
        assert crash_once(world, interruption, at) == PUBLISHING_CALLS[: int(at[-1])]
        assert published_titles(world) == ["weekly-quality failed"] * times, at
        send(world, another)
        run_notifier(world)
        world.pass_time(WINDOW)
        assert crash_once(world, interruption, at) == PUBLISHING_CALLS[: int(at[-1])]
        assert [summary["facts"]["more"] for summary in published_messages(world)] == [1] * times, at
        close_all_windows(world)
        send(world, last)
        run_notifier(world)
        assert published_titles(world) == ["weekly-quality failed"], at  # the window of the group had closed
        close_all_windows(world)
    assert world.receive("notifier-dead") == []


def crash_once(world: World, interruption: Interruption, at: str) -> list[str]:
    """Crash the notifier with a message, redeliver the message, and return the AWS calls made before the crash."""
    first, *more = world.receive("notices")
    interruption.plan(at, kill)
    with pytest.raises(Killed):
        world.call("notifier", {"Records": [first]})
    calls = list(interruption.calls)
    world.pass_time(VISIBILITY_TIMEOUT)
    assert world.call("notifier", {"Records": [first, *more]}) == {"batchItemFailures": []}
    return calls


def test_two_concurrent_notices_open_one_window(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    interruption = Interruption(world, monkeypatch)
    for at in INTERRUPTION_POINTS:
        one, another, _ = three_notices(at)
        send(world, one, another)
        first, second = world.receive("notices")
        interruption.plan(at, partial(world.call, "notifier", {"Records": [second]}))
        assert world.call("notifier", {"Records": [first]}) == {"batchItemFailures": []}
        close_all_windows(world)
        alone, summary = published_messages(world)
        assert {alone["execution_id"], summary["execution_id"]} == {one.execution_id, another.execution_id}, at
        assert summary["facts"]["more"] == 1


def test_two_concurrent_notifiers_close_a_window_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    interruption = Interruption(world, monkeypatch)
    for at in INTERRUPTION_POINTS:
        send(world, *three_notices(at))
        run_notifier(world)
        world.pass_time(WINDOW)
        [end] = world.receive("notices")
        interruption.plan(at, partial(world.call, "notifier", {"Records": [end]}))
        world.call("notifier", {"Records": [end]})
        world.pass_time(VISIBILITY_TIMEOUT)
        assert world.call("notifier", {"Records": [end]}) == {"batchItemFailures": []}
        close_all_windows(world)
        assert [one["facts"].get("more") for one in published_messages(world)] == [None, 2], at


@pytest.mark.parametrize("end_first", [True, False])
@pytest.mark.parametrize("before", [1, 2])
def test_a_notice_that_arrives_while_a_window_closes_is_published(
    world: World, monkeypatch: pytest.MonkeyPatch, before: int, end_first: bool
) -> None:
    """The clock of the notifier that counts the notice is behind: it still sees an open window, empty or not."""
    interruption = Interruption(world, monkeypatch)
    for at in INTERRUPTION_POINTS:
        notices = three_notices(at)
        send(world, *notices[:before])
        run_notifier(world)
        end = {"messageId": "end", "body": window_of(world, notices[0]).to_body()}
        send(world, notices[-1])
        [message] = world.receive("notices")
        one, other = (end, message) if end_first else (message, end)
        interruption.plan(at, partial(world.call, "notifier", {"Records": [other]}))
        world.call("notifier", {"Records": [one]})
        world.call("notifier", {"Records": [other]})
        close_all_windows(world)
        assert sum(one["facts"].get("more", 1) for one in published_messages(world)) == before + 1, at


def window_of(world: World, published: Notice) -> DigestWindow:
    window: DigestWindow | None = world.function("notifier").notifier.ledger.window(group_of(published))
    assert window is not None
    return window


def test_two_notifiers_that_take_over_concurrently_publish_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    interruption = Interruption(world, monkeypatch)
    take_over_calls = ["GetItem", "TransactWriteItems", "GetItem", "UpdateItem", "SendMessage", "Publish", "UpdateItem"]
    for place in range(1, len(take_over_calls) + 1):
        send(world, three_notices(f"job {place}")[0])
        [message] = world.receive("notices")
        interruption.plan("after 2", kill)
        with pytest.raises(Killed):
            world.call("notifier", {"Records": [message]})
        world.pass_time(VISIBILITY_TIMEOUT)
        interruption.plan(f"before {place}", partial(world.call, "notifier", {"Records": [message]}))
        world.call("notifier", {"Records": [message]})
        assert interruption.calls == take_over_calls[: len(interruption.calls)]
        assert published_titles(world) == ["weekly-quality failed"], place
        close_all_windows(world)


def test_only_one_of_two_notifiers_takes_over_the_same_expired_lease(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    interruption = Interruption(world, monkeypatch)
    send(world, notice())
    interruption.plan("after 4", kill)  # receiving and deleting the message are the first two
    with pytest.raises(Killed):
        run_notifier(world)
    ledger = world.function("notifier").notifier.ledger
    publication = ledger.pending(notice().id)
    assert [ledger.take_over(publication, publication.lease_until + n * timedelta(minutes=1)) for n in (1, 2)] == [
        True,
        False,
    ]
