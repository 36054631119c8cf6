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
def far_ahead(punctual: Punctual) -> dict[str, dict[str, Any]]:
    """A job of each lane beyond the planner's own reach. Submitted first and looked at late: nobody waits for them."""
    due = {"at": to_text(soon(250))}
    return {lane: punctual.submit(lane=lane, parameters={"hello": "later"}, schedule=due) for lane in ("short", "long")}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
