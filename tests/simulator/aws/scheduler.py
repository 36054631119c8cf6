"""EventBridge Scheduler: one-time schedules. The simulator decides when a schedule fires."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.simulator.aws.client import Response, operation
from tests.simulator.aws.errors import ServiceError


@dataclass(frozen=True)
class Schedule:
    group: str
    name: str
    at: datetime
    target: dict[str, Any]


class Scheduler:
    def __init__(self) -> None:
        self.schedules: dict[tuple[str, str], Schedule] = {}
        """By group and name."""

    def due(self, now: datetime) -> list[Schedule]:
        """The schedules that may fire, the earliest first."""
        found = [schedule for schedule in self.schedules.values() if schedule.at <= now]
        return sorted(found, key=lambda schedule: schedule.at)

    def complete(self, schedule: Schedule) -> None:
        """Delete a schedule that fired, unless it was replaced. Without this call, it fires again."""
        key = schedule.group, schedule.name
        if self.schedules.get(key) == schedule:
            del self.schedules[key]

    @operation
    def create_schedule(self, **request: Any) -> Response:
        schedule = _schedule(**request)
        key = schedule.group, schedule.name
        if key in self.schedules:
            raise ServiceError("ConflictException", f"Schedule {schedule.name} already exists.")
        self.schedules[key] = schedule
        return {"ScheduleArn": schedule.name}

    @operation
    def update_schedule(self, **request: Any) -> Response:
        schedule = _schedule(**request)
        self._require(schedule.group, schedule.name)
        self.schedules[schedule.group, schedule.name] = schedule
        return {"ScheduleArn": schedule.name}

    @operation
    def delete_schedule(self, *, Name: str, GroupName: str) -> Response:
        self._require(GroupName, Name)
        del self.schedules[GroupName, Name]
        return {}

    @operation
    def list_schedules(self, *, GroupName: str) -> Response:
        return {
            "Schedules": [{"Name": name, "GroupName": group} for group, name in self.schedules if group == GroupName]
        }

    def _require(self, group: str, name: str) -> None:
        if (group, name) not in self.schedules:
            raise ServiceError("ResourceNotFoundException", f"Schedule {name} does not exist.")


def _schedule(
    *,
    Name: str,
    GroupName: str,
    ScheduleExpression: str,
    ScheduleExpressionTimezone: str,
    FlexibleTimeWindow: dict[str, Any],
    ActionAfterCompletion: str,
    Target: dict[str, Any],
    Description: str = "",  # noqa: ARG001
) -> Schedule:
    """A schedule of the kind that Punctual creates. Raises ``NotImplementedError`` for any other kind."""
    fixed = (ScheduleExpressionTimezone, FlexibleTimeWindow, ActionAfterCompletion)
    if fixed != ("UTC", {"Mode": "OFF"}, "DELETE") or not ScheduleExpression.startswith("at("):
        raise NotImplementedError(f"schedule {ScheduleExpression} with {fixed}")
    at = datetime.strptime(ScheduleExpression, "at(%Y-%m-%dT%H:%M:%S)").replace(tzinfo=UTC)
    return Schedule(GroupName, Name, at, Target)
