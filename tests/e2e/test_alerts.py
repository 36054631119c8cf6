"""Deadline forecasts, alarms and notices of the deployed stack, as received by subscribers of its topics."""

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
from tests.e2e.punctual import Punctual, wait_for

FLOOD = 360
SAMPLE_INTERVAL = timedelta(seconds=22)
"""Time between two queue samples, from which the monitor computes rates."""


class Subscriber:
    """A queue subscribed to a topic, and all messages that it has received."""

    def __init__(self, punctual: Punctual, topic: str) -> None:
        self._sqs, sns = punctual.aws("sqs"), punctual.aws("sns")
        self._url = self._sqs.create_queue(QueueName=f"{topic}-subscriber")["QueueUrl"]
        attributes = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])["Attributes"]
        sns.subscribe(TopicArn=punctual.stack["topics"][topic], Protocol="sqs", Endpoint=attributes["QueueArn"])
        self._received: list[dict[str, Any]] = []

    @property
    def messages(self) -> list[dict[str, Any]]:
        while messages := self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                self._received.append(json.loads(message["Body"]))
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return self._received

    def notices(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """The notices about a job, oldest first."""
        notices = [json.loads(one["Message"]) for one in self.messages if "MessageAttributes" in one]
        return [one for one in notices if one["job_id"] == job["job_id"]]

    def state_changes(self, alarm: str) -> list[str]:
        """The state changes of an alarm, oldest first. A first ``OK`` is its initial state, not a change."""
        changes = [json.loads(one["Message"]) for one in self.messages if "MessageAttributes" not in one]
        own = [one for one in changes if one["AlarmName"].endswith(f"-{alarm}")]
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
    """A job that expects 30 seconds of work and has a deadline after 240 seconds. Its first steps are slow."""
    del notice, page  # subscribed before the job starts
    return punctual.submit(
        name="slowed",
        task="steps",
        parameters={"seconds": [30, 60, *[0.5] * 10]},
        expected_seconds=30,
        deadline={"within_seconds": 240},
    )


@pytest.fixture(autouse=True)
def _slowed_first(slowed: dict[str, Any]) -> None:
    """Start the slowed job before the first test."""


def alarm_state(punctual: Punctual, name: str) -> str:
    answer = punctual.aws("cloudwatch").describe_alarms(AlarmNames=[f"Punctual-local-{name}"])
    return str(answer["MetricAlarms"][0]["StateValue"])


def test_a_slowed_job_is_reported_at_risk_with_its_cause_well_before_its_deadline(
    punctual: Punctual, notice: Subscriber, slowed: dict[str, Any]
) -> None:
    def in_danger() -> dict[str, Any] | None:
        [execution] = punctual.executions(slowed) or [None]
        return execution if execution and execution["deadline"]["state"] in ("at_risk", "will_miss") else None

    execution = wait_for(in_danger, 60, "the slowed job to be in danger")
    deadline = execution["deadline"]
    left = from_text(deadline["at"]) - datetime.now(UTC)
    assert left.total_seconds() > 40
    assert deadline["probability"] < 0.8
    assert punctual.get("/deadlines")["items"][0]["execution_id"] == execution["execution_id"]
    wait_for(lambda: alarm_state(punctual, "DeadlineAtRisk") == "ALARM", 30, "the alarm")
    notices = wait_for(lambda: notice.notices(slowed), 30, "the notice")
    assert notices[0]["event"] in ("deadline_at_risk", "will_miss")
    assert "slower than usual" in notices[0]["facts"]["cause"]
    assert "see its log" in notices[0]["facts"]["remedy"]
    attributes = next(one["MessageAttributes"] for one in notice.messages if "MessageAttributes" in one)
    assert {name: value["Value"] for name, value in attributes.items()}.items() >= {
        "event": notices[0]["event"],
        "job": "slowed",
        "owner": slowed["owner"],
    }.items()


def test_api_errors_trigger_a_page(punctual: Punctual, page: Subscriber) -> None:
    """The API fails on a malformed job item. Without owner and state, lists and the planner's stream ignore it."""
    job_id = new_job_id(datetime.now(UTC))
    jobs = {"TableName": punctual.stack["tables"]["jobs"]}
    punctual.aws("dynamodb").put_item(**jobs, Item={"job_id": {"S": job_id}, "schedule": {"S": "no schedule"}})
    errors = 0
    while alarm_state(punctual, "ApiErrors") != "ALARM" and errors < 30:
        assert punctual.request("GET", f"/jobs/{job_id}").status_code == 500
        errors += 1
    assert 5 < errors < 30  # the threshold is more than 5 per minute; a minute may end in between
    wait_for(lambda: page.state_changes("ApiErrors") == ["ALARM"], 30, "the page")
    punctual.aws("dynamodb").delete_item(**jobs, Key={"job_id": {"S": job_id}})


def test_a_reader_far_behind_its_stream_triggers_a_page(punctual: Punctual, page: Subscriber) -> None:
    """The planner receives a record that is five minutes old and has no other effect."""
    table, made = punctual.stack["tables"]["jobs"], time.time() - 300
    change = {"ApproximateCreationDateTime": made, "NewImage": {"job_id": {"S": "long ago"}}}
    record = {"eventName": "MODIFY", "eventSourceARN": f"arn:aws:dynamodb:table/{table}/stream", "dynamodb": change}
    assert alarm_state(punctual, "StreamBehind") != "ALARM"
    assert "FunctionError" not in punctual.invoke("planner", {"Records": [record]})
    assert alarm_state(punctual, "StreamBehind") == "ALARM"
    wait_for(lambda: page.state_changes("StreamBehind") == ["ALARM"], 30, "the page")


def test_throttled_calls_of_a_function_trigger_a_notice(punctual: Punctual, notice: Subscriber) -> None:
    """The emulator never throttles, so the reconciler uses a DynamoDB endpoint that throttles every request."""
    assert alarm_state(punctual, "Throttled") != "ALARM"
    with throttling_dynamodb() as url, environment(punctual, "reconciler", AWS_ENDPOINT_URL_DYNAMODB=url):
        answer = punctual.invoke("reconciler", {})
    assert "ThrottlingException" in answer["Payload"].read().decode()
    assert alarm_state(punctual, "Throttled") == "ALARM"
    wait_for(lambda: notice.state_changes("Throttled") == ["ALARM"], 30, "the notice")
    assert "FunctionError" not in punctual.invoke("reconciler", {})


@contextmanager
def throttling_dynamodb() -> Iterator[str]:
    """Serve a DynamoDB endpoint that throttles every request, and yield its URL."""

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
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def environment(punctual: Punctual, name: str, **more: str) -> Iterator[None]:
    """Add environment variables to a function, and remove them afterwards."""
    client, function = punctual.aws("lambda"), {"FunctionName": punctual.stack["functions"][name]}
    variables = client.get_function_configuration(**function)["Environment"]["Variables"]
    client.update_function_configuration(**function, Environment={"Variables": {**variables, **more}})
    try:
        yield
    finally:
        client.update_function_configuration(**function, Environment={"Variables": variables})


def test_the_recovery_of_the_slowed_job_is_reported_and_every_notice_is_sent_once(
    punctual: Punctual, notice: Subscriber, slowed: dict[str, Any]
) -> None:
    def recovered() -> list[str] | None:
        events = [one["event"] for one in notice.notices(slowed)]
        return events if events[-1:] == ["recovered"] else None

    wait_for(recovered, 60, "the recovery")
    [execution] = punctual.wait_for_end(slowed)
    assert execution["status"] == "succeeded"
    events = recovered()
    assert events is not None
    assert len(events) == len(set(events))


def test_a_flooded_queue_alarms_and_its_drain_time_is_forecast(punctual: Punctual, page: Subscriber) -> None:
    second = {"task": "sleep", "parameters": {"seconds": 1}, "priority": "low"}
    flood = {job["job_id"] for job in punctual.submit_all(*[{**second, "name": f"flood-{n}"} for n in range(FLOOD)])}

    def waiting() -> int:
        low = {"QueueUrl": punctual.stack["queues"]["low"], "AttributeNames": ["ApproximateNumberOfMessages"]}
        return int(punctual.aws("sqs").get_queue_attributes(**low)["Attributes"]["ApproximateNumberOfMessages"])

    def arrived() -> bool:
        """All jobs are planned. Until then the workers that start compete with the planner for the CPU."""
        pages = punctual.aws("dynamodb").get_paginator("scan")
        planned = pages.paginate(TableName=punctual.stack["tables"]["executions"], ProjectionExpression="job_id")
        return flood <= {item["job_id"]["S"] for page in planned for item in page["Items"]}

    def last_sample_is_old() -> bool:
        """Also if the monitor's scheduled tick took another sample meanwhile."""
        return datetime.now(UTC) - from_text(punctual.get("/queues")["at"]) >= SAMPLE_INTERVAL

    wait_for(arrived, 60, "the flood to arrive")
    punctual.tick()
    wait_for(last_sample_is_old, 90, "two queue samples that are far enough apart")
    punctual.tick()
    low = next(one for one in punctual.get("/queues")["items"] if one["queue"] == "low")
    assert low["drain_minutes"] == pytest.approx(low["depth"] / low["capacity_per_minute"], rel=0.05)
    wait_for(lambda: page.state_changes("BacklogDrainTime") == ["ALARM"], 30, "the page")
    wait_for(lambda: waiting() == 0, 300, "the flood to be worked off")


def test_alarms_return_to_ok_and_every_state_change_is_sent_once(
    punctual: Punctual, notice: Subscriber, page: Subscriber
) -> None:
    on_page = ("BacklogDrainTime", "ApiErrors", "StreamBehind")
    subscribers = {"DeadlineAtRisk": notice, **dict.fromkeys(on_page, page), "Throttled": notice}

    def over() -> bool:
        punctual.tick()
        return all(alarm_state(punctual, name) == "OK" for name in subscribers)

    wait_for(over, 330, "all alarms to be over", every=2)

    def sent() -> dict[str, list[str]]:
        return {name: subscriber.state_changes(name) for name, subscriber in subscribers.items()}

    wait_for(lambda: all(changes[-1:] == ["OK"] for changes in sent().values()), 60, "a message for every OK")
    assert sent() == {name: ["ALARM", "OK"] for name in subscribers}


def test_the_overview_shows_queues_slots_and_deadlines(punctual: Punctual) -> None:
    overview = punctual.get("/overview")
    assert {one["queue"] for one in overview["queues"]} == {"high", "normal", "low", "intake"}
    idle = {"tasks": 8, "vcpus": 4, "taken_tasks": 0, "taken_vcpus": 0, "waiting_tasks": 0}  # LOCAL in cdk/settings.py
    wait_for(lambda: punctual.get("/overview")["slots"] == idle, 60, "the slots of an idle long lane")
    assert overview["deadlines"]["missed"] == 0
    dashboards = punctual.aws("cloudwatch").list_dashboards()["DashboardEntries"]
    assert punctual.stack["dashboard"] in [one["DashboardName"] for one in dashboards]
