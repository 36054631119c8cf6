"""``/queues``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

import answers
from answers.queues import QueueJobPage, Queues
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, queue_status
from views.pages import only_page, page_fields
from views.queues import queue_job_view, queue_views

from punctual.domain.errors import NotFound
from punctual.domain.instant import to_text
from routes.queries import CursorQuery, LimitQuery

router = APIGatewayHttpRouter()
HistoryQuery = Annotated[bool, Query(description="Also return the last 24 hours and the usual rates of each queue.")]


@router.get(
    "/queues",
    summary="List the queues and the queue jobs with depth, rates and limits",
    tags=["overview"],
    responses=openapi_responses(Queues),
)
def list_queues(history: HistoryQuery = False, limit: LimitQuery = 50, cursor: CursorQuery = None) -> Queues:
    """From the latest sample of the monitor, which runs every minute; before the first one, without rates.

    `limit` and `cursor` apply to `jobs`: pass `jobs.cursor` to get the next ones.
    """
    authorize(router)
    sample = queue_status.current()
    histories = queue_status.histories(sample.queues) if history else {}
    jobs, total = queue_status.jobs(limit, cursor)
    items = queue_views(sample, histories)
    shown = QueueJobPage(items=[queue_job_view(one) for one in jobs.items], **page_fields(jobs, cursor, lambda: total))
    return Queues(at=to_text(sample.at), items=items, jobs=shown, **only_page(items))


@router.get(
    "/queues/<queue>",
    summary="Get a queue with its last 24 hours and its usual rates",
    tags=["overview"],
    responses=openapi_responses(answers.QueueStatus, HTTPStatus.NOT_FOUND),
)
def get_queue(queue: str) -> answers.QueueStatus:
    authorize(router)
    sample = queue_status.current()
    if queue not in sample.queues:
        raise NotFound("queue", queue, field="queue", known=sample.queues)
    views = queue_views(sample, queue_status.histories([queue]))
    return next(one for one in views if one.queue == queue)
