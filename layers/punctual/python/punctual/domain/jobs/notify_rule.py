"""A job's notification rule: which events to notify about, and where to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from punctual.domain.errors import Invalid
from punctual.domain.jobs.destination import Destination, Topic, parse_destinations
from punctual.domain.suggestion import one_of

_Member = TypeVar("_Member", bound=StrEnum)


class Event(StrEnum):
    """An event of an execution or a queue job that a notification can be sent for."""

    FAILED = "failed"
    """It ended without success: its attempts are exhausted, it timed out, or the failure was fatal."""
    SUCCEEDED = "succeeded"
    OVERRUN = "overrun"
    """It has been running for far longer than usual, with or without a deadline."""
    DEADLINE_AT_RISK = "deadline_at_risk"
    """It may miss its deadline."""
    WILL_MISS = "will_miss"
    """It will most likely miss its deadline."""
    DEADLINE_MISSED = "deadline_missed"
    """It is past its deadline."""
    RECOVERED = "recovered"
    """It was at risk of missing its deadline, and is on track again."""
    EXECUTION_SKIPPED = "execution_skipped"
    """A rule decided against running it."""
    EXECUTION_MISSED = "execution_missed"
    """It missed its due instant in an outage or a pause."""
    BACKLOG = "backlog"
    """A queue job exceeds its backlog limits."""
    BACKLOG_RECOVERED = "backlog_recovered"
    """A queue job is within its backlog limits again."""

    @classmethod
    def _missing_(cls, value: object) -> Event | None:
        """Accept earlier names."""
        return cls.DEADLINE_MISSED if value == "missed" else None


@dataclass(frozen=True)
class Notify:
    """A job's notification rule. With an empty ``on`` no notifications are sent."""

    on: frozenset[Event]
    to: tuple[Destination, ...] = (Topic.NOTICE,)

    def includes(self, event: Event) -> bool:
        """Whether to notify about ``event``. ``deadline_at_risk`` includes the more severe ``will_miss``."""
        return event in self.on or (event is Event.WILL_MISS and Event.DEADLINE_AT_RISK in self.on)

    @property
    def covers_ends_without_failure(self) -> bool:
        """Whether it covers the end of an execution that did not fail: the settler then has to see every end."""
        return bool(self.on & (OUTCOME_EVENTS - {Event.FAILED}))

    def to_spec(self) -> dict[str, Any]:
        """The representation in answers: as submitted, but without secrets."""
        return {"on": self._events, "to": _one_or_list([one.to_spec() for one in self.to])}

    def to_stored(self) -> dict[str, Any]:
        """The representation in the jobs table, with secrets; ``parse_notify`` is the inverse."""
        return {"on": self._events, "to": _one_or_list([one.to_stored() for one in self.to])}

    @property
    def _events(self) -> list[str]:
        return [str(event) for event in Event if event in self.on]


OUTCOME_EVENTS = frozenset({Event.FAILED, Event.SUCCEEDED, Event.EXECUTION_SKIPPED, Event.EXECUTION_MISSED})
"""Events at the end of an execution, with or without a deadline."""

DEFAULT_RULE = Notify(frozenset(Event) - OUTCOME_EVENTS | {Event.FAILED})
"""The rule of a job without its own: failures, overruns, backlogs and all deadline events."""


def parse_notify(spec: Mapping[str, Any] | None) -> Notify | None:
    """Parse the API's representation; ``DEFAULT_RULE`` fills omitted fields. Raises ``Invalid``, naming the field."""
    if spec is None:
        return None
    on, to = spec.get("on"), spec.get("to")
    if on is not None and not isinstance(on, list | tuple):
        raise Invalid("notify.on", f"must be a list of: {', '.join(Event)}")
    return Notify(
        on=DEFAULT_RULE.on if on is None else frozenset(_one_of(Event, "notify.on", name) for name in on),
        to=DEFAULT_RULE.to if to is None else parse_destinations("notify.to", to),
    )


def _one_or_list(specs: list[Any]) -> Any:
    return specs[0] if len(specs) == 1 else specs


def _one_of(kind: type[_Member], field: str, value: object) -> _Member:
    try:
        return kind(str(value))
    except ValueError:
        raise Invalid(field, f"{str(value)[:64]!r} is not one of {one_of(kind, value)}") from None
