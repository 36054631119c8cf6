"""One deployed stack for all end-to-end tests: its own emulator, port and state, by the real CDK command line."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from local.stack import Stack
from punctual.domain.instant import to_text
from tests.e2e.punctual import Punctual, soon


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.at(tmp_path_factory.mktemp("stack"), free_port())
    try:
        yield stack
    finally:
        stack.down()


@pytest.fixture(scope="session")
def punctual(stack: Stack) -> Punctual:
    return Punctual(stack.up())


@pytest.fixture(scope="session", autouse=True)
def begun(punctual: Punctual) -> dict[str, dict[str, Any]]:
    """Jobs by name that take their time. Submitted first and looked at late: nobody waits for them."""
    far_ahead = {"parameters": {"hello": "later"}, "schedule": {"at": to_text(soon(250))}}  # than the planner reaches
    next_minute = {"cron": "* * * * *", "max_runs": 1}
    jobs = punctual.submit_all(
        {"name": "far", **far_ahead},
        {"name": "far and long", "lane": "long", **far_ahead},
        {"name": "cron", "schedule": {**next_minute, "timezone": "Australia/Lord_Howe"}},
        {"name": "load", "task": "sleep", "parameters": {"seconds": 3}, "schedule": next_minute},
        {"name": "report", "schedule": next_minute, "depends_on": [{"job": "load"}]},
    )
    return {job["name"]: job for job in jobs}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
