"""Ports of the monitor: executions with deadlines, queue samples and the long lane."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.deadline_check import Check
from punctual.domain.forecasts.queue_backlog import Sample
from punctual.domain.forecasts.queue_capacity import Depth
from punctual.domain.forecasts.queue_flow import Flow
from punctual.domain.long_lane.lane_forecast import LaneOutlook
from punctual.domain.long_lane.part import Part


class WatchedExecutions(Protocol):
    """Executions that have a deadline."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def due_checks(self, shard: int, until: datetime) -> Iterator[Check]:
        """The checks due by ``until``. Eventually consistent: very recent ones may be missing."""

    def record_outlook(self, execution: Execution, outlook: Outlook, check_at: datetime | None) -> bool:
        """Record the outlook and the instant of the next check. ``False`` when the check was recorded already."""

    def oldest_check(self, shard: int) -> datetime | None:
        """The instant of the earliest check of the shard; ``None`` without checks."""

    def count_in_state(self, state: DeadlineState) -> int:
        """Count the live executions in a state."""


class RunHistory(Protocol):
    """The run times of a job's past executions."""

    def recent_run_times(self, execution: Execution) -> list[int]:
        """The seconds of the runs before ``execution`` that succeeded, among the last few of its job, oldest first."""


class Checks(Protocol):
    """The queue of deadline checks."""

    def send(self, checks: Iterable[Check], now: datetime) -> None:
        """Send each check, delayed until it is due. Raises when any was rejected."""


class Samples(Protocol):
    """The latest queue sample."""

    def latest(self) -> Sample | None: ...

    def store(self, sample: Sample) -> None:
        """Replace the stored sample."""


class QueueDepths(Protocol):
    """The depths of queues."""

    def read(self) -> Mapping[str, Depth]:
        """The depth of each queue that could be read."""


class Flows(Protocol):
    """The throughput counters of queues."""

    def read(self, queues: Iterable[str]) -> Mapping[str, Flow]:
        """The totals of each queue."""


class LongRunFailures(Protocol):
    def failed_since(self, since: datetime) -> int:
        """Count the state machine runs of the long lane that failed or timed out since then."""


class PartReader(Protocol):
    def of(self, execution_id: str) -> Sequence[Part]:
        """The parts of an execution, ordered by name; none before they are created."""


class LaneOutlooks(Protocol):
    """The latest forecast of the long lane."""

    def latest(self) -> LaneOutlook | None: ...

    def store(self, outlook: LaneOutlook) -> None: ...
