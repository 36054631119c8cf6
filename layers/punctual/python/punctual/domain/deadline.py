"""By when an execution should have finished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.cron import Cron
from punctual.domain.errors import Invalid


@dataclass(frozen=True)
class Deadline:
    """Either so many seconds after the due instant, or the first match of a cron after it: never both."""

    within_seconds: int | None = None
    by: Cron | None = None

    def of(self, due: datetime) -> datetime | None:
        """The deadline of the execution that is due at ``due``."""
        if self.within_seconds is not None:
            return due + timedelta(seconds=self.within_seconds)
        return self.by.next_after(due) if self.by else None

    def to_spec(self) -> dict[str, Any]:
        """As submitted; ``parse_deadline`` reads it back."""
        if self.by is None:
            return {"within_seconds": self.within_seconds}
        return {"by": {"cron": self.by.expression, "timezone": self.by.timezone}}


def parse_deadline(spec: Mapping[str, Any] | None, *, timezone: str = "UTC") -> Deadline | None:
    """From the API's form. ``timezone`` is the schedule's own, for a ``by`` that names none."""
    if spec is None:
        return None
    within, by = spec.get("within_seconds"), spec.get("by")
    if (within is None) == (by is None):
        raise Invalid("deadline", "give either within_seconds or by, not both and not neither")
    if by is None:
        return Deadline(within_seconds=within)
    try:
        return Deadline(by=Cron.parse(by["cron"], by.get("timezone") or timezone))
    except Invalid as error:
        field = (error.field or "").removeprefix("schedule.")
        raise Invalid(f"deadline.by.{field}", error.message) from error
