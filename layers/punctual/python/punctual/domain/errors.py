"""Everything that can go wrong, as one tree.

::

    PunctualError
    ├── Rejected                what the caller asked for cannot be done; nothing was stored
    │   ├── Invalid             a field is wrong                                     (422)
    │   ├── TooLarge            a field is over its limit                            (413)
    │   ├── NotFound            no such job, execution, task or result               (404)
    │   ├── Conflict            it clashes with what is already there                (409)
    │   ├── Stale               it was made for an earlier revision                  (412)
    │   └── Forbidden           the caller's role or team does not allow it          (403)
    ├── Unreadable              a message that no retry will ever make readable
    └── TaskSignal              what a task says by raising
        ├── Retry               try again, after a while
        └── Fatal               do not try again

Which status an error becomes over HTTP is decided in one place, ``functions/api/problems.py``.
"""

from __future__ import annotations


class PunctualError(Exception):
    """The root of the tree."""


class Rejected(PunctualError):
    """A request that was refused. Nothing was stored. ``field`` is a path such as ``schedule.cron``."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class Invalid(Rejected):
    """A field's value cannot be used. The message says what is wrong with it and what would do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, field=field)


class TooLarge(Rejected):
    """A field is over its limit."""

    def __init__(self, field: str, size: int, limit: int) -> None:
        super().__init__(f"is {size:,} bytes; the limit is {limit:,}", field=field)


class NotFound(Rejected):
    """There is no such thing."""

    def __init__(self, kind: str, name: str, *, field: str | None = None) -> None:
        super().__init__(f"there is no {kind} {name!r}", field=field)


class Conflict(Rejected):
    """The request clashes with what is already there."""


class Stale(Rejected):
    """The request was made for a state of things that has changed since."""


class Forbidden(Rejected):
    """The caller may not do this."""


class Unreadable(PunctualError):
    """A message or record that cannot be understood; it belongs in a dead-letter queue with this reason."""


class TaskSignal(PunctualError):
    """Raised by a task to say what its failure means."""


class Retry(TaskSignal):
    """Try this execution again, ``after`` seconds from now instead of the job's own backoff: 30 days at most."""

    LONGEST = 30 * 24 * 60 * 60.0

    def __init__(self, message: str = "the task asked to be tried again", *, after: float | None = None) -> None:
        super().__init__(message)
        if after is not None and not 0 <= after <= self.LONGEST:
            raise ValueError(f"after must be between 0 and {self.LONGEST:.0f} seconds, not {after}")
        self.after = after


class Fatal(TaskSignal):
    """This execution has failed for good: more attempts would not help."""
