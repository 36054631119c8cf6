"""Convert the details of a single execution to their response models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

import answers.execution_details
from answers.execution_details import Cost, Dependant

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.timeline import TimelineEvent
from punctual.domain.forecasts import cost
from punctual.domain.forecasts.part_forecast import PartForecast
from punctual.stages.api import execution_details
from views.instants import text_of

COST_DIGITS = 7


def event_views(events: Iterable[TimelineEvent]) -> list[answers.execution_details.TimelineEvent]:
    return [
        answers.execution_details.TimelineEvent(**asdict(one) | {"at": text_of(one.at), "until": text_of(one.until)})
        for one in events
    ]


def cost_view(estimated: cost.Cost) -> Cost:
    return Cost(
        dollars=round(estimated.dollars, COST_DIGITS),
        compute_dollars=round(estimated.compute_dollars, COST_DIGITS),
        requests_dollars=round(estimated.requests_dollars, COST_DIGITS),
    )


def dependant_views(dependants: Iterable[Execution]) -> list[Dependant]:
    return [
        Dependant(execution_id=one.execution_id, job_id=one.job_id, job_name=one.job_name, status=one.status)
        for one in dependants
    ]


def median_and_p95(end: execution_details.ExpectedEnd | None) -> dict[str, str | None]:
    return {"median_end": text_of(end.median_end if end else None), "p95_end": text_of(end.p95_end if end else None)}


def part_forecast(forecast: PartForecast | None) -> dict[str, str | None]:
    start, end = (forecast.start, forecast.end) if forecast else (None, None)
    return {"expected_start": text_of(start), "expected_end": text_of(end)}
