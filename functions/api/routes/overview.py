"""``/queues``, ``/deadlines`` and ``/overview``: look around."""

from __future__ import annotations

from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated

import answers
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from problems import described
from services import all_parts, browse, caller, gates, lane_outlooks, limits, samples, watched
from views import execution_view, queue_views

from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.instant import to_text
from routes.queries import CursorQuery, LimitQuery

router = APIGatewayHttpRouter()
TAGS = ["overview"]
StateQuery = Annotated[DeadlineState | None, Query()]


@router.get(
    "/queues",
    summary="The queues: how full, how fast, how long",
    tags=TAGS,
    responses=described(answers.Queues, HTTPStatus.FORBIDDEN),
)
def list_queues() -> answers.Queues:
    """As the monitor saw them, at most a minute or so ago."""
    caller(router)
    sample = samples.latest()
    return answers.Queues(at=to_text(sample.at) if sample else None, items=queue_views(sample))


@router.get(
    "/deadlines",
    summary="Live executions with a deadline, the endangered first",
    tags=TAGS,
    responses=described(answers.ExecutionPage, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY),
)
def list_deadlines(
    state: StateQuery = None, limit: LimitQuery = 50, cursor: CursorQuery = None
) -> answers.ExecutionPage:
    caller(router)
    page = browse.list_deadlines(state, limit, cursor)
    return answers.ExecutionPage(items=[execution_view(one) for one in page.items], cursor=page.cursor)


@router.get(
    "/overview",
    summary="All at a glance",
    tags=TAGS,
    responses=described(answers.Overview, HTTPStatus.FORBIDDEN),
)
def overview() -> answers.Overview:
    caller(router)
    sample, lane, taken = samples.latest(), lane_outlooks.latest(), all_parts.occupancy()
    return answers.Overview(
        at=to_text(sample.at) if sample else None,
        running=watched.count_running() + gates.count_inside_jobs(),
        queues=queue_views(sample),
        slots=answers.Slots(
            tasks=limits.tasks,
            vcpus=limits.cpu / 1024,
            taken_tasks=taken.tasks,
            taken_vcpus=taken.cpu / 1024,
            waiting=lane.waiting if lane else 0,
        ),
        deadlines=answers.Deadlines(
            missed=watched.count_in(DeadlineState.MISSED),
            will_miss=watched.count_in(DeadlineState.WILL_MISS),
            at_risk=watched.count_in(DeadlineState.AT_RISK),
        ),
        seconds=sample.seconds if sample else None,
        lanes={name: answers.Moved(**asdict(moved)) for name, moved in sample.lanes.items()} if sample else {},
        lateness_p99=sample.lateness_p99 if sample else None,
        failure_rate=sample.failure_rate if sample else None,
    )
