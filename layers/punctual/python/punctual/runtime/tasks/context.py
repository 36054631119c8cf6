"""What a task knows about the execution that it is run for, and what it can say while it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from punctual.domain.executions.progress import Progress, progress_of
from punctual.domain.jobs.partitions import Partition
from punctual.domain.schedules.data_window import DataWindow


def _forget(_state: Any) -> None:
    """The short lane keeps no checkpoints."""


@dataclass(frozen=True, kw_only=True)
class Context:
    job_id: str
    execution_id: str
    owner: str
    attempt: int
    """1 for the first. It fences: a store that remembers the highest number seen can refuse an older one."""
    due: datetime
    """The instant that this execution stands for, however late it runs."""
    window: DataWindow | None
    """The span of data that this execution is about, for a recurring job."""
    deadline: datetime | None
    """By when the job should be finished, if it says so."""
    logger: logging.Logger
    """As any logger here: each line carries the execution's id, and is shown by ``/executions/{id}/logs``."""
    seconds_left: Callable[[], float]
    """How long this attempt may still run before it is stopped."""
    partition: Partition | None = None
    """Which piece of the work this is, for a job in partitions: its ``number`` of ``count``, ``value``, ``window``."""
    _report: Callable[[Progress], None] = field(repr=False)
    _cancelled: Callable[[], bool] = field(repr=False)
    _keep: Callable[[Any], None] = field(default=_forget, repr=False)
    _kept: Any = field(default=None, repr=False)

    def progress(
        self, percent: float | None = None, message: str = "", *, done: float | None = None, total: float | None = None
    ) -> None:
        """Say how far the work is: in percent, or in units ``done`` of ``total``.

        Cheap: what is said faster than it can be stored is dropped but for the last.
        """
        self._report(progress_of(percent, message, done, total))

    def checkpoint(self, state: Any) -> None:
        """Say from where another attempt could go on: ``state`` is JSON, 4 MB at most.

        Cheap: what is said faster than it can be stored is dropped but for the last. In the long lane this is also
        where a container that was asked to leave does so, by an exception that is not the task's to catch. In the
        short lane nothing is kept: an attempt there starts over.
        """
        self._keep(state)

    def resume(self) -> Any:
        """The last state that an earlier attempt of this execution gave to ``checkpoint``; ``None`` for the first."""
        return self._kept

    @property
    def cancelled(self) -> bool:
        """Whether to stop soon: somebody asked for it, and what is returned in time is kept; or the lease is lost."""
        return self._cancelled()
