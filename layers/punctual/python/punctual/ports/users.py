"""The users of the stage."""

from __future__ import annotations

from typing import Protocol


class Users(Protocol):
    def groups_of(self, subject: str) -> list[str] | None:
        """Return the groups of a user as they are now; ``None`` if the user was deleted or disabled."""
