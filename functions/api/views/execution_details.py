"""Convert the details of a single execution to their response models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from answers.execution_details import Cost, Dependant, Event, ExpectedEnd, PartForecast

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.timeline import TimelineEvent
from punctual.domain.forecasts import cost, part_forecast
from punctual.domain.instant import to_text
from punctual.stages.api import execution_details
from views.instants import text_of

COST_DIGITS = 7


def event_views(events: Iterable[TimelineEvent]) -> list[Event]:
    return [Event(**asdict(one) | {"at": text_of(one.at), "until": text_of(one.until)}) for one in events]


def cost_view(estimated: cost.Cost) -> Cost:
    return Cost(
        dollars=round(estimated.dollars, COST_DIGITS),
        compute=round(estimated.compute, COST_DIGITS),
        requests=round(estimated.requests, COST_DIGITS),
    )


def dependant_views(dependants: Iterable[Execution]) -> list[Dependant]:
    return [
        Dependant(execution_id=one.execution_id, job_id=one.job_id, job_name=one.job_name, status=one.status)
        for one in dependants
    ]


def expected_end_view(end: execution_details.ExpectedEnd | None) -> ExpectedEnd | None:
    return ExpectedEnd(median_end=to_text(end.median_end), p95_end=to_text(end.p95_end)) if end else None


def part_forecast_view(forecast: part_forecast.PartForecast | None) -> PartForecast | None:
    return PartForecast(start=to_text(forecast.start), end=to_text(forecast.end)) if forecast else None
