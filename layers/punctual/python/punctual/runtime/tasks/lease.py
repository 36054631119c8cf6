"""Renews the lease of a running attempt, and stores its progress with the same write."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from punctual.domain.executions.execution import Execution, LeaseState
from punctual.domain.executions.lease import LEASE_RENEWAL_INTERVAL
from punctual.domain.executions.progress import Progress

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions

PROGRESS_INTERVAL = timedelta(seconds=2)
"""The minimum time between two writes of progress: each costs a write unit."""


class Lease:
    """Renews the lease in a background thread while the ``with`` block runs.

    A renewal that raises is retried. A rejected renewal means that another attempt has taken over: ``lost`` is set and
    renewal stops. A renewal also reports a requested cancellation: ``stop_requested`` is set.
    """

    def __init__(
        self,
        executions: Executions,
        execution: Execution,
        clock: Clock,
        warn: Callable[[str], None],
        poll_seconds: float = 0.5,
    ) -> None:
        self._executions, self._execution, self._clock, self._warn, self._poll_seconds = (
            executions,
            execution,
            clock,
            warn,
            poll_seconds,
        )
        self._renewed_at = clock()
        self._progress: Progress | None = None
        self._progress_pending = False
        self._stopped = threading.Event()
        self.lost = False
        self.stop_requested = False
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    def report(self, progress: Progress) -> None:
        self._progress, self._progress_pending = progress, True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._poll_seconds) and not self.lost:
            now = self._clock()
            if self._is_renewal_due(now):
                self._renew(now)

    def _is_renewal_due(self, now: datetime) -> bool:
        since = now - self._renewed_at
        return since >= LEASE_RENEWAL_INTERVAL or (self._progress_pending and since >= PROGRESS_INTERVAL)

    def _renew(self, now: datetime) -> None:
        self._progress_pending = False
        try:
            hold = self._executions.renew(self._execution, now, self._progress)
            self.lost = hold is LeaseState.LOST
            self.stop_requested = self.stop_requested or hold is LeaseState.STOPPING
            self._renewed_at = now
        except Exception as error:
            self._warn(f"cannot renew the lease, will retry: {error}")
