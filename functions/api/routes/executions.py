"""``/executions``."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any

import answers
import bodies
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import BODY_ERRORS, openapi_responses
from services import (
    authorize,
    browse,
    cancel,
    created_response,
    dry_run_response,
    execution_details,
    explain,
    find,
    log_reader,
    part_store,
    rerun,
    results,
    run_once,
    upstream_lookup,
)
from views import changes_view, execution_view, logs_view, run_view
from views.pages import page_fields

from punctual.domain import instant
from punctual.domain.errors import Conflict
from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.executions.execution_log import Level
from punctual.domain.executions.lease import CANCEL_GRACE
from punctual.domain.lane import Lane
from punctual.domain.long_lane.part import Part
from punctual.domain.requests.caller import Role
from punctual.domain.requests.execution_filter import DeadlineValue, ExecutionFilter
from punctual.domain.requests.job_filter import parse_tag_filter
from punctual.domain.requests.page import MAX_PAGE_BYTES
from punctual.domain.status import Status
from punctual.stages.api.read_logs import MAX_LINES, LogQuery
from routes.queries import (
    CursorQuery,
    DryRunQuery,
    IdempotencyKey,
    JobNameQuery,
    LimitQuery,
    NameQuery,
    TagsQuery,
    TotalQuery,
)

router = APIGatewayHttpRouter()
TAGS = ["executions"]

GET_RESPONSES = openapi_responses(answers.Execution, HTTPStatus.NOT_FOUND)
LIST_RESPONSES = openapi_responses(answers.ExecutionPage, HTTPStatus.NOT_FOUND)
CANCEL_RESPONSES = openapi_responses(answers.Execution | answers.Changes, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
RETRY_RESPONSES = openapi_responses(
    answers.RunResponse,
    *BODY_ERRORS,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    success=HTTPStatus.CREATED,
) | openapi_responses(answers.Changes)
LOGS_RESPONSES = openapi_responses(answers.Logs, HTTPStatus.NOT_FOUND)
RESULT_RESPONSES = openapi_responses(Any, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT) | {
    int(HTTPStatus.SEE_OTHER): {
        "description": "The result is large: download it from `Location`.",
        "headers": {"Location": {"description": "Valid for five minutes.", "schema": {"type": "string"}}},
    }
}

GraceQuery = Annotated[int, Query(ge=0, le=600, description="How long a running task has to stop by itself.")]
StatusesQuery = Annotated[list[Status] | None, Query(description="Several are separated by commas or repeated.")]
OriginsQuery = Annotated[list[Origin] | None, Query()]
DeadlinesQuery = Annotated[
    list[DeadlineValue] | None, Query(description="The state of the deadline: `met` and `missed` after the end.")
]
FromQuery = Annotated[str | None, Query(alias="from", description="Due at or after this instant.")]
LogLimitQuery = Annotated[int, Query(ge=1, le=MAX_LINES, description="Maximum number of lines.")]
TailQuery = Annotated[int | None, Query(ge=1, le=MAX_LINES, description="The last lines, instead of the first.")]
AfterQuery = Annotated[str | None, Query(min_length=1, max_length=500, description="The lines after this cursor.")]
BeforeQuery = Annotated[str | None, Query(min_length=1, max_length=500, description="The lines before this cursor.")]
LevelQuery = Annotated[Level | None, Query(description="The lowest level.")]
SearchQuery = Annotated[
    str | None, Query(min_length=1, max_length=200, description="Text in the message or a field, in any case.")
]
RedirectQuery = Annotated[
    bool,
    Query(description="With `false`, the link to a large result is the field `location` of the answer: for browsers."),
]
ToQuery = Annotated[str | None, Query(alias="to", description="Due before this instant.")]


@router.get(
    "/executions",
    summary="List executions, newest due instant first",
    tags=["executions"],
    responses=LIST_RESPONSES,
)
def list_executions(
    job_id: NameQuery = None,
    owner: NameQuery = None,
    status: StatusesQuery = None,
    task: NameQuery = None,
    job_name: JobNameQuery = None,
    tag: TagsQuery = None,
    origin: OriginsQuery = None,
    worker_id: NameQuery = None,
    deadline: DeadlinesQuery = None,
    since: FromQuery = None,
    until: ToQuery = None,
    total: TotalQuery = False,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> answers.ExecutionPage:
    """Executions that are not due yet are listed with `to`, with a `status` that they have, or for one job."""
    authorize(router)
    where = ExecutionFilter(
        job_id=job_id,
        owner=owner,
        statuses=frozenset(status or ()),
        task=task,
        job_name=job_name,
        tags=parse_tag_filter(tag or ()),
        origins=frozenset(origin or ()),
        worker_id=worker_id,
        deadlines=frozenset(deadline or ()),
        since=instant.parse("from", since) if since else None,
        until=instant.parse("to", until) if until else None,
    )
    page = browse.list_executions(where, limit, cursor)
    counted = page_fields(page, cursor, partial(browse.count_executions, where) if total else None)
    return answers.ExecutionPage(items=[execution_view(one) for one in page.items], **counted)


@router.get(
    "/jobs/<job_id>/executions",
    summary="List the executions of a job",
    tags=["executions"],
    responses=LIST_RESPONSES,
)
def list_executions_of_job(
    job_id: str,
    status: StatusesQuery = None,
    tag: TagsQuery = None,
    origin: OriginsQuery = None,
    worker_id: NameQuery = None,
    deadline: DeadlinesQuery = None,
    since: FromQuery = None,
    until: ToQuery = None,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> answers.ExecutionPage:
    authorize(router)
    find.job(job_id)
    return list_executions(
        job_id=job_id,
        status=status,
        tag=tag,
        origin=origin,
        worker_id=worker_id,
        deadline=deadline,
        since=since,
        until=until,
        limit=limit,
        cursor=cursor,
    )


@router.get(
    "/executions/<execution_id>",
    summary="Get an execution",
    tags=["executions"],
    responses=GET_RESPONSES,
)
def get_execution(execution_id: str) -> answers.Execution:
    execution = _find(execution_id)
    parts = _without_large_values(part_store.of(execution_id)) if execution.lane is Lane.LONG else None
    details = execution_details.of(execution, parts or [])
    [found] = upstream_lookup.of([execution]) if execution.depends_on else [[]]
    waiting_for = explain.waiting_for(execution, parts or [], found)
    execution = replace(execution, reason=explain.current_reason(execution, waiting_for))
    return execution_view(execution, parts, details.outlook, waiting_for, found, details)


@router.put(
    "/executions/<execution_id>/cancel",
    summary="Cancel an execution",
    tags=["executions"],
    responses=CANCEL_RESPONSES,
)
def cancel_execution(
    execution_id: str, grace_seconds: GraceQuery = CANCEL_GRACE.seconds, dry_run: DryRunQuery = False
) -> answers.Execution | answers.Changes:
    """A running execution is asked to stop. After `grace_seconds` its lease is revoked and its result is discarded.

    In the long lane the grace period is at most 100 seconds; with 0 its containers are stopped immediately.
    """
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        return changes_view(cancel.preview(execution_id, caller))
    return execution_view(cancel.cancel(execution_id, caller, timedelta(seconds=grace_seconds)))


@router.post(
    "/executions/<execution_id>/retry",
    summary="Retry an execution, or run it again",
    tags=["executions"],
    status_code=HTTPStatus.CREATED,
    responses=RETRY_RESPONSES,
)
def retry_execution(
    execution_id: str,
    request: bodies.RetryRequest | None = None,
    dry_run: DryRunQuery = False,
    idempotency_key: IdempotencyKey = None,
) -> Response[answers.RunResponse | answers.Changes]:
    """Creates another execution of the same due instant and data window, under the current rules of the job.

    In the long lane it keeps finished partitions and checkpoints, unless `from` is `start`.
    """
    caller = authorize(router, Role.OPERATOR)
    wanted = (request or bodies.RetryRequest()).to_request()
    if dry_run:
        return dry_run_response(rerun.preview_retry(execution_id, wanted, caller))

    manual = run_once(router, partial(rerun.retry, execution_id, wanted, caller), caller, idempotency_key)
    return created_response(run_view(manual))


@router.get(
    "/executions/<execution_id>/result", summary="Get the result of an execution", tags=TAGS, responses=RESULT_RESPONSES
)
def get_result(execution_id: str, redirect: RedirectQuery = True) -> Response[Any]:
    execution = _find(execution_id)
    if execution.result is None:
        raise Conflict(f"the execution is {execution.status} and has no result", field="execution_id")
    link = results.link(execution.result)
    if link and not redirect:
        return Response(HTTPStatus.OK, content_type="application/json", body=json.dumps({"location": link}))
    if link:
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": link}, body="")
    return Response(HTTPStatus.OK, content_type="application/json", body=json.dumps(execution.result.value))


@router.get(
    "/executions/<execution_id>/logs",
    summary="Read or follow the log of an execution",
    tags=["executions"],
    responses=LOGS_RESPONSES,
)
def get_logs(
    execution_id: str,
    limit: LogLimitQuery = MAX_LINES,
    tail: TailQuery = None,
    after: AfterQuery = None,
    before: BeforeQuery = None,
    level: LevelQuery = None,
    search: SearchQuery = None,
) -> answers.Logs:
    """Lines are in the order of their storage. Repeat the request with `after` to follow a running execution."""
    execution = _find(execution_id)
    query = LogQuery(limit=limit, tail=tail, after=after, before=before, level=level, search=search)
    return logs_view(log_reader.read(execution, query))


def _without_large_values(parts: list[Part]) -> list[Part]:
    """Leave out the results if they are too large for one response. They are available from S3."""
    if sum(len(json.dumps(part.result.value)) for part in parts if part.result) <= MAX_PAGE_BYTES:
        return parts
    return [replace(part, result=replace(part.result, value=None)) if part.result else part for part in parts]


def _find(execution_id: str) -> Execution:
    authorize(router)
    return find.execution(execution_id)
