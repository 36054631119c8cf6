"""What is looked at to tell in time what will be late."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.deadline_check import Check
from punctual.domain.forecasts.queue_backlog import Sample
from punctual.domain.forecasts.queue_capacity import Depth
from punctual.domain.forecasts.queue_flow import Flow
from punctual.domain.long_lane.lane_forecast import LaneOutlook


class WatchedExecutions(Protocol):
    """The executions that have a deadline, as the monitor sees them."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def to_check(self, shard: int, until: datetime) -> Iterator[Check]:
        """The looks that are due by then. The newest may not be among them yet."""

    def note_outlook(self, execution: Execution, outlook: Outlook, check_at: datetime | None) -> bool:
        """Record what a look found and when the next is; ``False`` when that look has happened already."""

    def oldest_check(self, shard: int) -> datetime | None:
        """When the look that has been due for longest was due; ``None`` when none will be."""

    def count_in(self, state: DeadlineState) -> int:
        """How many live ones are in a state."""

    def count_running(self) -> int:
        """How many run now, with a deadline or without."""


class Checks(Protocol):
    """The queue that leads to the next looks."""

    def send(self, checks: Iterable[Check], now: datetime) -> None:
        """Have each arrive when it is due. Raises when any was refused."""


class Samples(Protocol):
    """What the monitor last saw of the queues."""

    def latest(self) -> Sample | None: ...

    def keep(self, sample: Sample) -> None:
        """In place of the one before."""


class QueueDepths(Protocol):
    """How full queues are."""

    def read(self) -> Mapping[str, Depth]:
        """Of those that could be read."""


class Flows(Protocol):
    """What moved through the queues."""

    def read(self, queues: Iterable[str]) -> Mapping[str, Flow]:
        """All that was ever counted of each."""


class LongRunFailures(Protocol):
    def failed_since(self, since: datetime) -> int:
        """How many state machine runs of the long lane failed or timed out since then."""


class LaneOutlooks(Protocol):
    """What the monitor last worked out about the long lane."""

    def latest(self) -> LaneOutlook | None: ...

    def keep(self, outlook: LaneOutlook) -> None: ...
