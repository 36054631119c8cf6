"""Synchronize long executions with their parts: the execution's record shows the status of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.parts_status import status_of_parts

if TYPE_CHECKING:
    from punctual.ports.long_lane import LongExecutions, Parts


@dataclass(frozen=True)
class ExecutionSync:
    executions: LongExecutions
    parts: Parts

    def update(self, changed: Iterable[Part], progress_at: datetime | None = None) -> None:
        """Update the executions of the ``changed`` parts, each once. Idempotent: reads the parts' current records.

        ``progress_at`` is the instant of a progress report, if that is the change.
        """
        for job_id, execution_id in dict.fromkeys((part.job_id, part.execution_id) for part in changed):
            status = status_of_parts(self.parts.of(execution_id))
            if status is not None:
                self.executions.apply_parts_status(job_id, execution_id, status, progress_at)
