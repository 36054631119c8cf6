"""Keeps a running attempt's lease alive, and tells its progress with the same write."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from punctual.domain.executions.execution import Execution, Hold, Progress
from punctual.domain.executions.horizon import RENEWAL

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions

PROGRESS_REST = timedelta(seconds=2)
"""Progress is stored at most this often between renewals: each time costs a write."""


class Lease:
    """A thread that renews while the ``with`` block runs. A renewal that fails for a passing reason is tried again;
    one that is refused means that another attempt has taken over. It also brings word that the task is to stop."""

    def __init__(
        self,
        executions: Executions,
        execution: Execution,
        clock: Clock,
        warn: Callable[[str], None],
        beat: float = 0.5,
    ) -> None:
        self._executions, self._execution, self._clock, self._warn, self._beat = (
            executions,
            execution,
            clock,
            warn,
            beat,
        )
        self._renewed_at = clock()
        self._progress: Progress | None = None
        self._untold = False
        self._over = threading.Event()
        self.lost = False
        self.stopping = False
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def report(self, progress: Progress) -> None:
        self._progress, self._untold = progress, True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._over.wait(self._beat) and not self.lost:
            now = self._clock()
            if self._wants_renewal(now):
                self._renew(now)

    def _wants_renewal(self, now: datetime) -> bool:
        since = now - self._renewed_at
        return since >= RENEWAL or (self._untold and since >= PROGRESS_REST)

    def _renew(self, now: datetime) -> None:
        self._untold = False
        try:
            hold = self._executions.renew(self._execution, now, self._progress)
            self.lost, self.stopping = hold is Hold.LOST, self.stopping or hold is Hold.STOPPING
            self._renewed_at = now
        except Exception as error:
            self._warn(f"the lease could not be renewed, trying again: {error}")
