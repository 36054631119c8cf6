"""Current caller: whether the user of a token still has the permissions that the token names.

A token is valid until it expires. Before a change, the api reads the user, so that a user who was disabled, deleted or
removed from a group changes nothing any more. Reads trust the token.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import Forbidden
from punctual.domain.requests.caller import Caller, caller_of

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.users import Users

MAX_AGE = timedelta(seconds=5)
"""How long a process trusts what it has read: Cognito answers about 50 requests of this kind per second."""
MAX_KNOWN = 1000
"""Callers whose groups a process keeps."""


@dataclass(frozen=True)
class CurrentCallers:
    users: Users
    clock: Clock
    _known: dict[Caller, tuple[datetime, Caller]] = field(default_factory=dict)

    def current(self, caller: Caller) -> Caller:
        """Return the caller with the role and the teams of this moment, at most ``MAX_AGE`` old.

        Raises ``Forbidden`` if the user was deleted or disabled, or if a group is not clear.
        """
        now = self.clock()
        read_at, current = self._known.get(caller, (None, caller))
        if read_at is not None and now - read_at <= MAX_AGE:
            return current
        groups = self.users.groups_of(caller.subject)
        if groups is None:
            raise Forbidden(f"the user {caller.subject!r} was disabled or deleted: ask an administrator")
        current = caller_of(caller.subject, groups)
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[caller] = now, current
        return current
