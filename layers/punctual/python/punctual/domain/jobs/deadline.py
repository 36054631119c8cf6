"""By when an execution should have finished."""

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
    """So many seconds after the due instant, the first match of a cron after it, or an instant: one of them."""

    within_seconds: int | None = None
    by: Cron | None = None
    at: datetime | None = None
    """Only for a job that runs once."""

    def of(self, due: datetime) -> datetime | None:
        """The deadline of the execution that is due at ``due``."""
        if self.at is not None:
            return self.at
        if self.within_seconds is not None:
            return due + timedelta(seconds=self.within_seconds)
        return self.by.next_after(due) if self.by else None

    def to_spec(self) -> dict[str, Any]:
        """As submitted; ``parse_deadline`` reads it back."""
        if self.at is not None:
            return {"at": to_text(self.at)}
        if self.by is None:
            return {"within_seconds": self.within_seconds}
        return {"by": {"cron": self.by.expression, "timezone": self.by.timezone}}


def parse_deadline(spec: Mapping[str, Any] | None, *, timezone: str = "UTC") -> Deadline | None:
    """From the API's form. ``timezone`` is the schedule's own, for a ``by`` that names none."""
    if spec is None:
        return None
    forms = [form for form in _FORMS if spec.get(form) is not None]
    if len(forms) != 1:
        raise Invalid("deadline", "give one of within_seconds, by and at, and only one")
    match forms[0]:
        case "within_seconds":
            return Deadline(within_seconds=spec["within_seconds"])
        case "by":
            return Deadline(by=_parse_by(spec["by"], timezone))
        case _:
            return Deadline(at=parse("deadline.at", spec["at"]))


def check_deadline(deadline: Deadline | None, schedule: Schedule) -> None:
    """Raises ``Invalid`` for an instant on a job that runs more than once, or one that is not after its start."""
    if deadline is None or deadline.at is None:
        return
    if not isinstance(schedule, Now | At):
        what = "recurs" if schedule.recurring else "runs for every message"
        message = (
            f"a job that {what} by its schedule has no single deadline: use deadline.by or deadline.within_seconds"
        )
        raise Invalid("deadline.at", message)
    if deadline.at <= schedule.at:
        at, start = to_text(deadline.at), to_text(schedule.at)
        raise Invalid("deadline.at", f"{at} is not after the scheduled start, {start}: give a later one")


def _parse_by(by: Mapping[str, Any], timezone: str) -> Cron:
    try:
        return Cron.parse(by["cron"], by.get("timezone") or timezone)
    except Invalid as error:
        field = (error.field or "").removeprefix("schedule.")
        raise Invalid(f"deadline.by.{field}", error.message) from error
