"""Deadlines: the instant by which an execution should have finished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.instant import parse, to_text
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.schedule import At, Now, Schedule

_FORMS = ("within_seconds", "by", "at")


@dataclass(frozen=True)
class Deadline:
    """Exactly one of: seconds after the due instant, the first match of a cron after it, or a fixed instant."""

    within_seconds: int | None = None
    by: Cron | None = None
    at: datetime | None = None
    """Only for one-time jobs."""

    def of(self, due: datetime) -> datetime | None:
        """The deadline of the execution that is due at ``due``; None if the cron has no further match."""
        if self.at is not None:
            return self.at
        if self.within_seconds is not None:
            return due + timedelta(seconds=self.within_seconds)
        return self.by.next_after(due) if self.by else None

    def to_spec(self) -> dict[str, Any]:
        """The API's representation, as submitted; the inverse of ``parse_deadline``."""
        if self.at is not None:
            return {"at": to_text(self.at)}
        if self.by is None:
            return {"within_seconds": self.within_seconds}
        return {"by": {"cron": self.by.expression, "timezone": self.by.timezone}}


def parse_deadline(spec: Mapping[str, Any] | None, *, timezone: str = "UTC") -> Deadline | None:
    """Parse the API's representation. Raises ``Invalid``, naming the field.

    ``timezone`` is the schedule's, and the default for a ``by`` without a time zone.
    """
    if spec is None:
        return None
    forms = [form for form in _FORMS if spec.get(form) is not None]
    if len(forms) != 1:
        raise Invalid("deadline", "give exactly one of within_seconds, by and at")
    match forms[0]:
        case "within_seconds":
            return Deadline(within_seconds=spec["within_seconds"])
        case "by":
            return Deadline(by=_parse_by(spec["by"], timezone))
        case _:
            return Deadline(at=parse("deadline.at", spec["at"]))


def check_deadline(deadline: Deadline | None, schedule: Schedule) -> None:
    """Raise ``Invalid`` for a fixed instant on a job that runs more than once, or one not after the scheduled start."""
    if deadline is None or deadline.at is None:
        return
    if not isinstance(schedule, Now | At):
        trigger = "recurs" if schedule.recurring else "runs for every message"
        remedy = "use deadline.by or deadline.within_seconds"
        raise Invalid("deadline.at", f"a job that {trigger} has no single deadline: {remedy}")
    if deadline.at <= schedule.at:
        at, start = to_text(deadline.at), to_text(schedule.at)
        raise Invalid("deadline.at", f"{at} is not after the scheduled start, {start}: give a later instant")


def _parse_by(by: Mapping[str, Any], timezone: str) -> Cron:
    try:
        return Cron.parse(by["cron"], by.get("timezone") or timezone)
    except Invalid as error:
        field = (error.field or "").removeprefix("schedule.")
        raise Invalid(f"deadline.by.{field}", error.message) from error
