"""What may come between two lines: another who acts just before a call of AWS, or the end of the process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from punctual.aws import clients
from tests.integration.odd_tasks import Killed


@contextmanager
def just_before(
    operation: str, act: Callable[[], object], saying: str = "", after: int = 0, once: bool = True
) -> Iterator[None]:
    """Have ``act`` done before a call of DynamoDB that says this, after so many others that say it, too."""
    others = 0

    def about_to_call(params: dict[str, Any], **_: Any) -> None:
        nonlocal others
        if saying.encode() not in bytes(params["body"]):
            return
        others += 1
        if others == after + 1 or (others > after and not once):
            act()

    events, name = clients.dynamodb().meta.events, f"before-call.dynamodb.{operation}"
    events.register(name, about_to_call)
    try:
        yield
    finally:
        events.unregister(name, about_to_call)


def to(table: str) -> str:
    """What a call to this table says."""
    return f'"TableName": "{table}"'


def dying_at(operation: str, after: int = 0, table: str = "gates") -> AbstractContextManager[None]:
    """The process dies at such a call, and if it is started again, at the next."""

    def die() -> None:
        raise Killed

    return just_before(operation, die, to(table), after, once=False)
