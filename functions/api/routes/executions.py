"""``/executions``."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

import answers
import bodies
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from problems import described
from services import (
    all_executions,
    all_jobs,
    all_parts,
    browse,
    caller,
    cancel,
    created,
    explain,
    find_job,
    forecaster,
    foreseen,
    logs,
    once_for,
    rerun,
    results,
    upstreams,
)
from views import changes_view, execution_view, run_view

from punctual.domain import instant
from punctual.domain.errors import Conflict, NotFound
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import job_of
from punctual.domain.lane import Lane
from punctual.domain.long_lane.part import Part
from punctual.domain.requests.caller import Role
from punctual.domain.status import Status
from punctual.stages.api.browse import LARGEST_PAGE, ExecutionFilter
from routes.queries import CursorQuery, DryRunQuery, LimitQuery, NameQuery

router = APIGatewayHttpRouter()
TAGS = ["executions"]

FOR_ONE = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
ON_ONE = described(answers.Execution, *FOR_ONE)
ON_LIST = described(answers.ExecutionPage, *FOR_ONE, HTTPStatus.UNPROCESSABLE_ENTITY)
ON_CANCEL = described(
    answers.Execution | answers.Changes, *FOR_ONE, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY
)
ON_RETRY = described(
    answers.RunAnswer,
    *FOR_ONE,
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    success=HTTPStatus.CREATED,
) | described(answers.Changes)
ON_LOGS = described(answers.Logs, *FOR_ONE)
ON_RESULT = described(Any, *FOR_ONE, HTTPStatus.CONFLICT) | {
    int(HTTPStatus.SEE_OTHER): {"description": "A large result lies where `Location` says."}
}

GraceQuery = Annotated[int, Query(ge=0, le=600, description="How long a task that runs has to stop by itself.")]
StatusQuery = Annotated[Status | None, Query()]
FromQuery = Annotated[str | None, Query(alias="from", description="Due at or after this instant.")]
ToQuery = Annotated[str | None, Query(alias="to", description="Due before this instant.")]


@router.get(
    "/executions",
    summary="List executions, newest due instant first",
    tags=["executions"],
    responses=ON_LIST,
)
def list_executions(
    job_id: NameQuery = None,
    owner: NameQuery = None,
    status: StatusQuery = None,
    worker_id: NameQuery = None,
    since: FromQuery = None,
    until: ToQuery = None,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> answers.ExecutionPage:
    caller(router)
    where = ExecutionFilter(
        job_id=job_id,
        owner=owner,
        status=status,
        worker_id=worker_id,
        since=instant.parse("from", since) if since else None,
        until=instant.parse("to", until) if until else None,
    )
    page = browse.list_executions(where, limit, cursor)
    return answers.ExecutionPage(items=[execution_view(one) for one in page.items], cursor=page.cursor)


@router.get(
    "/jobs/<job_id>/executions",
    summary="A job's executions",
    tags=["executions"],
    responses=ON_LIST,
)
def list_executions_of_job(
    job_id: str,
    status: StatusQuery = None,
    worker_id: NameQuery = None,
    since: FromQuery = None,
    until: ToQuery = None,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> answers.ExecutionPage:
    caller(router)
    find_job(job_id)
    return list_executions(job_id, None, status, worker_id, since, until, limit, cursor)


@router.get(
    "/executions/<execution_id>",
    summary="One execution",
    tags=["executions"],
    responses=ON_ONE,
)
def get_execution(execution_id: str) -> answers.Execution:
    execution = _find(execution_id)
    parts = _light(all_parts.of(execution_id)) if execution.lane is Lane.LONG else None
    job = all_jobs.get(execution.job_id) if execution.deadline_at else None
    outlook = forecaster.outlook(execution, job) if job else None
    [waits_for] = upstreams.of([execution]) if execution.depends_on else [[]]
    waiting_for = explain.waiting_for(execution, parts or [], waits_for)
    if waiting_for and waiting_for.what == "upstream":  # the record says how it was when it began to wait
        execution = replace(execution, reason=waiting_for.detail)
    return execution_view(execution, parts, outlook, waiting_for, waits_for)


@router.put(
    "/executions/<execution_id>/cancel",
    summary="Cancel an execution, also one that runs",
    tags=["executions"],
    responses=ON_CANCEL,
)
def cancel_execution(
    execution_id: str, grace_seconds: GraceQuery = 30, dry_run: DryRunQuery = False
) -> answers.Execution | answers.Changes:
    """One that runs is asked to stop; after its grace its lease is revoked and its result refused.

    In the long lane the grace is 100 seconds at most, and without any its containers are not asked but stopped.
    """
    who = caller(router, Role.OPERATOR)
    if dry_run:
        return changes_view(cancel.foresee(execution_id, who))
    return execution_view(cancel.cancel(execution_id, who, timedelta(seconds=grace_seconds)))


@router.post(
    "/executions/<execution_id>/retry",
    summary="Do an execution again that did not succeed",
    tags=["executions"],
    status_code=HTTPStatus.CREATED,
    responses=ON_RETRY,
)
def retry_execution(
    execution_id: str, request: bodies.RunRequest | None = None, dry_run: DryRunQuery = False
) -> Response[answers.RunAnswer | answers.Changes]:
    """Another execution of the same due instant, with its data window, under the rules that its job has now."""
    who = caller(router, Role.OPERATOR)
    parameters = request.parameters if request else None
    if dry_run:
        return foreseen(rerun.foresee_retry(execution_id, parameters, who))

    def act() -> dict[str, Any]:
        return run_view(rerun.retry(execution_id, parameters, who)).model_dump(mode="json")

    return created(answers.RunAnswer(**once_for(router, act, who)))


@router.get("/executions/<execution_id>/result", summary="What the task returned", tags=TAGS, responses=ON_RESULT)
def get_result(execution_id: str) -> Response[Any]:
    execution = _find(execution_id)
    if execution.result is None:
        raise Conflict(f"the execution is {execution.status}: it has no result", field="execution_id")
    if link := results.link(execution.result):
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": link}, body="")
    return Response(HTTPStatus.OK, content_type="application/json", body=json.dumps(execution.result.value))


@router.get(
    "/executions/<execution_id>/logs",
    summary="What its attempts logged",
    tags=["executions"],
    responses=ON_LOGS,
)
def get_logs(execution_id: str) -> answers.Logs:
    execution = _find(execution_id)
    lines = logs[execution.lane].lines(execution, instant.now())
    return answers.Logs(items=[answers.LogLine(**line) for line in lines])


def _light(parts: list[Part]) -> list[Part]:
    """Without what each returned, if that is too much for one answer: it lies in S3 as well."""
    if sum(len(json.dumps(part.result.value)) for part in parts if part.result) <= LARGEST_PAGE:
        return parts
    return [replace(part, result=replace(part.result, value=None)) if part.result else part for part in parts]


def _find(execution_id: str) -> Execution:
    caller(router)
    execution = all_executions.get(job_of(execution_id), execution_id)
    if execution is None:
        raise NotFound("execution", execution_id, field="execution_id")
    return execution
