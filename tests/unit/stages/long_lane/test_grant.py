from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status
from punctual.stages.long_lane.grant import RUNNER_COMMAND, GrantSender

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
PART = Part(
    execution_id="e",
    name="all",
    job_id="j",
    owner="o",
    status=Status.STARTING,
    cpu=1024,
    memory_mb=2048,
    latest_start=NOW,
    expected_seconds=60,
    timeout_seconds=3600,
    attempt=2,
    tickets=frozenset({"ticket"}),
    key="key",
)


@dataclass
class Answers:
    """Records the answers to task tokens."""

    succeeded: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)

    def succeed(self, tokens: Iterable[str], answer: Mapping[str, Any]) -> bool:
        self.succeeded |= dict.fromkeys(tokens, answer)
        return True

    def fail(self, tokens: Iterable[str], error: str, cause: str) -> bool:
        self.failed |= dict.fromkeys(tokens, (error, cause))
        return True

    def heartbeat(self, tokens: Iterable[str]) -> bool:  # noqa: ARG002
        return True


def sender(answers: Answers, *, heartbeat_seconds: int = 30) -> GrantSender:
    return GrantSender(answers, {"": "runner:1", "shell": "shell:1"}, heartbeat_seconds, lambda: NOW)


def grant_of(part: Part, **settings: int) -> Mapping[str, Any]:
    answers = Answers()
    sender(answers, **settings).send(part)
    return answers.succeeded["ticket"]


def test_a_grant_has_everything_that_starts_the_container() -> None:
    grant = dict(grant_of(PART))
    assert json.loads(grant.pop("assignment")) == {
        "job_id": "j",
        "execution_id": "e",
        "part": "all",
        "attempt": 2,
        "key": "key",
    }
    assert grant == {
        "attempt": 2,
        "task_definition": "runner:1",
        "capacity": [{"CapacityProvider": "FARGATE", "Weight": 1}],
        "cpu": "1024",
        "memory": "2048",
        "command": RUNNER_COMMAND,
        "start_at": "2026-11-16T12:00:00.000Z",
        "timeout_seconds": 3960,
        "heartbeat_seconds": 300,
    }


def test_an_own_image_has_its_own_command_and_no_earlier_heartbeat_timeout_than_its_timeout() -> None:
    grant = grant_of(replace(PART, image="shell", command=("true",), spot=True))
    assert (grant["task_definition"], grant["command"]) == ("shell:1", ["true"])
    assert grant["capacity"] == [{"CapacityProvider": "FARGATE_SPOT", "Weight": 1}]
    assert grant["heartbeat_seconds"] == grant["timeout_seconds"] - 1


@pytest.mark.parametrize(("interval", "timeout"), [(30, 300), (100, 300), (200, 600)])
def test_the_heartbeat_timeout_covers_the_start_and_three_heartbeats(interval: int, timeout: int) -> None:
    assert grant_of(PART, heartbeat_seconds=interval)["heartbeat_seconds"] == timeout


def test_a_part_whose_image_was_removed_from_the_settings_is_failed() -> None:
    answers = Answers()
    sender(answers).send(replace(PART, image="gone"))
    assert answers.succeeded == {}
    [(error, cause)] = answers.failed.values()
    assert error == "Punctual.Impossible"
    assert "'gone' is no longer in the stack's settings" in cause
