"""The state machine's own heartbeat: what finds a silent container when nothing else does. moto enforces it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from moto import mock_aws

ASL = Path(__file__).parents[2] / "cdk" / "state_machines" / "long.asl.json"
GRANT: Final[dict[str, Any]] = {
    "attempt": 1,
    "task_definition": "runner",
    "capacity": [],
    "cpu": "1024",
    "memory": "2048",
    "command": ["python", "-m", "punctual.runtime.container.main"],
    "order": "{}",
    "start_at": "2026-11-16T12:00:00.000Z",
    "timeout_seconds": 30,
    "heartbeat_seconds": 2,
}


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Step Functions that runs what it is given, beside ECS."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield boto3.client("stepfunctions")


def running(states: Any) -> tuple[str, str]:
    """A run that stands at ``Run``, and its token. What follows only keeps what was caught.

    moto cannot start a container from a state machine, so the token goes to a queue; how long the state waits, for
    what, and what it does then is the real one's.
    """
    sqs = boto3.client("sqs")
    queue = sqs.create_queue(QueueName="containers")["QueueUrl"]
    run = json.loads(ASL.read_text())["States"]["Parts"]["ItemProcessor"]["States"]["Run"]
    run["Resource"] = "arn:aws:states:::sqs:sendMessage.waitForTaskToken"
    run["Parameters"] = {"QueueUrl": queue, "MessageBody": {"token.$": "$$.Task.Token"}}
    definition = {"StartAt": "Run", "States": {"Run": run, "Settle": {"Type": "Pass", "End": True}}}
    role = "arn:aws:iam::123456789012:role/states"
    machine = states.create_state_machine(name="run", definition=json.dumps(definition), roleArn=role)
    started = states.start_execution(stateMachineArn=machine["stateMachineArn"], input=json.dumps({"grant": GRANT}))
    end = time.monotonic() + 10
    while not (messages := sqs.receive_message(QueueUrl=queue).get("Messages")):
        assert time.monotonic() < end, "no container was started"
    return started["executionArn"], json.loads(messages[0]["Body"])["token"]


def ended(states: Any, run: str) -> dict[str, Any]:
    end = time.monotonic() + 30
    while (described := states.describe_execution(executionArn=run))["status"] == "RUNNING":
        assert time.monotonic() < end, "it runs on"
        time.sleep(0.1)
    assert described["status"] == "SUCCEEDED", described
    return dict(json.loads(described["output"]))


def test_a_container_that_never_beats_is_given_up_when_its_heartbeat_is_due(states: Any) -> None:
    started = time.monotonic()
    run, _token = running(states)
    caught = ended(states, run)["error"]
    assert caught["Error"] == "States.Timeout"  # moto's word for it; AWS says States.HeartbeatTimeout
    assert time.monotonic() - started < GRANT["timeout_seconds"] / 2


def test_one_that_beats_is_waited_for(states: Any) -> None:
    run, token = running(states)
    for _ in range(int(GRANT["heartbeat_seconds"] * 2)):
        time.sleep(GRANT["heartbeat_seconds"] / 2)  # the heart beats in real time
        states.send_task_heartbeat(taskToken=token)
        assert states.describe_execution(executionArn=run)["status"] == "RUNNING"
    states.send_task_success(taskToken=token, output="{}")
    assert "error" not in ended(states, run)
