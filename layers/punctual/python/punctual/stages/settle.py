"""Settle: what follows from an execution that has ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.execution import Execution
from punctual.domain.status import FINAL

if TYPE_CHECKING:
    from punctual.ports import Clock, Jobs


@dataclass(frozen=True)
class Settler:
    jobs: Jobs
    clock: Clock

    def execution_ended(self, execution: Execution) -> None:
        """A job that was to run once is done. Coming again, or for a job deleted meanwhile, changes nothing."""
        if execution.once and execution.status in FINAL:
            self.jobs.finish(execution.job_id, self.clock())
