"""The tree of errors.

::

    PunctualError
    ├── Rejected                a refused request; nothing was stored
    │   ├── Invalid             a field has an invalid value                         (422)
    │   │   └── TaskUnavailable     the module of the task cannot be imported        (422)
    │   ├── TooLarge            a field is over its size limit                       (413)
    │   ├── NotFound            the job, execution, task or result does not exist    (404)
    │   ├── Conflict            the request conflicts with the current state         (409)
    │   ├── Stale               the request names an outdated revision               (412)
    │   └── Forbidden           the caller's role or team does not allow it          (403)
    ├── LongLaneOff             a long execution is due in a stage without the long lane
    ├── Unreadable              a malformed message or record; retrying cannot help
    ├── UnverifiedContainer     a container names an ECS task that was not started for its attempt
    ├── Contention              concurrent writers won; a repetition can succeed
    │   ├── GateContention      a gate or an execution kept changing
    │   ├── StatisticsContention    the statistics of a job kept changing
    │   └── JobChanged          a job was changed since it was read
    └── TaskSignal              raised by a task to control its retries
        ├── Retry               retry the execution after a delay
        └── Fatal               fail the execution without another attempt

``functions/api/problems.py`` maps these errors to HTTP statuses.
"""

from __future__ import annotations

from collections.abc import Iterable

from punctual.domain.suggestion import one_of


class PunctualError(Exception):
    """Base class of all errors raised by Punctual."""


class Rejected(PunctualError):
    """A refused request. Nothing was stored. ``field`` is a path such as ``schedule.cron``."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class Invalid(Rejected):
    """A field has an invalid value. The message says why, and which values are valid."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, field=field)


class TaskUnavailable(Invalid):
    """No module registers the task, and modules cannot be imported. A deployment that fixes them may register it."""

    def __init__(self, task: str, modules: str) -> None:
        super().__init__("task", f"task {task!r} is unavailable: these modules cannot be imported: {modules}")


class TooLarge(Rejected):
    """A field is over its size limit."""

    def __init__(self, field: str, size: int, limit: int) -> None:
        super().__init__(f"is {size:,} bytes; the limit is {limit:,}", field=field)


class NotFound(Rejected):
    """The requested object does not exist."""

    def __init__(self, kind: str, name: str, *, field: str | None = None, known: Iterable[str] = ()) -> None:
        """``known``: the names that exist, if they are few."""
        names = one_of(known, name)
        super().__init__(f"there is no {kind} {name!r}{names and f'; use one of {names}'}", field=field)


class Conflict(Rejected):
    """The request conflicts with the current state."""


class Stale(Rejected):
    """The request was made for a revision that has been replaced since."""


class Forbidden(Rejected):
    """The caller's role or team does not allow the request."""


class Unreadable(PunctualError):
    """A malformed message or record. Send it to a dead-letter queue with this message as the reason."""


class UnverifiedContainer(PunctualError):
    """ECS did not start the named task for the attempt of the container that calls."""


class LongLaneOff(PunctualError):
    """A long execution is due in a stage without the long lane."""

    def __init__(self, execution_id: str) -> None:
        remedy = "cancel it, or set `enabled = true` in the section [long] of the stage and deploy"
        super().__init__(f"{execution_id} cannot start, because the long lane of this stage is off: {remedy}")


class Contention(PunctualError):
    """Concurrent writers won. Nothing is lost: the caller's message or record is delivered again."""


class GateContention(Contention):
    """A gate or an execution kept changing."""


class StatisticsContention(Contention):
    """The statistics of a job kept changing."""


class JobChanged(Contention):
    """A job was changed since it was read, so nothing was written."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"job {job_id} was changed since it was read")


class NotDelivered(PunctualError):
    """A destination of notices did not accept one now: try again later."""


class Undeliverable(PunctualError):
    """A destination of notices will not accept one: trying again cannot help."""


class TaskSignal(PunctualError):
    """Base class of the exceptions by which a task controls its retries."""


class Retry(TaskSignal):
    """Retry this execution, ``after`` seconds from now if given, else after the job's own backoff.

    Raises ``ValueError`` if ``after`` is negative or more than 30 days.
    """

    MAX_DELAY_SECONDS = 30 * 24 * 60 * 60.0

    def __init__(self, message: str = "the task asked for a retry", *, after: float | None = None) -> None:
        super().__init__(message)
        if after is not None and not 0 <= after <= self.MAX_DELAY_SECONDS:
            raise ValueError(f"after must be between 0 and {self.MAX_DELAY_SECONDS:.0f} seconds, not {after}")
        self.after = after


class Fatal(TaskSignal):
    """Fail this execution without another attempt."""
