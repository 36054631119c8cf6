"""When each part of a partitioned execution is expected to start and to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.forecast import NO_WAIT, Wait
from punctual.domain.forecasts.partition_forecast import MAX_SECONDS, expected_spans
from punctual.domain.forecasts.partitioned_execution import plan_of, work_of
from punctual.domain.forecasts.slot_simulation import COLLECTOR
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.partitions import Partition
from punctual.domain.long_lane.part import COLLECT, Part


@dataclass(frozen=True)
class PartForecast:
    start: datetime
    """Now, or before, for a part that holds a slot."""
    end: datetime


def forecast_parts(
    execution: Execution, job: Job, load: SystemLoad, now: datetime, parts: Sequence[Part], wait: Wait = NO_WAIT
) -> Mapping[str, PartForecast]:
    """Forecast the parts that have not ended, by name. A part that never gets a slot is left out."""
    work = work_of(execution, job, parts, now, wait)
    spans = expected_spans(work, plan_of(execution, work, parts, load, now))
    return {
        _name_of(number): PartForecast(now + timedelta(seconds=start), now + timedelta(seconds=end))
        for number, (start, end) in spans.items()
        if end < MAX_SECONDS
    }


def _name_of(number: int) -> str:
    return COLLECT if number == COLLECTOR else Partition(number, 0).name
