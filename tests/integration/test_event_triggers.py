"""EventBridge events that start executions of queue jobs, as ``docs/recipes/event-triggers.md`` sets it up."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from moto.events.utils import EventTemplateParser

from tests.event_rule import pattern_and_target
from tests.integration.world import World

INTAKE = "arn:aws:sqs:us-east-1:123456789012:intake"


@pytest.fixture(autouse=True)
def times_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """EventBridge inserts the time of an event as text such as ``2026-11-16T12:00:00Z``; moto inserts seconds."""
    parse = EventTemplateParser.parse

    def parse_with_text(input_template: str, input_paths_map: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
        at = datetime.fromtimestamp(float(event["time"]), UTC)
        return parse(input_template, input_paths_map, {**event, "time": f"{at:%Y-%m-%dT%H:%M:%SZ}"})

    monkeypatch.setattr(EventTemplateParser, "parse", staticmethod(parse_with_text))


@pytest.fixture
def job_id(world: World) -> str:
    """A queue job, to which the recipe's rule sends the events of a bucket."""
    job: dict[str, Any] = world.submit(
        name="import-orders", schedule={"queue": True}, parameters={"target": "orders", "event": "none"}
    )
    pattern, target = pattern_and_target()
    transformer = target["InputTransformer"]
    template = transformer["InputTemplate"].replace("JOB_ID", job["job_id"])
    events = boto3.client("events")
    events.put_rule(Name="import-orders", EventPattern=json.dumps(pattern))
    events.put_targets(
        Rule="import-orders",
        Targets=[{"Id": "punctual", "Arn": INTAKE, "InputTransformer": {**transformer, "InputTemplate": template}}],
    )
    return str(job["job_id"])


def put_event(world: World, key: str, **changes: Any) -> None:
    detail = {"version": "0", "bucket": {"name": "incoming"}, "object": {"key": key, "size": 3}, "reason": "PutObject"}
    entry = {"Source": "aws.s3", "DetailType": "Object Created", "Time": world.now, "Detail": json.dumps(detail)}
    answer = boto3.client("events").put_events(Entries=[{**entry, **changes}])
    assert answer["FailedEntryCount"] == 0


def test_an_object_in_s3_starts_an_execution_with_the_event_as_a_parameter(world: World, job_id: str) -> None:
    put_event(world, "orders/1.csv")
    world.run_until_idle()
    [execution] = world.executions(job_id)
    assert execution["status"] == "succeeded"
    assert execution["parameters"]["target"] == "orders"
    assert execution["parameters"]["event"]["bucket"] == {"name": "incoming"}
    assert execution["parameters"]["event"]["object"] == {"key": "orders/1.csv", "size": 3}
    assert world.receive("intake-dead") == []


def test_a_key_with_special_characters_arrives_unchanged(world: World, job_id: str) -> None:
    key = 'orders/"quoted" \\ {braces} ünïcode.csv'
    put_event(world, key)
    world.run_until_idle()
    [execution] = world.executions(job_id)
    assert execution["parameters"]["event"]["object"]["key"] == key


def test_an_event_that_the_pattern_does_not_match_starts_nothing(world: World, job_id: str) -> None:
    put_event(world, "invoices/1.csv")
    put_event(world, "orders/1.csv", DetailType="Object Deleted")
    world.run_until_idle()
    assert world.executions(job_id) == []


def test_an_event_that_is_delivered_twice_has_one_execution(world: World, job_id: str) -> None:
    put_event(world, "orders/1.csv")
    [message] = world.receive("intake")
    for _ in range(2):  # EventBridge sends the event again: another message with the same content
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=message["body"])
    world.run_until_idle()
    assert len(world.executions(job_id)) == 1


def test_the_message_of_an_event_for_an_unknown_job_goes_to_the_dead_letter_queue(world: World, job_id: str) -> None:
    put_event(world, "orders/1.csv")
    [message] = world.receive("intake")
    other = message["body"].replace(job_id, "01m7j3myg0ab16wzvq72dx3zvq")
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=other)
    world.run_until_idle()
    [dead] = world.receive("intake-dead")
    assert "there is no job" in dead["messageAttributes"]["reason"]["StringValue"]
