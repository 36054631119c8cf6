"""Ports of the overview: alarms of the stack, and acknowledgements of attention items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from punctual.domain.attention.acknowledgement import Acknowledgement


@dataclass(frozen=True)
class RaisedAlarm:
    name: str
    description: str
    reason: str
    """Why CloudWatch raised it."""
    since: datetime


class Alarms(Protocol):
    def raised(self) -> Sequence[RaisedAlarm] | None:
        """The alarms of the stack in the state ``ALARM``, up to a minute old; ``None`` if they cannot be read."""


class Acknowledgements(Protocol):
    def find(self, item_ids: Iterable[str]) -> Mapping[str, Acknowledgement]: ...

    def store(self, one: Acknowledgement) -> None:
        """Replace the acknowledgement of the item."""

    def delete(self, item_id: str) -> None:
        """Idempotent."""
