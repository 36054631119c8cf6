"""Notices on their way from the queue to those who listen."""

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
from punctual.domain.jobs.notify_rule import Event, Notify, Topic
from punctual.domain.notices.digest_window import GROUP_WINDOW, MOST_NAMED, DigestWindow, group_of
from punctual.domain.notices.notice import Notice, outcome_notice
from punctual.domain.status import Status
from tests.integration.odd_tasks import Killed
from tests.integration.world import World

DUE = datetime(2026, 11, 16, 11, 55, tzinfo=UTC)
WINDOW = GROUP_WINDOW.total_seconds()
HIDDEN = 180


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
    told = outcome_notice(execution, "weekly-quality", Notify(frozenset(Event), to))
    assert told is not None
    return replace(told, event=event, **fields)


def send(world: World, *notices: Notice) -> None:
    SqsNotices(world.queues["notices"], aws.sqs).send(notices)


def hear(world: World) -> list[dict[str, Any]]:
    """Have the notifier hear all that is on its queue; the messages that it returned as failed."""
    failed = []
    while messages := world.receive("notices"):
        answer = world.call("notifier", {"Records": messages})
        returned = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        failed += [message for message in messages if message["messageId"] in returned]
    return failed


def told(world: World, topic: str = "notice") -> list[dict[str, Any]]:
    """What was published since the last look: the message's fields."""
    published = []
    while envelopes := world.told(topic):
        published += [json.loads(envelope["Message"]) for envelope in envelopes]
    return published


def titles(world: World, topic: str = "notice") -> list[str]:
    return [one["title"] for one in told(world, topic)]


def refusal(operation: str) -> ClientError:
    return ClientError({"Error": {"Code": "InternalError", "Message": "no answer"}}, operation)


def test_a_notice_is_told_to_its_topic_with_all_that_it_says(world: World) -> None:
    page = notice(to=Topic.PAGE)
    send(world, page)
    assert hear(world) == []
    [envelope] = world.told("page")
    assert envelope["Subject"] == "weekly-quality failed"
    assert json.loads(envelope["Message"]) == json.loads(page.to_body())
    assert {name: one["Value"] for name, one in envelope["MessageAttributes"].items()} == {
        "owner": "team-a",
        "job": "weekly-quality",
        "job_id": "job",
        "event": "failed",
    }
    assert world.told("notice") == []


def test_an_email_is_the_readable_text(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[dict[str, Any]] = []
    world.function("notifier")
    monkeypatch.setattr(aws.sns(), "publish", lambda **request: requests.append(request))
    send(world, notice())
    hear(world)
    [request] = requests
    assert request["MessageStructure"] == "json"
    assert json.loads(request["Message"])["email"] == notice().text


def test_a_subject_is_one_short_line_of_ascii(world: World) -> None:
    subjects = {
        "Qualität\tder Woche\nist «rot»": "Qualitat der Woche ist ?rot?",
        "n" * 200: "n" * 96 + "...",
        "n" * 99: "n" * 99,
        "\n\x07": "Punctual",
    }
    send(world, *(notice(title=title, id=title, job_id=str(n)) for n, title in enumerate(subjects)))
    assert hear(world) == []
    envelopes = world.told("notice")
    assert {json.loads(one["Message"])["title"]: one["Subject"] for one in envelopes} == subjects


def test_attributes_are_never_empty_nor_of_several_lines(world: World) -> None:
    send(world, notice(owner="\n", job_name=" weekly \x00\n quality "))
    assert hear(world) == []
    [envelope] = world.told("notice")
    values = {name: one["Value"] for name, one in envelope["MessageAttributes"].items()}
    assert (values["owner"], values["job"]) == ("-", "weekly quality")


def test_a_subscriber_hears_only_what_it_filters_for(world: World) -> None:
    world.queues["mine"] = world.sqs.create_queue(QueueName="mine")["QueueUrl"]
    boto3.client("sns").subscribe(
        TopicArn=world.topics["notice"],
        Protocol="sqs",
        Endpoint="arn:aws:sqs:us-east-1:123456789012:mine",
        Attributes={"FilterPolicy": json.dumps({"owner": ["team-b"], "event": ["failed", "missed"]})},
    )
    owners = {"a": "team-a", "b": "team-b"}
    send(world, *(notice(job_id=name, id=name, owner=owner) for name, owner in owners.items()))
    send(world, notice(job_id="b", id="c", owner="team-b", event=Event.RECOVERED))
    hear(world)
    assert len(told(world)) == 3
    [mine] = world.receive("mine")
    assert json.loads(json.loads(mine["body"])["Message"])["id"] == "b"


def test_a_notice_that_comes_again_is_told_once(world: World) -> None:
    send(world, notice(), notice())
    messages = world.receive("notices")
    for order in (messages, messages[::-1]):
        assert world.call("notifier", {"Records": order}) == {"batchItemFailures": []}
    world.pass_time(2 * WINDOW)
    hear(world)
    world.call("notifier", {"Records": messages})
    assert titles(world) == ["weekly-quality failed"]


def test_a_job_that_fails_every_minute_is_told_in_summaries(world: World) -> None:
    for minute in range(30):
        send(world, notice(minute))
        hear(world)
        world.pass_time(60)
        hear(world)
    first, *summaries = told(world)
    assert first["title"] == "weekly-quality failed"
    assert [one["title"] for one in summaries] == [
        f"weekly-quality failed {times} more times in 15 minutes" for times in (14, 15)
    ]
    assert "no rows in 14" in summaries[0]["text"]
    assert "no rows in 13" not in summaries[0]["text"]
    for summary, numbers in zip(summaries, (range(1, 15), range(15, 30)), strict=True):
        assert summary["facts"]["executions"] == [notice(number).execution_id for number in numbers]
    world.pass_time(WINDOW)
    hear(world)
    send(world, notice(99))
    hear(world)
    assert titles(world) == ["weekly-quality failed"]  # it was quiet for a window: told at once again


def test_a_summary_names_so_many_and_counts_the_rest(world: World) -> None:
    send(world, *(notice(number) for number in range(MOST_NAMED + 6)))
    hear(world)
    world.pass_time(WINDOW)
    hear(world)
    _, summary = told(world)
    assert summary["facts"]["more"] == MOST_NAMED + 5
    assert len(summary["facts"]["executions"]) == MOST_NAMED
    assert summary["text"].endswith("and others")


def test_the_latest_is_the_one_that_happened_last_whatever_came_last(world: World) -> None:
    send(world, notice(1))
    hear(world)
    for number in (3, 2):
        send(world, notice(number))
        hear(world)
    world.pass_time(WINDOW)
    hear(world)
    _, summary = told(world)
    assert summary["execution_id"] == notice(3).execution_id
    assert summary["facts"]["more"] == 2


def test_a_window_whose_end_is_lost_is_told_with_the_next_notice(world: World) -> None:
    for number in (1, 2):
        send(world, notice(number))
        hear(world)
    world.pass_time(WINDOW)
    [_lost] = world.receive("notices")
    send(world, notice(3))
    hear(world)
    assert titles(world) == ["weekly-quality failed", "weekly-quality failed 2 more times in 15 minutes"]


def test_the_ledger_forgets_after_the_retention_time(world: World) -> None:
    for number in (1, 2):
        send(world, notice(number))
        hear(world)
    items = {item["id"]["S"]: item for item in world.items("signals")}
    first, second = (f"notice#{notice(number).id}" for number in (1, 2))
    assert set(items) == {first, second, "group#job#failed#notice"}
    expiry = int((world.now + timedelta(days=90)).timestamp())
    assert {int(item["expires_at"]["N"]) for item in items.values()} == {expiry}
    assert (items[first]["state"]["S"], items[second]["state"]["S"]) == ("told", "counted")
    assert set(items[first]) == {"id", "state", "expires_at"}


# what goes wrong


def test_what_nobody_can_read_is_buried_at_once_with_the_reason(world: World) -> None:
    fields = json.loads(notice().to_body())
    reasons = {
        "{broken": "JSONDecodeError",
        "[" * 100_000: "RecursionError",
        "{}": "not a notice",
        json.dumps({**fields, "to": "everybody"}): "'everybody'",
        json.dumps({**fields, "id": "x" * 3000}): "the limit is 1,000",
        '{"window_until": "soon", "job_id": "job", "event": "failed", "to": "page"}': "end of a window",
    }
    for body in reasons:
        world.sqs.send_message(QueueUrl=world.queues["notices"], MessageBody=body)
    send(world, notice())
    assert hear(world) == []
    dead = world.receive("notifier-dead")
    buried = {one["body"]: one["messageAttributes"]["reason"]["StringValue"] for one in dead}
    assert set(buried) == set(reasons)
    assert all(reason in buried[body] for body, reason in reasons.items()), buried.values()
    assert titles(world) == ["weekly-quality failed"]


def test_what_cannot_even_be_buried_comes_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.sqs.send_message(QueueUrl=world.queues["notices"], MessageBody="{broken")
    messages = world.receive("notices")
    world.function("notifier")

    def refuse(**_request: Any) -> None:
        raise refusal("SendMessage")

    monkeypatch.setattr(aws.sqs(), "send_message", refuse)
    answer = world.call("notifier", {"Records": messages})
    assert answer == {"batchItemFailures": [{"itemIdentifier": messages[0]["messageId"]}]}


def test_a_notice_that_a_topic_refuses_comes_back_alone_and_is_told_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.function("notifier")
    real = aws.sns().publish

    def refuses_one(**request: Any) -> Any:
        if request["MessageAttributes"]["job_id"]["StringValue"] == "b":
            raise refusal("Publish")
        return real(**request)

    send(world, *(notice(job_id=name, id=name) for name in "abc"))
    monkeypatch.setattr(aws.sns(), "publish", refuses_one)
    failed = hear(world)
    assert [json.loads(message["body"])["job_id"] for message in failed] == ["b"]
    assert sorted(one["job_id"] for one in told(world)) == ["a", "c"]
    monkeypatch.undo()
    world.pass_time(HIDDEN)
    assert world.call("notifier", {"Records": failed}) == {"batchItemFailures": []}
    assert [one["job_id"] for one in told(world)] == ["b"]


def test_a_notice_that_another_is_telling_comes_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert titles(world) == ["weekly-quality failed"]


def test_a_notice_that_the_queue_refuses_is_an_error_of_whose_fault_it_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = {"Id": "0", "Code": "InternalError", "SenderFault": False, "Message": "not today"}
    monkeypatch.setattr(aws.sqs(), "send_message_batch", lambda **_: {"Failed": [refused]})
    with pytest.raises(ClientError, match="1 of 2 messages were refused: not today"):
        send(world, notice(1), notice(2))
    refused |= {"SenderFault": True}
    with pytest.raises(ValueError, match="1 of 2 messages were refused: not today"):
        send(world, notice(1), notice(2))


class Interruption:
    """Something happens at the n-th call of AWS: before it, or when it is done."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        world.function("notifier")
        self.calls: list[str] = []
        self._at, self._act = "", kill
        real = BaseClient._make_api_call

        def call(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
            self.calls.append(operation)
            place = len(self.calls)
            self._reached(f"before {place}")
            answer = real(client, operation, request)
            self._reached(f"after {place}")
            return answer

        monkeypatch.setattr(BaseClient, "_make_api_call", call)

    def plan(self, at: str, act: Callable[[], Any]) -> None:
        self.calls, self._at, self._act = [], at, act

    def _reached(self, place: str) -> None:
        if place == self._at:
            self._at = ""
            calls = list(self.calls)  # what another does meanwhile is not among them
            try:
                self._act()
            finally:
                self.calls = calls


def kill() -> None:
    raise Killed


TELLING = ["GetItem", "TransactWriteItems", "SendMessage", "Publish", "UpdateItem"]
PLACES = [f"{when} {place}" for place in range(1, len(TELLING) + 1) for when in ("before", "after")]


def several(job_id: str) -> tuple[Notice, Notice, Notice]:
    one, another, last = (notice(n, job_id=job_id, id=f"{job_id} {n}") for n in range(3))
    return one, another, last


def quiet_down(world: World) -> None:
    """Let all windows end."""
    for _ in range(3):
        world.pass_time(WINDOW)
        assert hear(world) == []


def test_a_notifier_that_dies_anywhere_loses_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both as it tells a notice, and as it tells the summary of a window."""
    interruption = Interruption(world, monkeypatch)
    for at in PLACES:
        one, another, last = several(at)
        times = 2 if at in ("after 4", "before 5") else 1  # published, and not written down that it was
        send(world, one)
        assert die_once(world, interruption, at) == TELLING[: int(at[-1])]
        assert titles(world) == ["weekly-quality failed"] * times, at
        send(world, another)
        hear(world)
        world.pass_time(WINDOW)
        assert die_once(world, interruption, at) == TELLING[: int(at[-1])]
        assert [summary["facts"]["more"] for summary in told(world)] == [1] * times, at
        quiet_down(world)
        send(world, last)
        hear(world)
        assert titles(world) == ["weekly-quality failed"], at  # the group had closed
        quiet_down(world)
    assert world.receive("notifier-dead") == []


def die_once(world: World, interruption: Interruption, at: str) -> list[str]:
    """Have the notifier die with a message, and hear it again later. What it did until it died."""
    first, *more = world.receive("notices")
    interruption.plan(at, kill)
    with pytest.raises(Killed):
        world.call("notifier", {"Records": [first]})
    calls = list(interruption.calls)
    world.pass_time(HIDDEN)
    assert world.call("notifier", {"Records": [first, *more]}) == {"batchItemFailures": []}
    return calls


def test_two_notices_at_once_open_one_window(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    interruption = Interruption(world, monkeypatch)
    for at in PLACES:
        one, another, _ = several(at)
        send(world, one, another)
        first, second = world.receive("notices")
        interruption.plan(at, partial(world.call, "notifier", {"Records": [second]}))
        assert world.call("notifier", {"Records": [first]}) == {"batchItemFailures": []}
        quiet_down(world)
        alone, summary = told(world)
        assert {alone["execution_id"], summary["execution_id"]} == {one.execution_id, another.execution_id}, at
        assert summary["facts"]["more"] == 1


def test_two_at_once_end_a_window_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    interruption = Interruption(world, monkeypatch)
    for at in PLACES:
        send(world, *several(at))
        hear(world)
        world.pass_time(WINDOW)
        [end] = world.receive("notices")
        interruption.plan(at, partial(world.call, "notifier", {"Records": [end]}))
        world.call("notifier", {"Records": [end]})
        world.pass_time(HIDDEN)
        assert world.call("notifier", {"Records": [end]}) == {"batchItemFailures": []}
        quiet_down(world)
        assert [one["facts"].get("more") for one in told(world)] == [None, 2], at


@pytest.mark.parametrize("end_first", [True, False])
@pytest.mark.parametrize("before", [1, 2])
def test_a_notice_that_comes_as_a_window_ends_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch, before: int, end_first: bool
) -> None:
    """By the clock of whoever counts it, the window is open still, whether there is something in it or not."""
    interruption = Interruption(world, monkeypatch)
    for at in PLACES:
        notices = several(at)
        send(world, *notices[:before])
        hear(world)
        end = {"messageId": "end", "body": window_of(world, notices[0]).to_body()}
        send(world, notices[-1])
        [message] = world.receive("notices")
        one, other = (end, message) if end_first else (message, end)
        interruption.plan(at, partial(world.call, "notifier", {"Records": [other]}))
        world.call("notifier", {"Records": [one]})
        world.call("notifier", {"Records": [other]})
        quiet_down(world)
        assert sum(one["facts"].get("more", 1) for one in told(world)) == before + 1, at


def window_of(world: World, told: Notice) -> DigestWindow:
    window: DigestWindow | None = world.function("notifier").notifier.ledger.window(group_of(told))
    assert window is not None
    return window


def test_two_that_take_over_at_once_tell_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    interruption = Interruption(world, monkeypatch)
    taking_over = ["GetItem", "TransactWriteItems", "GetItem", "UpdateItem", "SendMessage", "Publish", "UpdateItem"]
    for place in range(1, len(taking_over) + 1):
        send(world, several(f"job {place}")[0])
        [message] = world.receive("notices")
        interruption.plan("after 2", kill)
        with pytest.raises(Killed):
            world.call("notifier", {"Records": [message]})
        world.pass_time(HIDDEN)
        interruption.plan(f"before {place}", partial(world.call, "notifier", {"Records": [message]}))
        world.call("notifier", {"Records": [message]})
        assert interruption.calls == taking_over[: len(interruption.calls)]
        assert titles(world) == ["weekly-quality failed"], place
        quiet_down(world)


def test_of_two_who_saw_the_same_lapsed_lease_one_takes_over(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    interruption = Interruption(world, monkeypatch)
    send(world, notice())
    interruption.plan("after 4", kill)  # receiving and deleting the message are the first two
    with pytest.raises(Killed):
        hear(world)
    ledger = world.function("notifier").notifier.ledger
    telling = ledger.due(notice().id)
    assert [ledger.take_over(telling, telling.lease_until + n * timedelta(minutes=1)) for n in (1, 2)] == [True, False]
