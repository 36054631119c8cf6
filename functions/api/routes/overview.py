"""``/overview``: the state of the system."""

from __future__ import annotations

from dataclasses import asdict

import answers
from answers.overview import LaneActivity, Overview
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import (
    agenda,
    attention,
    authorize,
    browse,
    browse_deadlines,
    lane_outlooks,
    limits,
    part_store,
    queue_status,
    today,
)
from views.deadlines import deadline_counts
from views.overview import alarm_views, attention_views, due_views, failed_view, late_view
from views.queues import queue_views

from punctual.domain.instant import to_text
from punctual.stages.api.browse_deadlines import DeadlineFilter

router = APIGatewayHttpRouter()
TAGS = ["overview"]


@router.get(
    "/overview",
    summary="Get the state of the whole system",
    tags=TAGS,
    responses=openapi_responses(Overview),
)
def overview() -> Overview:
    authorize(router)
    sample, lane, occupancy = queue_status.current(), lane_outlooks.latest(), part_store.occupancy()
    running, ended = browse.count_running(), today.read()
    return Overview(
        at=to_text(sample.at),
        running=running.count,
        running_is_exact=running.is_exact,
        queues=queue_views(sample),
        slots=answers.SlotUsage(
            tasks=limits.tasks,
            vcpus=limits.cpu / 1024,
            taken_tasks=occupancy.tasks,
            taken_vcpus=occupancy.cpu / 1024,
            waiting_tasks=lane.waiting if lane else 0,
        ),
        deadlines=deadline_counts(browse_deadlines.count(DeadlineFilter()), ended),
        attention=attention_views(attention.current(sample)),
        due_next=due_views(agenda.due_next()),
        late=late_view(agenda.late(sample.oldest_due)),
        failed_today=failed_view(ended, today.latest_failed(ended)),
        alarms=alarm_views(attention.raised_alarms()),
        seconds=sample.seconds,
        lanes={name: LaneActivity(**asdict(flow)) for name, flow in sample.lanes.items()},
        lateness_p99_seconds=sample.lateness_p99_seconds,
        failure_percent=sample.failure_percent,
    )
