"""A complete Punctual on moto. The test plays the role of AWS between the functions, one step at a time.

No code of Punctual is replaced. The test controls the clock, the delivery of stream records and messages (when, how
often, in which order), crashes of handlers, and random numbers.
"""

from __future__ import annotations

import base64
import importlib
import json
import random
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs

import boto3
import pytest
import time_machine

from punctual import Context
from punctual.aws import clients
from punctual.aws.dynamodb import executions
from punctual.domain.executions.timer import SweepPosition
from punctual.domain.instant import to_text
from punctual.runtime.tasks.execution_log import ExecutionLog
from punctual.runtime.tasks.lease import Lease
from tests.integration.event_sources import STREAM_CONSUMERS, EventSources, has_messages
from tests.integration.prepared_aws import ACCOUNT, REGION, prepare
from tests.integration.shared_clients import SHARED_CLIENTS, reset_clients
from tests.integration.users import Users
from tests.permissions import needed, refused
from tests.resources import (
    PRIORITIES,
    ROLE,
    TOPICS,
    create_tables,
    environment,
    queue_names,
)

FUNCTIONS = Path(__file__).parents[2] / "functions"


@dataclass
class LambdaContext:
    """The context object that Lambda passes to a handler."""

    remaining_seconds: float = 900
    function_name: str = "test"
    aws_request_id: str = "test"

    def get_remaining_time_in_millis(self) -> int:
        return int(self.remaining_seconds * 1000)


def runner_overrides(environment: Mapping[str, str]) -> dict[str, Any]:
    """The overrides of an ECS task with these variables."""
    variables = [{"name": name, "value": value} for name, value in environment.items()]
    return {"containerOverrides": [{"name": "runner", "environment": variables}]}


QUEUES = [*queue_names(), *(f"{topic}-subscriber" for topic in TOPICS)]
USED_PERMISSIONS: set[tuple[str, str, str]] = set()
"""The function, action and resource of each permission that the tests of this process have used."""
SHARDS = {"S": "#shards"}
STATELESS = ("answers", "bodies", "views")
"""Packages of the api without settings or clients. Creating their models takes longer than most tests."""


@cache
def _client(service: str) -> Any:
    """A client of the test itself. Shared by all worlds: moto serves the active mock, and creating a client is slow.

    It must not keep the credentials of a task, which expire.
    """
    return boto3.client(service, aws_access_key_id="testing", aws_secret_access_key="testing")


class World:
    """All functions, tables, queues and topics of Punctual, on moto."""

    def __init__(self, traveller: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch) -> None:
        self._traveller, self._monkeypatch = traveller, monkeypatch
        reset_clients()
        monkeypatch.setattr(executions, "MAX_PARALLEL_WRITES", 1)  # moto is not thread-safe
        # for the same reason: the thread that stores log lines waits until the attempt ends
        monkeypatch.setitem(ExecutionLog.__init__.__kwdefaults__, "interval_seconds", 3600)
        monkeypatch.setattr(random, "uniform", lambda _, longest: longest)  # every backoff is the maximum
        self._renew_leases_on_demand()
        self.dynamodb, self.sqs, self.s3 = _client("dynamodb"), _client("sqs"), _client("s3")
        self.states, self.scheduler, self.ecs = (
            _client("stepfunctions"),
            _client("scheduler"),
            _client("ecs"),
        )
        prepare(self._create_tables_and_queues)
        self._create_topics()
        self._create_long_lane()
        self.s3.create_bucket(Bucket="results")
        self.queues = {name: f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}" for name in QUEUES}
        self.topics = {name: f"arn:aws:sns:{REGION}:{ACCOUNT}:{name}" for name in TOPICS}
        for name, value in environment(self.queues, self.topics).items():
            monkeypatch.setenv(name, value)
        self._event_sources = EventSources()
        self._functions: dict[str, ModuleType] = {}
        self._calling: list[str] = []
        self.aws_requests: list[str] = []
        """The operations that the functions have requested, in order."""
        self.refused: set[str] = set()
        """Requests that AWS would refuse: the role of the function that made them does not allow them."""
        self.users = Users()
        self.users.answer(clients.cognito())
        for client in (create() for create in SHARED_CLIENTS):
            client.meta.events.register("provide-client-params", self._check_permissions)

    # time

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def pass_time(self, seconds: float) -> None:
        self._traveller.shift(timedelta(seconds=seconds))

    def idle_for(self, seconds: float) -> None:
        """Let time pass in which no timer falls due, as if the dispatcher had swept every minute without a result."""
        since = to_text(self.now)
        self.pass_time(seconds)
        until = self.now - timedelta(minutes=1)
        due = [item["due"]["S"].partition("#")[0] for item in self.items("timers")]
        assert not [one for one in due if since < one < to_text(until)]
        self.function("dispatcher").dispatcher.timers.advance(0, SweepPosition(at=until))

    def wait_for_cancellation(self, context: Context) -> bool:
        """Wait until a running task sees its cancellation. Returns whether it did.

        A thread renews the lease and reads the cancellation. It polls in real time, and renews once 10 seconds of the
        test's time have passed.
        """
        self.pass_time(11)
        self.renews_leases = True
        give_up_at = time.monotonic() + 120
        while not context.cancelled and time.monotonic() < give_up_at:
            time.sleep(0.05)
        self.renews_leases = False
        return context.cancelled

    def _renew_leases_on_demand(self) -> None:
        """Let the thread of a running task renew its lease only while ``renews_leases`` is set.

        The thread runs in real time: without this, the speed of the machine would decide whether a lease expires.
        """
        self.renews_leases = False
        is_due = Lease._is_renewal_due
        self._monkeypatch.setattr(
            Lease, "_is_renewal_due", lambda lease, now: self.renews_leases and is_due(lease, now)
        )

    # calling functions

    def function(self, name: str) -> ModuleType:
        """A function's handler module, imported once per world, as in a cold start."""
        if name not in self._functions:
            self._monkeypatch.setenv("DEAD_LETTER_QUEUE_URL", self.queues.get(f"{name}-dead", "none"))
            folder = str(FUNCTIONS / name)
            for module in [one for one, loaded in sys.modules.items() if _belongs_to_functions(loaded)]:
                if module.partition(".")[0] not in STATELESS:
                    del sys.modules[module]
            self._monkeypatch.syspath_prepend(folder)
            self._functions[name] = importlib.import_module("handler")
            sys.path.remove(folder)
            sys.modules.pop("handler")
            if name == "worker":  # when the worker sleeps, the test's clock advances
                module = self._functions[name]
                module.worker = replace(module.worker, sleep=self.pass_time)
        return self._functions[name]

    def start_processes(self) -> None:
        """The next call of each function is a cold start."""
        self._functions.clear()

    def call(self, name: str, event: dict[str, Any], context: LambdaContext | None = None) -> Any:
        handler = self.function(name).handler
        self._calling.append(name)
        try:
            return handler(event, context or LambdaContext())
        finally:
            self._calling.pop()

    def _check_permissions(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if self._calling:
            caller, service = self._calling[-1], model.service_model.service_name
            self.aws_requests.append(model.name)
            USED_PERMISSIONS.update((caller, one.action, one.resource) for one in needed(service, model.name, params))
            for permission in refused(caller, service, model.name, params):
                self.refused.add(f"{caller} may not {permission}")

    def tick(self, shard: int = 0, shards: int = 1) -> dict[str, Any]:
        return self.call("dispatcher", {"shard": shard, "shards": shards})

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        role: str = "operator",
        team: str = "data-quality",
        headers: dict[str, str] | None = None,
        raw_body: str | bytes | None = None,
        groups: str | None = None,
        claims: dict[str, str] | None = None,
    ) -> tuple[int, Any]:
        """Call the API as API Gateway does. Returns the status and the decoded body.

        The caller has the groups ``role`` and ``team:<team>``, or those in ``groups``, separated by spaces. ``claims``
        replace those of the token.
        """
        answer = self.respond(
            method, path, body, role=role, team=team, headers=headers, raw_body=raw_body, groups=groups, claims=claims
        )
        return answer["statusCode"], json.loads(answer["body"]) if answer.get("body") else None

    def respond(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        role: str = "operator",
        team: str = "data-quality",
        headers: dict[str, str] | None = None,
        raw_body: str | bytes | None = None,
        groups: str | None = None,
        claims: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Call the API as ``request`` does. Returns what its function returns to API Gateway."""
        path, _, query = path.partition("?")
        named = f"[{groups or f'{role} team:{team}'}]"
        claims = {"token_use": "access", "username": f"{role}@{team}", "cognito:groups": named, **(claims or {})}
        self.users.sign_in(claims["username"], claims["cognito:groups"])
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
                "authorizer": {"jwt": {"claims": claims}},
            },
            "isBase64Encoded": False,
        }
        if query:
            values = parse_qs(query, keep_blank_values=True)
            event["queryStringParameters"] = {name: ",".join(several) for name, several in values.items()}
        if isinstance(raw_body, bytes):  # as API Gateway encodes a body that is not text
            event["isBase64Encoded"], raw_body = True, base64.b64encode(raw_body).decode()
        text = raw_body if raw_body is not None else (json.dumps(body) if body is not None else None)
        if text is not None:
            event["body"] = text
        answer: dict[str, Any] = self.call("api", event)
        return answer

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
                return sorted(found, key=lambda one: str(one["execution_id"]))
            cursor = f"&cursor={page['cursor']}"

    # deliveries that AWS makes

    def stream_records(self, table: str, consumer: str) -> list[dict[str, Any]]:
        """New records of a table's stream for a consumer, after its event filter. Each record is returned once."""
        return self._event_sources.new_records(table, consumer)

    def deliver_streams(self, change: Callable[[list[Any]], list[Any]] = lambda records: records) -> int:
        """Deliver every new record to every consumer. Returns how many. ``change`` may repeat or reorder records."""
        delivered = 0
        for table, consumers in STREAM_CONSUMERS.items():
            for consumer in consumers:
                records = change(self.stream_records(table, consumer))
                if records:
                    self.call(consumer, {"Records": records})
                delivered += len(records)
        return delivered

    def receive(self, queue: str) -> list[dict[str, Any]]:
        """Receive and delete up to 10 visible messages of a queue, in the form of a Lambda event."""
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
        """Receive work orders from all work queues."""
        return [message for priority in PRIORITIES for message in self.receive(priority)]

    def work(self, message: dict[str, Any]) -> dict[str, Any]:
        """Deliver one work order to the worker."""
        return self.call("worker", {"Records": [message]})

    def deliver_intake(self) -> None:
        """Deliver the messages of the intake queue."""
        if messages := self.receive("intake"):
            self.call("intake", {"Records": messages})

    def deliver_bulk(self) -> int:
        """Deliver messages about bulk operations until none is left. Returns how many there were."""
        delivered = 0
        while messages := self.receive("bulk"):
            for message in messages:
                assert self.call("bulk", {"Records": [message]}) == {"batchItemFailures": []}
            delivered += len(messages)
        return delivered

    def monitor_tick(self) -> dict[str, Any]:
        """The monitor's invocation each minute."""
        return self.call("monitor", {"do": "tick"})

    def deliver_checks(self) -> int:
        """Deliver the deadline checks that are due to the monitor. Returns how many."""
        messages = self.receive("checks")
        if messages:
            assert self.call("monitor", {"Records": messages}) == {"batchItemFailures": []}
        return len(messages)

    def deliver_notices(self) -> list[dict[str, Any]]:
        """Deliver the notices to the notifier. Returns the messages that it published to the topic ``notice``."""
        while messages := self.receive("notices"):
            assert self.call("notifier", {"Records": messages}) == {"batchItemFailures": []}
        return [json.loads(message["Message"]) for message in self.published("notice")]

    def run_until_idle(self, rounds: int = 50) -> None:
        """Deliver records and messages until none is left."""
        for _ in range(rounds):
            self.deliver_intake()
            delivered = self.deliver_streams()
            for message in self.orders():
                self.work(message)
                delivered += 1
            if not delivered:
                return
        raise AssertionError(f"there are still records or messages to deliver after {rounds} rounds")

    def run_for(self, seconds: int, step: int = 1) -> None:
        """Let time pass in steps, with a dispatcher tick each minute, and deliver everything after each step."""
        for second in range(0, seconds, step):
            if second % 60 == 0:
                self.tick()
            self.run_until_idle()
            self.pass_time(step)
        self.run_until_idle()

    def start_container(self, environment: Mapping[str, str]) -> str:
        """Start an ECS task on Fargate. Returns its ARN."""
        subnet = _client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
        network = {"awsvpcConfiguration": {"subnets": [subnet], "securityGroups": []}}
        answer = self.ecs.run_task(
            cluster="long",
            taskDefinition="runner",
            launchType="FARGATE",
            networkConfiguration=network,
            overrides=runner_overrides(environment),
        )
        return answer["tasks"][0]["taskArn"]

    def published(self, topic: str) -> list[dict[str, Any]]:
        """Messages published to a topic since the last call, as a subscribed queue receives them."""
        return [json.loads(message["body"]) for message in self.receive(f"{topic}-subscriber")]

    def items(self, table: str) -> list[dict[str, Any]]:
        """All items of a table except the numbers of shards and the set of owners."""
        found = self.dynamodb.scan(TableName=table)["Items"]
        return [item for item in found if "owners" not in item and item.get("execution_id") != SHARDS]

    # setup

    def _create_tables_and_queues(self) -> None:
        create_tables(self.dynamodb)
        for name in QUEUES:
            self.sqs.create_queue(QueueName=name)

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

    def _create_topics(self) -> None:
        sns = _client("sns")
        for name in TOPICS:
            arn = sns.create_topic(Name=name)["TopicArn"]
            subscriber = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}-subscriber"
            sns.subscribe(TopicArn=arn, Protocol="sqs", Endpoint=subscriber)


def _belongs_to_functions(module: ModuleType) -> bool:
    return str(getattr(module, "__file__", None) or "").startswith(str(FUNCTIONS))
