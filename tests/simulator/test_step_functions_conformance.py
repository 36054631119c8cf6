"""The model of Step Functions answers like moto: the same random operations on runs.

Task tokens are not compared: moto issues none without executing the state machine. tests/e2e uses the emulator's.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
import time_machine
from botocore.exceptions import ClientError
from moto import mock_aws

from tests.simulator.aws.account import Account

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:long"
RUN = "arn:aws:states:us-east-1:123456789012:execution:long:"
ROLE = "arn:aws:iam::123456789012:role/states"
DEFINITION = json.dumps({"StartAt": "End", "States": {"End": {"Type": "Succeed"}}})
NAMES = ("a", "b", "c", "d")
COMPARED = ("executionArn", "stateMachineArn", "name", "status", "input", "startDate")
"""Not ``stopDate``: moto changes it when an ended run is stopped again."""


@pytest.fixture
def traveller(monkeypatch: pytest.MonkeyPatch) -> Iterator[time_machine.Traveller]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with time_machine.travel(START, tick=False) as traveller, mock_aws():
        yield traveller


def answer(client: Any, operation: str, parameters: dict[str, Any]) -> Any:
    """The response in a form that can be compared, or the code of the error."""
    try:
        response = getattr(client, operation)(**parameters)
    except ClientError as error:
        return error.response["Error"]["Code"]
    if operation == "list_executions":
        return sorted(map(fields, response["executions"]), key=lambda run: str(run["name"]))
    return fields(response)


def fields(response: dict[str, Any]) -> dict[str, Any]:
    return {name: response[name] for name in COMPARED if name in response}


def random_request(rng: random.Random) -> tuple[str, dict[str, Any]]:
    run = {"executionArn": RUN + rng.choice([*NAMES, "unknown"])}
    name, given = rng.choice(NAMES), rng.choice(['{"n": 1}', '{"n": 2}'])
    started = {"stateMachineArn": MACHINE, "name": name, "input": given}
    status = rng.choice([{}, {"statusFilter": "RUNNING"}, {"statusFilter": "ABORTED"}])
    return rng.choice(
        [
            ("start_execution", started),
            ("stop_execution", run),
            ("describe_execution", run),
            ("list_executions", {"stateMachineArn": MACHINE, **status}),
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_model_answers_like_moto(traveller: time_machine.Traveller, seed: int) -> None:
    rng = random.Random(seed)
    model, moto = Account(lambda: datetime.now(UTC)).client("stepfunctions"), boto3.client("stepfunctions")
    moto.create_state_machine(name="long", definition=DEFINITION, roleArn=ROLE)
    for number in range(60):
        operation, parameters = random_request(rng)
        ours, theirs = (answer(client, operation, parameters) for client in (model, moto))
        assert ours == theirs, (number, operation, parameters)
        traveller.shift(timedelta(seconds=1))
