"""An estimate of what Punctual costs: precise enough to see a change, not a bill. Prices of us-east-1, arm64."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Attempt
from punctual.domain.forecasts import bill
from punctual.domain.forecasts.queue_backlog import LaneFlow
from punctual.domain.jobs.resources import Resources
from punctual.domain.lane import Lane
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.domain.executions.execution import Execution
    from punctual.domain.long_lane.part import Part

SHORT_EXECUTION_DOLLARS = bill.EXECUTION_DOLLARS
"""All but the run time of the task: requests, Punctual's own compute, logs and storage."""
SHORT_RETRY_DOLLARS = 4e-6
"""Each further attempt: a claim, a decision, a work order, and Punctual's own compute."""
LAMBDA_SECOND_DOLLARS = 0.5 * bill.LAMBDA_GB_SECOND
"""A worker with 0.5 GB of memory."""
VCPU_SECOND, GB_SECOND = bill.FARGATE_VCPU_HOUR / 3600, bill.FARGATE_GB_HOUR / 3600
VCPU_SECOND_DOLLARS = VCPU_SECOND + 2 * GB_SECOND
"""With the usual 2 GB of memory per vCPU."""
SPOT_SHARE = 0.31
"""The price of Fargate Spot as a share of the price on demand; it varies."""
CONTAINER_START_DOLLARS = 3e-4
"""Requests of each attempt in a container: about ten state transitions, a slot, its start and its result."""
CONTAINER_SECOND_DOLLARS = 2e-6 / 30 + bill.PUBLIC_ADDRESS_HOUR / 3600
"""A running container: the requests of a heartbeat each 30 seconds, and its public address."""


@dataclass(frozen=True)
class Cost:
    """Estimated dollars."""

    compute_dollars: float
    """Lambda or Fargate."""
    requests_dollars: float
    """All else: requests, logs, storage, Punctual's own compute, and the public addresses of containers."""

    @property
    def dollars(self) -> float:
        return self.compute_dollars + self.requests_dollars

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.compute_dollars + other.compute_dollars, self.requests_dollars + other.requests_dollars)


NOTHING = Cost(0.0, 0.0)


def estimated_dollars(lanes: Mapping[str, LaneFlow], containers: int, taken_cpu: int, seconds: float) -> float:
    """The cost of ``seconds`` in which this work was done, and containers with these CPU units were running.

    It includes what Punctual costs while nothing runs. Requests to the API are not known here.
    """
    idle = bill.IDLE_MONTH_DOLLARS * seconds / bill.SECONDS_PER_MONTH
    short, long = lanes[Lane.SHORT], lanes[Lane.LONG]
    executions = short.finished * SHORT_EXECUTION_DOLLARS + long.finished * CONTAINER_START_DOLLARS
    running = taken_cpu / 1024 * VCPU_SECOND_DOLLARS + containers * CONTAINER_SECOND_DOLLARS
    return idle + executions + short.busy_seconds * LAMBDA_SECOND_DOLLARS + running * seconds


def cost_of(execution: Execution, parts: Sequence[Part], now: datetime) -> Cost:
    """The cost of an execution until now, or until its end. ``parts`` are those of one in the long lane."""
    if execution.lane is Lane.LONG:
        return sum((_cost_of_part(part, now) for part in parts), NOTHING)
    attempts = len(execution.attempts) + (execution.status is Status.RUNNING)
    seconds = _seconds(execution.attempts) + _running_seconds(execution.status, execution.started_at, now)
    return short_cost(seconds, attempts) if attempts else NOTHING


def short_cost(seconds: float, attempts: int = 1) -> Cost:
    """The cost of an execution of the short lane that runs for ``seconds`` in total."""
    requests = SHORT_EXECUTION_DOLLARS + (attempts - 1) * SHORT_RETRY_DOLLARS
    return Cost(seconds * LAMBDA_SECOND_DOLLARS, requests)


def container_cost(resources: Resources, seconds: float, starts: int = 1) -> Cost:
    """The cost of containers of this size that run for ``seconds`` in total."""
    second = resources.cpu / 1024 * VCPU_SECOND + resources.memory_mb / 1024 * GB_SECOND
    compute = seconds * second * (SPOT_SHARE if resources.spot else 1)
    return Cost(compute, starts * CONTAINER_START_DOLLARS + seconds * CONTAINER_SECOND_DOLLARS)


def _cost_of_part(part: Part, now: datetime) -> Cost:
    is_running = part.status is Status.RUNNING
    seconds = _seconds(part.attempts) + _running_seconds(part.status, part.started_at, now)
    return container_cost(Resources(part.cpu, part.memory_mb, part.spot), seconds, len(part.attempts) + is_running)


def _seconds(attempts: Iterable[Attempt]) -> float:
    return sum((one.ended_at - one.started_at).total_seconds() for one in attempts if one.started_at)


def _running_seconds(status: Status, started_at: datetime | None, now: datetime) -> float:
    return (now - started_at).total_seconds() if status is Status.RUNNING and started_at else 0.0
