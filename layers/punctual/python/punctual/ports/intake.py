"""Port to the intake queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class IntakeQueue(Protocol):
    def send(self, bodies: Sequence[str], owner: str) -> dict[int, str]:
        """Send the messages of an owner's job.

        Returns why messages were not sent, by their positions. Such a message may arrive nevertheless.
        """
