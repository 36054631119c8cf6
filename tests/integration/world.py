"""A whole Punctual on moto: what AWS does between the functions is done here, one step at a time.

Nothing of Punctual is replaced. What the test decides is when time passes, when records and messages are
delivered, how often, in which order, whether a handler dies on the way, and how chance falls.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl

import boto3
import pytest
import time_machine

from punctual import Context
from punctual.aws.dynamodb import executions
from punctual.domain.executions.timer import Reached
from punctual.domain.instant import to_text
from tests.integration.event_sources import STREAM_CONSUMERS, EventSources, has_messages
from tests.integration.kept_clients import as_made

FUNCTIONS = Path(__file__).parents[2] / "functions"
PRIORITIES = ("high", "normal", "low")
READERS = (*PRIORITIES, "intake", "planner", "settler", "admission", "monitor", "notifier")
TOPICS = ("page", "notice")
ROLE = "arn:aws:iam::123456789012:role/schedules"
STATE_MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:long"


@dataclass
class LambdaContext:
    """What Lambda hands to a handler."""

    remaining_seconds: float = 900
    function_name: str = "test"
    aws_request_id: str = "test"

    def get_remaining_time_in_millis(self) -> int:
        return int(self.remaining_seconds * 1000)


@cache
def _client(service: str) -> Any:
    """The test's own. One for all worlds: moto answers for whichever there is, and a client is slow to make."""
    return boto3.client(service)


class World:
    def __init__(self, traveller: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch) -> None:
        self._traveller, self._monkeypatch = traveller, monkeypatch
        as_made()
        monkeypatch.setattr(executions, "PARALLEL", 1)  # moto is not made for threads
        monkeypatch.setattr(random, "uniform", lambda _, most: most)  # who rests between attempts rests the longest
        self.dynamodb, self.sqs, self.s3 = _client("dynamodb"), _client("sqs"), _client("s3")
        self._create_tables()
        self.queues = self._create_queues()
        self.topics = self._create_topics()
        self.s3.create_bucket(Bucket="results")
        for group in ("/worker", "/runner"):
            _client("logs").create_log_group(logGroupName=group)
        self.states, self.scheduler, self.ecs = (
            _client("stepfunctions"),
            _client("scheduler"),
            _client("ecs"),
        )
        self._create_long_lane()
        self._set_environment()
        self._event_sources = EventSources()
        self._functions: dict[str, ModuleType] = {}

    # time

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def pass_time(self, seconds: float) -> None:
        self._traveller.shift(timedelta(seconds=seconds))

    def idle_for(self, seconds: float) -> None:
        """Time passes in which nothing comes due: each minute the dispatcher has looked, and found nothing."""
        since = to_text(self.now)
        self.pass_time(seconds)
        until = self.now - timedelta(minutes=1)
        due = [item["due"]["S"].partition("#")[0] for item in self.items("timers")]
        assert not [one for one in due if since < one < to_text(until)]
        self.function("dispatcher").dispatcher.timers.advance(0, Reached(at=until))

    def hears_that_it_is_to_stop(self, context: Context) -> bool:
        """The lease is renewed by a thread, in real time, once ten seconds of the test's time have passed."""
        self.pass_time(11)
        end = time.monotonic() + 10
        while not context.cancelled and time.monotonic() < end:
            time.sleep(0.05)
        return context.cancelled

    # calling functions

    def function(self, name: str) -> ModuleType:
        """A function's module, freshly imported as in a new Lambda."""
        if name not in self._functions:
            self._monkeypatch.setenv("DEAD_LETTER_QUEUE_URL", self.queues.get(f"{name}-dead", "none"))
            folder = str(FUNCTIONS / name)
            for module in [one for one, loaded in sys.modules.items() if _belongs_to_functions(loaded)]:
                del sys.modules[module]
            self._monkeypatch.syspath_prepend(folder)
            self._functions[name] = importlib.import_module("handler")
            sys.path.remove(folder)
            sys.modules.pop("handler")
            if name == "worker":  # its waiting is what makes the test's time pass
                module = self._functions[name]
                module.worker = replace(module.worker, sleep=self.pass_time)
        return self._functions[name]

    def call(self, name: str, event: dict[str, Any], context: LambdaContext | None = None) -> Any:
        return self.function(name).handler(event, context or LambdaContext())

    def tick(self, shard: int = 0) -> dict[str, Any]:
        return self.call("dispatcher", {"shard": shard})

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        role: str = "operator",
        team: str = "data-quality",
        headers: dict[str, str] | None = None,
        raw_body: str | None = None,
    ) -> tuple[int, Any]:
        """A call of the API behind the gateway: status and decoded body."""
        path, _, query = path.partition("?")
        event = {
            "version": "2.0",
            "routeKey": "ANY /{proxy+}",
            "rawPath": path,
            "rawQueryString": query,
            "headers": {"content-type": "application/json", **(headers or {})},
            "requestContext": {
                "accountId": "000000000000",
                "apiId": "api",
                "http": {"method": method, "path": path, "sourceIp": "127.0.0.1", "userAgent": "test"},
                "requestId": str(uuid.uuid4()),
                "stage": "$default",
                "authorizer": {
                    "jwt": {"claims": {"username": f"{role}@{team}", "cognito:groups": f"[{role} team:{team}]"}}
                },
            },
            "isBase64Encoded": False,
        }
        if query:
            event["queryStringParameters"] = dict(parse_qsl(query, keep_blank_values=True))
        text = raw_body if raw_body is not None else (json.dumps(body) if body is not None else None)
        if text is not None:
            event["body"] = text
        answer = self.call("api", event)
        return answer["statusCode"], json.loads(answer["body"]) if answer.get("body") else None

    def submit(self, **submission: Any) -> dict[str, Any]:
        status, job = self.request("POST", "/jobs", {"task": "echo", **submission})
        assert status == 201, job
        return job

    def execution(self, execution_id: str) -> dict[str, Any]:
        status, execution = self.request("GET", f"/executions/{execution_id}")
        assert status == 200, execution
        return execution

    def executions(self, job_id: str) -> list[dict[str, Any]]:
        """A job's executions, oldest due instant first."""
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            status, page = self.request("GET", f"/jobs/{job_id}/executions?limit=100{cursor}")
            assert status == 200, page
            found += page["items"]
            if page["cursor"] is None:
                return found[::-1]
            cursor = f"&cursor={page['cursor']}"

    # what AWS does in between

    def stream_records(self, table: str, consumer: str) -> list[dict[str, Any]]:
        """The records of a table's stream that a consumer has not had, as its filter lets them through."""
        return self._event_sources.new_records(table, consumer)

    def deliver_streams(self, change: Callable[[list[Any]], list[Any]] = lambda records: records) -> int:
        """Every new record to every consumer, once; ``change`` may repeat or reorder them. How many there were."""
        delivered = 0
        for table, consumers in STREAM_CONSUMERS.items():
            for consumer in consumers:
                records = change(self.stream_records(table, consumer))
                if records:
                    self.call(consumer, {"Records": records})
                delivered += len(records)
        return delivered

    def receive(self, queue: str) -> list[dict[str, Any]]:
        """The visible messages of a queue, as Lambda would deliver them, and gone from it."""
        if not has_messages(queue):
            return []
        answer = self.sqs.receive_message(
            QueueUrl=self.queues[queue],
            MaxNumberOfMessages=10,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        messages = answer.get("Messages", [])
        for message in messages:
            self.sqs.delete_message(QueueUrl=self.queues[queue], ReceiptHandle=message["ReceiptHandle"])
        return [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "messageAttributes": message.get("MessageAttributes", {}),
                "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{queue}",
            }
            for message in messages
        ]

    def orders(self) -> list[dict[str, Any]]:
        return [message for priority in PRIORITIES for message in self.receive(priority)]

    def work(self, message: dict[str, Any]) -> dict[str, Any]:
        return self.call("worker", {"Records": [message]})

    def take_in(self) -> None:
        if messages := self.receive("intake"):
            self.call("intake", {"Records": messages})

    def watch(self) -> dict[str, Any]:
        """The monitor's minute."""
        return self.call("monitor", {"do": "tick"})

    def look(self) -> int:
        """Hand the looks at deadlines that are due to the monitor. How many."""
        messages = self.receive("checks")
        if messages:
            assert self.call("monitor", {"Records": messages}) == {"batchItemFailures": []}
        return len(messages)

    def tell(self) -> list[dict[str, Any]]:
        """Hand what is to be told to the notifier. What a subscriber of the topic ``notice`` hears of it."""
        while messages := self.receive("notices"):
            assert self.call("notifier", {"Records": messages}) == {"batchItemFailures": []}
        return [json.loads(message["Message"]) for message in self.told("notice")]

    def settle_down(self, rounds: int = 50) -> None:
        """Deliver everything that can be delivered now, until nothing moves."""
        for _ in range(rounds):
            self.take_in()
            moved = self.deliver_streams()
            for message in self.orders():
                self.work(message)
                moved += 1
            if not moved:
                return
        raise AssertionError("it does not come to rest")

    def run_for(self, seconds: int, step: int = 1) -> None:
        """Let time pass in steps, with a tick each minute, delivering everything as it comes."""
        for second in range(0, seconds, step):
            if second % 60 == 0:
                self.tick()
            self.settle_down()
            self.pass_time(step)
        self.settle_down()

    def start_container(self) -> str:
        """A task on Fargate. Its ARN."""
        subnet = _client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
        network = {"awsvpcConfiguration": {"subnets": [subnet], "securityGroups": []}}
        answer = self.ecs.run_task(
            cluster="long", taskDefinition="runner", launchType="FARGATE", networkConfiguration=network
        )
        return answer["tasks"][0]["taskArn"]

    def told(self, topic: str) -> list[dict[str, Any]]:
        """What was published to a topic since the last look, as a subscribed queue gets it."""
        return [json.loads(message["body"]) for message in self.receive(f"{topic}-told")]

    def items(self, table: str) -> list[dict[str, Any]]:
        return self.dynamodb.scan(TableName=table)["Items"]

    # making it

    def _create_tables(self) -> None:
        self._table("jobs", ["job_id"], {"by_owner": ["owner", "job_id"]}, stream="NEW_AND_OLD_IMAGES")
        indexes = {
            "by_owner": ["owner", "execution_id"],
            "running": ["running_shard", "execution_id"],
            "long": ["long_shard", "execution_id"],
            "checks": ["check_shard", "check_at"],
            "deadlines": ["deadline_shard", "danger"],
        }
        self._table("executions", ["job_id", "execution_id"], indexes, stream="NEW_AND_OLD_IMAGES")
        indexes = {"waiting": ["waiting", "turn"], "holding": ["holding", "execution_id"]}
        self._table("parts", ["execution_id", "part"], indexes, stream="NEW_AND_OLD_IMAGES")
        self._table("timers", ["slot", "due"], {}, stream="OLD_IMAGE")
        self._table("idempotency", ["id"], {}, stream=None)
        self._table("signals", ["id"], {}, stream=None)
        self._table("gates", ["gate", "entry"], {}, stream=None)

    def _table(self, name: str, key: list[str], indexes: dict[str, list[str]], stream: str | None) -> None:
        attributes = {*key, *(name for index in indexes.values() for name in index)}
        request: dict[str, Any] = {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": _key_schema(key),
            "AttributeDefinitions": [{"AttributeName": one, "AttributeType": "S"} for one in sorted(attributes)],
        }
        if indexes:
            request["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": index,
                    "KeySchema": _key_schema(key),
                    "Projection": {"ProjectionType": "ALL" if name == "jobs" or index == "waiting" else "KEYS_ONLY"},
                }
                for index, key in indexes.items()
            ]
        if stream:
            request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream}
        self.dynamodb.create_table(**request)

    def _create_long_lane(self) -> None:
        definition = json.dumps({"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 1, "End": True}}})
        self.states.create_state_machine(name="long", definition=definition, roleArn=ROLE)
        self.scheduler.create_schedule_group(Name="long")
        self.ecs.create_cluster(clusterName="long")
        self.ecs.register_task_definition(
            family="runner",
            requiresCompatibilities=["FARGATE"],
            networkMode="awsvpc",
            cpu="256",
            memory="512",
            containerDefinitions=[{"name": "runner", "image": "runner", "memory": 512}],
        )

    def _create_queues(self) -> dict[str, str]:
        names = [
            *PRIORITIES,
            "intake",
            "checks",
            "notices",
            *(f"{one}-dead" for one in READERS),
            *(f"{topic}-told" for topic in TOPICS),
        ]
        return {name: self.sqs.create_queue(QueueName=name)["QueueUrl"] for name in names}

    def _create_topics(self) -> dict[str, str]:
        sns = _client("sns")
        topics = {name: sns.create_topic(Name=name)["TopicArn"] for name in TOPICS}
        for name, arn in topics.items():
            sns.subscribe(TopicArn=arn, Protocol="sqs", Endpoint=f"arn:aws:sqs:us-east-1:123456789012:{name}-told")
        return topics

    def _set_environment(self) -> None:
        settings = {
            "PUNCTUAL_STAGE": "test",
            "JOBS_TABLE": "jobs",
            "EXECUTIONS_TABLE": "executions",
            "TIMERS_TABLE": "timers",
            "IDEMPOTENCY_TABLE": "idempotency",
            "RESULTS_BUCKET": "results",
            "WORKER_LOG_GROUP": "/worker",
            "RUNNER_LOG_GROUP": "/runner",
            "PARTS_TABLE": "parts",
            "CLUSTER": "long",
            "STATE_MACHINE_ARN": STATE_MACHINE,
            "SCHEDULE_GROUP": "long",
            "SCHEDULE_ROLE_ARN": ROLE,
            "LONG_IMAGES": "shell",
            "LONG_VCPUS": "4",
            "LONG_TASKS": "4",
            "LONG_STARTS_PER_SECOND": "20",
            "HEARTBEAT_SECONDS": "10",
            "TASK_DEFINITIONS": json.dumps({"": "runner", "shell": "shell"}),
            "RETENTION_DAYS": "90",
            "TIMER_SHARDS": "1",
            "SIGNALS_TABLE": "signals",
            "GATES_TABLE": "gates",
            "CONCURRENCY": json.dumps({"high": 10, "normal": 10, "low": 4, "intake": 2}),
            "BACKLOG_MINUTES": "2",
            "BACKLOG_MESSAGES": "1000",
            "DEAD_LETTER_QUEUE_URLS": json.dumps([self.queues[f"{one}-dead"] for one in READERS]),
            **{f"{one.upper()}_QUEUE_URL": self.queues[one] for one in ("intake", "checks", "notices")},
            **{f"{one.upper()}_TOPIC_ARN": arn for one, arn in self.topics.items()},
            **{f"{one.upper()}_QUEUE_URL": self.queues[one] for one in PRIORITIES},
            **{f"{one.upper()}_DEAD_LETTER_QUEUE_URL": self.queues[f"{one}-dead"] for one in PRIORITIES},
        }
        for name, value in settings.items():
            self._monkeypatch.setenv(name, value)


def _key_schema(names: list[str]) -> list[dict[str, str]]:
    return [{"AttributeName": one, "KeyType": kind} for one, kind in zip(names, ("HASH", "RANGE"), strict=False)]


def _belongs_to_functions(module: ModuleType) -> bool:
    return str(getattr(module, "__file__", None) or "").startswith(str(FUNCTIONS))
