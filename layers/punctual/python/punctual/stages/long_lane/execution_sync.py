"""Follow: tell an execution of the long lane how its parts stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.parts_status import standing_of

if TYPE_CHECKING:
    from punctual.ports.long_lane import LongExecutions, Parts


@dataclass(frozen=True)
class Follower:
    executions: LongExecutions
    parts: Parts

    def parts_changed(self, changed: Iterable[Part], told_at: datetime | None = None) -> None:
        """Once for each execution among them, however many of its parts have changed.

        ``told_at`` is when one of them told its progress, if that is what has changed.
        """
        for job_id, execution_id in dict.fromkeys((part.job_id, part.execution_id) for part in changed):
            standing = standing_of(self.parts.of(execution_id))
            if standing is not None:
                self.executions.follow(job_id, execution_id, standing, told_at)
