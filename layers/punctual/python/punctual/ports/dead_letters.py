"""Port to a dead-letter queue."""

from __future__ import annotations

from typing import Protocol


class DeadLetters(Protocol):
    """A dead-letter queue: messages that cannot be processed, kept for an operator."""

    def dead_letter(self, body: str, reason: str) -> None:
        """Move a message to the dead-letter queue, with the reason."""
