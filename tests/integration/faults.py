"""Fault injection: run code just before an AWS call, or crash the process there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any

import pytest

from punctual.aws import clients
from tests.integration.fixture_tasks import Killed
from tests.integration.shared_clients import SHARED_CLIENTS

READS = ("Get", "BatchGet", "Query", "List", "Describe")


@contextmanager
def just_before(
    operation: str, act: Callable[[], object], containing: str = "", after: int = 0, once: bool = True
) -> Iterator[None]:
    """Call ``act`` before a DynamoDB call whose body contains the given text.

    ``after``: how many matching calls pass first. ``once=False``: act before every later matching call, too.
    """
    matching = 0

    def about_to_call(params: dict[str, Any], **_: Any) -> None:
        nonlocal matching
        if containing.encode() not in bytes(params["body"]):
            return
        matching += 1
        if matching == after + 1 or (matching > after and not once):
            act()

    events, name = clients.dynamodb().meta.events, f"before-call.dynamodb.{operation}"
    events.register(name, about_to_call)
    try:
        yield
    finally:
        events.unregister(name, about_to_call)


def on_table(table: str) -> str:
    """Text that the body of every call on this table contains."""
    return f'"TableName": "{table}"'


def crash_at(operation: str, after: int = 0, table: str = "gates") -> AbstractContextManager[None]:
    """Kill the process at such a call, and again at every later one if the process is restarted."""

    def die() -> None:
        raise Killed

    return just_before(operation, die, on_table(table), after, once=False)


def dies_before_write(number: int, act: Callable[[], object]) -> bool:
    """Kill the process before its write of this number, in any AWS service. ``False`` if it makes fewer writes."""
    writes = count(1)

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def make_api_call(operation: str, parameters: dict[str, Any]) -> Any:
            if not operation.startswith(READS) and next(writes) == number:
                raise Killed
            return call(operation, parameters)

        return make_api_call

    with pytest.MonkeyPatch.context() as patch:
        for client in (create() for create in SHARED_CLIENTS):
            patch.setattr(client, "_make_api_call", counted(client._make_api_call))
        try:
            act()
        except Killed:
            return True
    return False
