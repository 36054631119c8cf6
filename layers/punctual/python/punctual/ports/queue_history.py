"""Port of the history of the queues."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from punctual.domain.forecasts.queue_history import Hour


class QueueHours(Protocol):
    """The points of all queues, stored by hour."""

    def read(self, hours: Iterable[datetime]) -> Sequence[Hour]:
        """The stored ones of these hours, in any order."""

    def store(self, at: datetime, hour: Hour) -> None:
        """Replace the points of the hour that begins ``at``."""
