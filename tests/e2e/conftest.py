"""One deployed stack for all end-to-end tests: its own emulator, port and state, by the real CDK command line."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.e2e.punctual import Punctual


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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
