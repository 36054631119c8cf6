"""The context that a task receives: its execution, and the calls for progress, checkpoints and cancellation."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from punctual.domain.executions.progress import Progress, progress_of

if TYPE_CHECKING:
    from punctual.domain.jobs.partitions import Partition
    from punctual.domain.schedules.data_window import DataWindow
    from punctual.runtime.tasks.upstreams import UpstreamOutcome


def _discard_checkpoint(_state: Any) -> None:
    """The short lane stores no checkpoints."""


@dataclass(frozen=True, kw_only=True)
class Context:
    job_id: str
    execution_id: str
    owner: str
    attempt: int
    """1 for the first attempt. Use it as a fencing token: a store that remembers the highest number can reject an older
    attempt."""
    due: datetime
    """The instant for which this execution was scheduled, however late it runs."""
    window: DataWindow | None
    """The data window of this execution, for a recurring job."""
    deadline: datetime | None
    """The instant by which this execution should be finished, if the job has a deadline."""
    logger: logging.Logger
    """A standard logger. Each line includes the execution id and is returned by ``/executions/{id}/logs``."""
    seconds_left: Callable[[], float]
    """The seconds until this attempt reaches its time limit and is stopped."""
    partition: Partition | None = None
    """The partition to process, for a partitioned job: its ``number`` of ``count``, ``value`` and ``window``."""
    _report: Callable[[Progress], None] = field(repr=False)
    _cancelled: Callable[[], bool] = field(repr=False)
    _save_checkpoint: Callable[[Any], None] = field(default=_discard_checkpoint, repr=False)
    _last_checkpoint: Any = field(default=None, repr=False)
    _upstreams: Callable[[], Mapping[str, UpstreamOutcome]] = field(default=dict, repr=False)

    def progress(
        self, percent: float | None = None, message: str = "", *, done: float | None = None, total: float | None = None
    ) -> None:
        """Report progress: in percent, or as ``done`` of ``total`` units.

        Cheap to call often: if calls come faster than they can be stored, only the latest is kept.
        """
        self._report(progress_of(percent, message, done, total))

    def checkpoint(self, state: Any) -> None:
        """Save ``state``, from which the next attempt can resume: JSON of at most 4 MB.

        Cheap to call often: if calls come faster than they can be stored, only the latest is kept. In the long lane, a
        container that was asked to stop exits inside this call, by raising an exception that the task must not catch.
        The short lane stores no checkpoints: every attempt starts from the beginning.
        """
        self._save_checkpoint(state)

    def resume(self) -> Any:
        """The last ``checkpoint`` of the earlier attempts of this execution; ``None`` if there is none."""
        return self._last_checkpoint

    @cached_property
    def upstream(self) -> Mapping[str, UpstreamOutcome]:
        """The executions of the upstream jobs that met their conditions, by the name or the id of the job.

        Each has ``status``, ``result``, ``window``, ``name``, ``job_id`` and ``execution_id``.
        """
        return self._upstreams()

    @property
    def cancelled(self) -> bool:
        """Whether the task should stop soon: a cancellation was requested, in which case a result returned in time is
        kept, or the attempt has lost its lease."""
        return self._cancelled()
