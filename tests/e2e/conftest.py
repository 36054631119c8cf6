"""Fixtures of the end-to-end tests: one stack per session, deployed by the CDK command line to its own emulator."""

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
def early_jobs(punctual: Punctual) -> dict[str, dict[str, Any]]:
    """Slow jobs, by name. They run while other tests do: submitted before the first test, checked by later ones."""
    far_ahead = {"parameters": {"hello": "later"}, "schedule": {"at": to_text(soon(250))}}  # beyond the horizon
    next_minute = {"cron": "* * * * *", "max_runs": 1}
    jobs = punctual.submit_all(
        {"name": "far", **far_ahead},
        {"name": "far and long", "lane": "long", **far_ahead},
        {"name": "cron", "schedule": {**next_minute, "timezone": "Australia/Lord_Howe"}},
        {"name": "early load", "task": "sleep", "parameters": {"seconds": 3}, "schedule": next_minute},
        {"name": "early report", "schedule": next_minute, "depends_on": [{"job": "early load"}]},
    )
    return {job["name"]: job for job in jobs}


@pytest.fixture(autouse=True)
def _no_dead_letters(punctual: Punctual) -> Iterator[None]:
    """Every test leaves the dead-letter queues empty. A test that provokes dead letters receives them itself."""
    yield
    assert punctual.dead_letters() == {}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
