"""The heartbeat timeout of the state machine, the last safeguard against a container that hangs. moto enforces it."""

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
    "assignment": "{}",
    "start_at": "2026-11-16T12:00:00.000Z",
    "timeout_seconds": 240,
    "heartbeat_seconds": 3,
}


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Step Functions client whose state machines moto really executes."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield boto3.client("stepfunctions")


def start_run(states: Any, name: str) -> tuple[str, str]:
    """Start a run that waits in the state ``Run``; return its ARN and task token. Later states only keep the error.

    moto cannot start a container from a state machine, so the token is sent to a queue. The timeouts, the heartbeat
    and the error handling are those of the deployed definition.
    """
    sqs = boto3.client("sqs")
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    run = json.loads(ASL.read_text())["States"]["Parts"]["ItemProcessor"]["States"]["Run"]
    run["Resource"] = "arn:aws:states:::sqs:sendMessage.waitForTaskToken"
    run["Parameters"] = {"QueueUrl": queue, "MessageBody": {"token.$": "$$.Task.Token"}}
    definition = {"StartAt": "Run", "States": {"Run": run, "ConcludeAttempt": {"Type": "Pass", "End": True}}}
    role = "arn:aws:iam::123456789012:role/states"
    machine = states.create_state_machine(name=name, definition=json.dumps(definition), roleArn=role)
    started = states.start_execution(stateMachineArn=machine["stateMachineArn"], input=json.dumps({"grant": GRANT}))
    end = time.monotonic() + 120
    while not (messages := sqs.receive_message(QueueUrl=queue).get("Messages")):
        assert time.monotonic() < end, "no container was started"
    return started["executionArn"], json.loads(messages[0]["Body"])["token"]


def is_running(states: Any, run: str) -> bool:
    return bool(states.describe_execution(executionArn=run)["status"] == "RUNNING")


def wait_until_ended(states: Any, run: str) -> dict[str, Any]:
    end = time.monotonic() + 300
    while (described := states.describe_execution(executionArn=run))["status"] == "RUNNING":
        assert time.monotonic() < end, "the run has not ended"
        time.sleep(0.1)
    assert described["status"] == "SUCCEEDED", described
    return dict(json.loads(described["output"]))


def test_only_a_container_without_heartbeats_is_failed_after_the_heartbeat_timeout(states: Any) -> None:
    """Both containers start at the same time. One of them sends heartbeats until the other one has been failed."""
    started = time.monotonic()
    alive, token = start_run(states, "alive")
    silent, _token = start_run(states, "silent")
    while is_running(states, silent):
        states.send_task_heartbeat(taskToken=token)
        assert time.monotonic() - started < GRANT["timeout_seconds"] / 2, "only the timeout of the task is left"
        time.sleep(0.1)
    caught = wait_until_ended(states, silent)["error"]
    assert caught["Error"] == "States.Timeout"  # moto's error name; AWS reports States.HeartbeatTimeout
    assert is_running(states, alive)
    states.send_task_success(taskToken=token, output="{}")
    assert "error" not in wait_until_ended(states, alive)
