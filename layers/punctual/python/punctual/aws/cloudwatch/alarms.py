"""The alarms of the stack that are raised. CloudWatch is asked at most once a minute per process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.ports.attention import RaisedAlarm

if TYPE_CHECKING:
    from punctual.ports.clock import Clock

MAX_AGE = timedelta(minutes=1)
MAX_ALARMS = 100


@dataclass
class CloudWatchAlarms:
    prefix: str
    """Of the names of the stack's alarms."""
    cloudwatch: Callable[[], Any]
    clock: Clock
    warn: Callable[[str], None]
    _known: tuple[datetime, Sequence[RaisedAlarm] | None] | None = field(default=None, init=False)

    def raised(self) -> Sequence[RaisedAlarm] | None:
        """Return ``None`` if CloudWatch does not answer: the overview is shown without alarms."""
        now = self.clock()
        if self._known is None or not timedelta() <= now - self._known[0] < MAX_AGE:
            self._known = now, self._read()
        return self._known[1]

    def _read(self) -> Sequence[RaisedAlarm] | None:
        try:
            answer = self.cloudwatch().describe_alarms(
                AlarmNamePrefix=self.prefix, StateValue="ALARM", MaxRecords=MAX_ALARMS
            )
        except (BotoCoreError, ClientError) as error:
            self.warn(f"alarms not read: {type(error).__name__}: {error}")
            return None
        # the emulator ignores the requested state
        return [_raised(one) for one in answer["MetricAlarms"] if one["StateValue"] == "ALARM"]


def _raised(alarm: dict[str, Any]) -> RaisedAlarm:
    return RaisedAlarm(
        name=alarm["AlarmName"],
        description=alarm.get("AlarmDescription", ""),
        reason=alarm.get("StateReason", ""),
        since=alarm["StateUpdatedTimestamp"],
    )


if TYPE_CHECKING:
    from punctual.ports.attention import Alarms

    _alarms: type[Alarms] = CloudWatchAlarms
