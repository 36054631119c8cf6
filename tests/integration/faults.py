"""Fault injection: run code just before an AWS call, or crash the process there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from punctual.aws import clients
from tests.integration.fixture_tasks import Killed


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
