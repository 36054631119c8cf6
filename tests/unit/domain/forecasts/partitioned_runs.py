"""Simulated runs of partitioned executions: their histories, and their parts at any moment."""

from __future__ import annotations

import heapq
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import exp
from typing import Any

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, next_check
from punctual.domain.executions.execution import Attempt, Execution, Outcome
from punctual.domain.executions.progress import Progress
from punctual.domain.forecasts.part_progress import kept_samples
from punctual.domain.forecasts.partitioned_execution import work_of
from punctual.domain.forecasts.run_history import KEPT_PARTITION_RUNS, KEPT_RUNS
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.partitions import Partitions
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import LaneOutlook, lane_outlook
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import COLLECT, Part
from punctual.domain.status import Status
from tests.unit.domain.forecasts.deadlines import NOW, execution

HOUR = 3600.0
COMMON_SPREAD, OWN_SPREAD = 0.05, 0.1
DEADLINE = 1.5
"""The deadline that paces the checks of a run, in run times."""


Steps = Callable[[random.Random], Sequence[float]]
"""Draws the end of each step of a partition. Only the proportions count."""


@dataclass(frozen=True)
class Shape:
    """A partitioned job: the usual hours of each partition, and how many of them may run at once."""

    name: str
    hours: tuple[float, ...]
    at_once: int | None = None
    slots: int = 100
    progress: Steps | None = None
    """How the partitions progress, if they report it."""

    @property
    def collect(self) -> float:
        """The usual seconds of the collector."""
        return 0.3 * HOUR

    @property
    def parallel(self) -> int:
        return min(self.at_once or len(self.hours), self.slots)

    @property
    def batch(self) -> Batch:
        return Batch(partitions=Partitions(count=len(self.hours), at_once=self.at_once), collects=True)

    @property
    def limits(self) -> LaneLimits:
        return LaneLimits(tasks=self.slots, cpu=self.slots * 1024)

    def draw(self, draw: random.Random) -> Run:
        common = draw.gauss(0, COMMON_SPREAD)
        seconds = [HOUR * hours * exp(common + draw.gauss(0, OWN_SPREAD)) for hours in self.hours]
        steps = [self.progress(draw) for _ in seconds] if self.progress else []
        return Run(self, seconds, self.collect * exp(draw.gauss(0, 0.1)), steps)

    def history(self, draw: random.Random, runs: int = KEPT_RUNS) -> dict[str, tuple[int, ...]]:
        silent = replace(self, progress=None)
        drawn = [silent.draw(draw) for _ in range(runs)]
        partitions = [round(seconds) for run in drawn for seconds in run.seconds]
        return {
            "execution": tuple(round(run.end) for run in drawn),
            "partition": tuple(partitions[-KEPT_PARTITION_RUNS:]),
            "partitions": (len(self.hours),) * runs,
            "collect": tuple(round(run.collect) for run in drawn),
        }


class Run:
    """One run. All times are seconds since its start, at ``NOW``."""

    def __init__(
        self, shape: Shape, seconds: Sequence[float], collect: float, steps: Sequence[Sequence[float]] = ()
    ) -> None:
        self.shape, self.seconds, self.collect, self.steps = shape, seconds, collect, steps
        free = [0.0] * shape.parallel
        self.starts: list[float] = []
        for one in seconds:
            self.starts.append(free[0])
            heapq.heapreplace(free, free[0] + one)
        self.ends = [start + one for start, one in zip(self.starts, seconds, strict=True)]
        self.end = max(self.ends) + collect

    def parts(self, at: float) -> list[Part]:
        parts = [self._part(f"{n:04d}", n, self.starts[n], self.seconds[n], at) for n in range(len(self.seconds))]
        ended = max(self.ends)
        return [*parts, self._part(COLLECT, 0, ended, self.collect, at)] if at >= ended else parts

    def execution(self, at: float, **more: Any) -> Execution:
        status = Status.RUNNING if at > 0 else Status.QUEUED
        return execution(
            status,
            lane=Lane.LONG,
            batch=self.shape.batch,
            started_at=NOW if at > 0 else None,
            progress_at=_instant(at) if self.steps else None,
            **{"deadline_at": NOW + timedelta(days=30), "timeout_seconds": 10**7, **more},
        )

    def checked(self, its_job: Job, at: float) -> Outlook:
        """The outlook of the latest check before ``at``, as far as later forecasts use it: its samples of progress."""
        deadline, outlook = NOW + timedelta(seconds=DEADLINE * self.end), _outlook()
        moment = next_check(NOW, deadline, NOW)
        while self.steps and moment is not None and moment < _instant(at):
            elapsed = (moment - NOW).total_seconds()
            work = work_of(self.execution(elapsed), its_job, self.parts(elapsed), moment)
            outlook = replace(outlook, part_samples=kept_samples(outlook.part_samples, work.running))
            moment = next_check(NOW, deadline, moment)
        return outlook

    def lane(self, at: float) -> LaneOutlook:
        parts = self.parts(at) if at > 0 else []
        holders = [part for part in parts if part.status is Status.RUNNING]
        waiting = [part for part in parts if part.status is Status.WAITING]
        return lane_outlook(holders, waiting, self.shape.limits, _instant(at))

    def load(self, at: float) -> SystemLoad:
        return SystemLoad(limits=self.shape.limits, concurrency={}, lane=self.lane(at))

    def _part(self, name: str, number: int, start: float, seconds: float, at: float) -> Part:
        if at < start:
            ahead = sum(one <= at for one in self.starts)
            has_requested = number < ahead + (self.shape.at_once or len(self.seconds)) - self.running(at)
            return self._new(name, number, Status.WAITING if has_requested else Status.QUEUED)
        if at < start + seconds:
            return self._new(
                name,
                number,
                Status.RUNNING,
                attempt=1,
                granted_at=_instant(start),
                started_at=_instant(start),
                progress=Progress(percent=self.percent(number, at)) if self.steps and name != COLLECT else None,
            )
        attempt = Attempt(
            number=1, outcome=Outcome.SUCCEEDED, started_at=_instant(start), ended_at=_instant(start + seconds)
        )
        return self._new(name, number, Status.SUCCEEDED, attempt=1, attempts=(attempt,), granted_at=_instant(start))

    def running(self, at: float) -> int:
        return sum(start <= at < end for start, end in zip(self.starts, self.ends, strict=True))

    def percent(self, number: int, at: float) -> int:
        """The progress of a running partition, in whole percents."""
        share, steps = (at - self.starts[number]) / self.seconds[number], self.steps[number]
        return bisect_right(steps, share * steps[-1]) * 100 // len(steps)

    def _new(self, name: str, number: int, status: Status, **more: Any) -> Part:
        return Part(
            execution_id="e",
            name=name,
            job_id="j",
            owner="team",
            status=status,
            cpu=1024,
            memory_mb=2048,
            expected_seconds=3600,
            latest_start=NOW + timedelta(days=2),
            number=number,
            count=len(self.seconds),
            requested_at=None if status is Status.QUEUED else NOW,
            **more,
        )


def _outlook() -> Outlook:
    return Outlook(state=DeadlineState.ON_TRACK, probability=1, median_end=NOW, p95_end=NOW, checked_at=NOW)


def _instant(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)
