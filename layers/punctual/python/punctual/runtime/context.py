"""What a task knows about the execution that it is run for, and what it can say while it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from punctual.domain.execution import Progress
from punctual.domain.window import Window


@dataclass(frozen=True, kw_only=True)
class Context:
    job_id: str
    execution_id: str
    owner: str
    attempt: int
    """1 for the first. It fences: a store that remembers the highest number seen can refuse an older one."""
    due: datetime
    """The instant that this execution stands for, however late it runs."""
    window: Window | None
    """The span of data that this execution is about, for a recurring job."""
    deadline: datetime | None
    """By when the job should be finished, if it says so."""
    logger: logging.Logger
    """As any logger here: each line carries the execution's id, and is shown by ``/executions/{id}/logs``."""
    seconds_left: Callable[[], float]
    """How long this attempt may still run before it is stopped."""
    _report: Callable[[Progress], None] = field(repr=False)
    _cancelled: Callable[[], bool] = field(repr=False)

    def progress(self, percent: float, message: str = "") -> None:
        """Say how far the work is. Cheap: what is said faster than it can be stored is dropped but for the last."""
        self._report(Progress(percent=min(max(float(percent), 0.0), 100.0), message=str(message)[:500]))

    @property
    def cancelled(self) -> bool:
        """Whether this attempt has lost its lease. Its result will be refused: stop soon."""
        return self._cancelled()
