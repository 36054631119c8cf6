"""The rule of a job that says of what its people are told, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from punctual.domain.errors import Invalid

E = TypeVar("E", bound=StrEnum)


class Event(StrEnum):
    """What there is to tell of an execution."""

    FAILED = "failed"
    """It has ended without success: its attempts are exhausted, it timed out, or the failure was fatal."""
    SUCCEEDED = "succeeded"
    DEADLINE_AT_RISK = "deadline_at_risk"
    """It may miss its deadline."""
    WILL_MISS = "will_miss"
    """It will most likely miss its deadline."""
    MISSED = "missed"
    """It is past its deadline."""
    RECOVERED = "recovered"
    """It was in danger of missing its deadline, and is on track again."""


class Topic(StrEnum):
    """Where it is told."""

    NOTICE = "notice"
    """For people to read in their own time."""
    PAGE = "page"
    """For somebody to act on now."""


@dataclass(frozen=True)
class Notify:
    """A job's rule: of which events its people are told, and where. Without any event they are told nothing."""

    on: frozenset[Event]
    to: Topic = Topic.NOTICE

    def wants(self, event: Event) -> bool:
        """Who wants to hear that a deadline is at risk wants to hear of worse."""
        return event in self.on or (event is Event.WILL_MISS and Event.DEADLINE_AT_RISK in self.on)

    def to_spec(self) -> dict[str, Any]:
        """As submitted; ``parse_notify`` reads it back."""
        return {"on": [str(event) for event in Event if event in self.on], "to": str(self.to)}


OUTCOMES = frozenset({Event.FAILED, Event.SUCCEEDED})
"""What is told of an execution when it ends, whether it has a deadline or not."""

DEFAULT = Notify(frozenset({Event.DEADLINE_AT_RISK, Event.WILL_MISS, Event.MISSED, Event.RECOVERED}))
"""The rule of a job that has none: all about its deadline, nothing about its outcomes."""


def parse_notify(spec: Mapping[str, Any] | None) -> Notify | None:
    """From the API's form. What a rule leaves out is as in ``DEFAULT``. Raises ``Invalid``."""
    if spec is None:
        return None
    on, to = spec.get("on"), spec.get("to")
    if on is not None and not isinstance(on, list | tuple):
        raise Invalid("notify.on", f"must be a list; there are: {', '.join(Event)}")
    return Notify(
        on=DEFAULT.on if on is None else frozenset(_one_of(Event, "notify.on", one) for one in on),
        to=DEFAULT.to if to is None else _one_of(Topic, "notify.to", to),
    )


def _one_of(kind: type[E], field: str, value: object) -> E:
    try:
        return kind(str(value))
    except ValueError:
        raise Invalid(field, f"there is no {str(value)[:64]!r}; there are: {', '.join(kind)}") from None
