"""Schedules as they are submitted, and their due instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from punctual.domain.schedules.schedule import parse_schedule

SUBMITTED_AT = datetime(2026, 11, 16, 12, 0, 0, 123000, UTC)
BEFORE = SUBMITTED_AT - timedelta(milliseconds=1)


def schedule_of(**spec: object):
    return parse_schedule(spec, now=SUBMITTED_AT)


def dues(schedule, after: datetime = BEFORE, limit: int = 50) -> list[datetime]:
    found, due = [], after
    while len(found) < limit and (due := schedule.next_after(due)) is not None:
        found.append(due)
    return found
