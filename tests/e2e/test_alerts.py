"""Told before it is late: forecasts, alarms and notices of the deployed stack, as subscribers of its topics hear."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from punctual.domain.identity import new_job_id
from punctual.domain.instant import from_text
from tests.e2e.punctual import Punctual, awaited

FLOOD = 360
SPAN = timedelta(seconds=22)
"""Between two looks at the queues that tell their rates."""


class Subscriber:
    """A queue that is subscribed to a topic, and all that it has heard."""

    def __init__(self, punctual: Punctual, topic: str) -> None:
        self._sqs, sns = punctual.aws("sqs"), punctual.aws("sns")
        self._url = self._sqs.create_queue(QueueName=f"{topic}-subscriber")["QueueUrl"]
        attributes = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])["Attributes"]
        sns.subscribe(TopicArn=punctual.stack["topics"][topic], Protocol="sqs", Endpoint=attributes["QueueArn"])
        self._heard: list[dict[str, Any]] = []

    @property
    def heard(self) -> list[dict[str, Any]]:
        while messages := self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                self._heard.append(json.loads(message["Body"]))
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return self._heard

    def notices(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """What was told of a job, oldest first."""
        told = [json.loads(one["Message"]) for one in self.heard if "MessageAttributes" in one]
        return [one for one in told if one["job_id"] == job["job_id"]]

    def changes_of(self, alarm: str) -> list[str]:
        """The states that an alarm has told, oldest first. That it was all right when it first looked is no change."""
        told = [json.loads(one["Message"]) for one in self.heard if "MessageAttributes" not in one]
        own = [one for one in told if one["AlarmName"].endswith(f"-{alarm}")]
        states = [one["NewStateValue"] for one in own]
        return states[1:] if states[:1] == ["OK"] else states


@pytest.fixture(scope="module")
def notice(punctual: Punctual) -> Subscriber:
    return Subscriber(punctual, "notice")


@pytest.fixture(scope="module")
def page(punctual: Punctual) -> Subscriber:
    return Subscriber(punctual, "page")


@pytest.fixture(scope="module")
def slowed(punctual: Punctual, notice: Subscriber, page: Subscriber) -> dict[str, Any]:
    """Half a minute's work with a deadline after 100 seconds, which takes its time at first."""
    del notice, page  # they listen before it starts
    return punctual.submit(
        name="slowed",
        task="steps",
        parameters={"seconds": [12, 12, 12, 12, 1, 1, 1, 1, 1, 9]},
        expected_seconds=30,
        deadline={"within_seconds": 100},
    )


@pytest.fixture(autouse=True)
def _first(slowed: dict[str, Any]) -> None:
    """It is under way before anything else."""


def tick(punctual: Punctual) -> dict[str, float]:
    """The monitor's minute, now: what alarms watch."""
    figures: dict[str, float] = json.loads(invoke(punctual, "monitor", {"do": "tick"})["Payload"].read())["figures"]
    return figures


def invoke(punctual: Punctual, name: str, event: dict[str, Any]) -> dict[str, Any]:
    """Wake a function by hand. How that went."""
    function = punctual.stack["functions"][name]
    answer: dict[str, Any] = punctual.aws("lambda").invoke(FunctionName=function, Payload=json.dumps(event))
    return answer


def alarm(punctual: Punctual, name: str) -> str:
    answer = punctual.aws("cloudwatch").describe_alarms(AlarmNames=[f"Punctual-{name}"])
    return str(answer["MetricAlarms"][0]["StateValue"])


def test_a_job_slowed_on_purpose_is_at_risk_well_before_its_deadline_and_says_why(
    punctual: Punctual, notice: Subscriber, slowed: dict[str, Any]
) -> None:
    def in_danger() -> dict[str, Any] | None:
        [execution] = punctual.executions(slowed) or [None]
        return execution if execution and execution["deadline"]["state"] in ("at_risk", "will_miss") else None

    execution = awaited(in_danger, 60, "the slowed job to be in danger")
    deadline = execution["deadline"]
    left = from_text(deadline["at"]) - datetime.now(UTC)
    assert left.total_seconds() > 40
    assert deadline["probability"] < 0.8
    assert punctual.get("/deadlines")["items"][0]["execution_id"] == execution["execution_id"]
    awaited(lambda: alarm(punctual, "DeadlineAtRisk") == "ALARM", 30, "the alarm")
    told = awaited(lambda: notice.notices(slowed), 30, "the notice")
    assert told[0]["event"] in ("deadline_at_risk", "will_miss")
    assert "slower than usual" in told[0]["facts"]["cause"]
    assert "see its log" in told[0]["facts"]["remedy"]
    attributes = next(one["MessageAttributes"] for one in notice.heard if "MessageAttributes" in one)
    assert {name: value["Value"] for name, value in attributes.items()}.items() >= {
        "event": told[0]["event"],
        "job": "slowed",
        "owner": slowed["owner"],
    }.items()


def test_an_api_that_fails_pages(punctual: Punctual, page: Subscriber) -> None:
    """A job that nobody can read. It is in nobody's list, and the planner does not hear of it."""
    job_id = new_job_id(datetime.now(UTC))
    jobs = {"TableName": punctual.stack["tables"]["jobs"]}
    punctual.aws("dynamodb").put_item(**jobs, Item={"job_id": {"S": job_id}, "schedule": {"S": "no schedule"}})
    for _ in range(6):
        assert alarm(punctual, "ApiErrors") != "ALARM"  # five a minute are not too many
        assert punctual.request("GET", f"/jobs/{job_id}").status_code == 500
    assert alarm(punctual, "ApiErrors") == "ALARM"
    awaited(lambda: page.changes_of("ApiErrors") == ["ALARM"], 30, "the page")
    punctual.aws("dynamodb").delete_item(**jobs, Key={"job_id": {"S": job_id}})


def test_a_reader_that_is_far_behind_its_stream_pages(punctual: Punctual, page: Subscriber) -> None:
    """It is given a change of minutes ago, which means nothing but that."""
    table, made = punctual.stack["tables"]["jobs"], time.time() - 300
    change = {"ApproximateCreationDateTime": made, "NewImage": {"job_id": {"S": "long ago"}}}
    record = {"eventName": "MODIFY", "eventSourceARN": f"arn:aws:dynamodb:table/{table}/stream", "dynamodb": change}
    assert alarm(punctual, "StreamBehind") != "ALARM"
    assert "FunctionError" not in invoke(punctual, "planner", {"Records": [record]})
    assert alarm(punctual, "StreamBehind") == "ALARM"
    awaited(lambda: page.changes_of("StreamBehind") == ["ALARM"], 30, "the page")


def test_a_function_whose_calls_are_refused_is_told_of(punctual: Punctual, notice: Subscriber) -> None:
    """The emulator refuses nobody. So the reconciler is sent to a DynamoDB that refuses everybody."""
    assert alarm(punctual, "Throttled") != "ALARM"
    with full_dynamodb() as url, environment(punctual, "reconciler", AWS_ENDPOINT_URL_DYNAMODB=url):
        answer = invoke(punctual, "reconciler", {})
    assert "ThrottlingException" in answer["Payload"].read().decode()
    assert alarm(punctual, "Throttled") == "ALARM"
    awaited(lambda: notice.changes_of("Throttled") == ["ALARM"], 30, "the notice")
    assert "FunctionError" not in invoke(punctual, "reconciler", {})


@contextmanager
def full_dynamodb() -> Iterator[str]:
    """Where a DynamoDB answers that has no capacity for anybody."""

    class Refusal(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException"}).encode()
            self.send_response(400)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing to say."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def environment(punctual: Punctual, name: str, **more: str) -> Iterator[None]:
    """A function has these variables, too, and then no longer."""
    client, function = punctual.aws("lambda"), {"FunctionName": punctual.stack["functions"][name]}
    variables = client.get_function_configuration(**function)["Environment"]["Variables"]
    client.update_function_configuration(**function, Environment={"Variables": {**variables, **more}})
    try:
        yield
    finally:
        client.update_function_configuration(**function, Environment={"Variables": variables})


def test_its_recovery_is_told_too_and_each_thing_once(
    punctual: Punctual, notice: Subscriber, slowed: dict[str, Any]
) -> None:
    def recovered() -> list[str] | None:
        events = [one["event"] for one in notice.notices(slowed)]
        return events if events[-1:] == ["recovered"] else None

    awaited(recovered, 60, "the recovery")
    [execution] = punctual.ended(slowed)
    assert execution["status"] == "succeeded"
    events = recovered()
    assert events is not None
    assert len(events) == len(set(events))


def test_a_flooded_queue_alarms_with_the_time_that_it_then_takes(punctual: Punctual, page: Subscriber) -> None:
    second = {"task": "sleep", "parameters": {"seconds": 1}, "priority": "low"}
    flood = {job["job_id"] for job in punctual.submit_all(*[{**second, "name": f"flood-{n}"} for n in range(FLOOD)])}

    def waiting() -> int:
        low = {"QueueUrl": punctual.stack["queues"]["low"], "AttributeNames": ["ApproximateNumberOfMessages"]}
        return int(punctual.aws("sqs").get_queue_attributes(**low)["Attributes"]["ApproximateNumberOfMessages"])

    def arrived() -> bool:
        """All of it: while it comes, workers start up and share their processors with the planner."""
        pages = punctual.aws("dynamodb").get_paginator("scan")
        planned = pages.paginate(TableName=punctual.stack["tables"]["executions"], ProjectionExpression="job_id")
        return flood <= {item["job_id"]["S"] for page in planned for item in page["Items"]}

    def last_look_is_old() -> bool:
        """The monitor's own minute may fall between."""
        return datetime.now(UTC) - from_text(punctual.get("/queues")["at"]) >= SPAN

    awaited(arrived, 60, "the flood to arrive")
    tick(punctual)
    awaited(last_look_is_old, 90, "two looks at the queues that are far enough apart")
    tick(punctual)
    low = next(one for one in punctual.get("/queues")["items"] if one["queue"] == "low")
    assert low["drain_minutes"] is not None
    began = time.monotonic()
    awaited(lambda: waiting() == 0, 300, "the flood to be worked off")
    observed = (time.monotonic() - began) / 60
    assert low["drain_minutes"] == pytest.approx(observed, rel=0.25)
    assert "ALARM" in page.changes_of("BacklogDrainTime")


def test_alarms_return_to_ok_and_each_change_is_told_once(
    punctual: Punctual, notice: Subscriber, page: Subscriber
) -> None:
    on_page = ("BacklogDrainTime", "ApiErrors", "StreamBehind")
    told = {"DeadlineAtRisk": notice, **dict.fromkeys(on_page, page), "Throttled": notice}
    for name, subscriber in told.items():

        def over(name: str = name) -> bool:
            tick(punctual)
            return alarm(punctual, name) == "OK"

        awaited(over, 330, f"{name} to be over")
        assert subscriber.changes_of(name) == ["ALARM", "OK"]


def test_the_overview_shows_it_all(punctual: Punctual) -> None:
    overview = punctual.get("/overview")
    assert {one["queue"] for one in overview["queues"]} == {"high", "normal", "low", "intake"}
    assert overview["slots"]["tasks"] >= overview["slots"]["taken_tasks"] >= 0
    assert overview["deadlines"]["missed"] == 0
    dashboards = punctual.aws("cloudwatch").list_dashboards()["DashboardEntries"]
    assert punctual.stack["dashboard"] in [one["DashboardName"] for one in dashboards]
