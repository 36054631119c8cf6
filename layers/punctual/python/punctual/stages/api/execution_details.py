"""Details of one execution: its timeline, cost, dependants and forecast, from its record and those related to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import Outlook
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.timeline import TimelineEvent, timeline_of
from punctual.domain.forecasts.cost import Cost, cost_of
from punctual.domain.forecasts.part_forecast import PartForecast
from punctual.domain.forecasts.run_time import RunTimeSource, run_time_source
from punctual.domain.forecasts.usual_progress import usual_progress
from punctual.domain.jobs.job import Job
from punctual.domain.long_lane.part import EXECUTION, PARTITION, Part, kind_of
from punctual.domain.long_lane.part_timeline import events_of_parts
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import Dependants
    from punctual.ports.executions import ExecutionIndex
    from punctual.ports.jobs import Jobs
    from punctual.stages.watch.check_deadlines import Forecaster

MAX_DEPENDANTS = 100


@dataclass(frozen=True)
class ExpectedEnd:
    median_end: datetime
    p95_end: datetime


@dataclass(frozen=True, kw_only=True)
class Details:
    events: list[TimelineEvent]
    cost: Cost
    dependants: list[Execution]
    """Executions that wait, or waited, for this one: at most ``MAX_DEPENDANTS``."""
    outlook: Outlook | None = None
    """The current deadline outlook."""
    expected_end: ExpectedEnd | None = None
    """``None`` after the end, and as long as nothing is known about the run time."""
    usual_progress: float | None = None
    parts: Mapping[str, PartForecast] = field(default_factory=dict)
    usual_progress_of_parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ExecutionDetails:
    jobs: Jobs
    executions: ExecutionIndex
    dependants: Dependants
    forecaster: Forecaster
    clock: Clock

    def of(self, execution: Execution, parts: Sequence[Part]) -> Details:
        """Collect the details of an execution. Reads its job only while it is live."""
        now = self.clock()
        job = self.jobs.get(execution.job_id) if execution.status not in FINAL else None
        outlook = self.forecaster.outlook(execution, job) if job and execution.deadline_at else None
        return Details(
            events=timeline_of(execution, now, events_of_parts(parts)),
            cost=cost_of(execution, parts, now),
            dependants=self._dependants(execution),
            outlook=outlook,
            expected_end=self._expected_end(execution, job, outlook),
            usual_progress=_usual_progress(execution, job, now),
            parts=self.forecaster.parts_of_live(execution, job) if job else {},
            usual_progress_of_parts=_usual_progress_of_parts(parts, job, now) if job else {},
        )

    def _dependants(self, execution: Execution) -> list[Execution]:
        if not execution.is_upstream:
            return []
        ids = list(islice(self.dependants.of(execution.execution_id), MAX_DEPENDANTS))
        found = self.executions.fetch(ids)
        return [found[one] for one in ids if one in found]

    def _expected_end(self, execution: Execution, job: Job | None, outlook: Outlook | None) -> ExpectedEnd | None:
        if job is None or not _is_run_time_known(execution, job):
            return None
        found = outlook or self.forecaster.end(execution, job)
        return ExpectedEnd(found.median_end, found.p95_end)


def _is_run_time_known(execution: Execution, job: Job) -> bool:
    """Whether more is known about the run time than the timeout."""
    kind = PARTITION if execution.is_partitioned else EXECUTION
    return run_time_source(job.run_times.get(kind, ()), job.expected_seconds) is not RunTimeSource.TIMEOUT


def _usual_progress(execution: Execution, job: Job | None, now: datetime) -> float | None:
    if job is None or execution.status is not Status.RUNNING or execution.started_at is None:
        return None
    return usual_progress(job.run_times.get(EXECUTION, ()), (now - execution.started_at).total_seconds())


def _usual_progress_of_parts(parts: Sequence[Part], job: Job, now: datetime) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        if part.status is Status.RUNNING and part.started_at is not None:
            elapsed = (now - part.started_at).total_seconds()
            percent = usual_progress(job.run_times.get(kind_of(part.name), ()), elapsed)
            found |= {part.name: percent} if percent is not None else {}
    return found
