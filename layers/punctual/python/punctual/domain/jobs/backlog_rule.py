"""The backlog limits of a queue job: how many of its messages may wait, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from punctual.domain.errors import Invalid

MAX_BACKLOG_MESSAGES = 10_000
MAX_BACKLOG_MINUTES = 7 * 24 * 60


@dataclass(frozen=True, kw_only=True)
class BacklogRule:
    """At least one limit. A backlog beyond either of them is reported."""

    messages: int | None = None
    """How many messages may wait for their start."""
    minutes: int | None = None
    """How long the oldest of them may wait."""

    def to_spec(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


def parse_backlog(spec: Mapping[str, Any] | None) -> BacklogRule | None:
    """Parse the API's representation. Raises ``Invalid``, naming the field."""
    if spec is None:
        return None
    rule = BacklogRule(**spec)
    if not rule.to_spec():
        raise Invalid("backlog", 'needs a limit: give messages, minutes or both, such as {"messages": 500}')
    return rule
