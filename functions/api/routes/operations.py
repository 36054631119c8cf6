"""``/jobs/bulk``, ``/executions/bulk`` and ``/operations``."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any

from answers.operations import Operation as OperationAnswer
from answers.operations import OperationPage, Selection
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from bodies.operations import BulkExecutionsRequest, BulkJobsRequest
from openapi import BODY_ERRORS, openapi_responses
from services import authorize, operation_finder, operation_starter, run_once
from views.operations import operation_view, selection_view
from views.pages import page_fields

from punctual.domain.operations.operation import ItemOutcome, Operation
from punctual.domain.requests.caller import Role
from punctual.stages.operations.start import BulkRequest
from routes.queries import CursorQuery, DryRunQuery, IdempotencyKey, LimitQuery

router = APIGatewayHttpRouter()

DRY_RUN_RESPONSES = openapi_responses(Selection)
BULK_RESPONSES = openapi_responses(OperationAnswer, *BODY_ERRORS, success=HTTPStatus.ACCEPTED) | DRY_RUN_RESPONSES
CHANGE_RESPONSES = (
    openapi_responses(OperationAnswer, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, success=HTTPStatus.ACCEPTED)
    | DRY_RUN_RESPONSES
)


@router.post(
    "/jobs/bulk",
    summary="Change up to 10,000 jobs",
    tags=["operations"],
    status_code=HTTPStatus.ACCEPTED,
    responses=BULK_RESPONSES,
)
def change_jobs(
    request: BulkJobsRequest, dry_run: DryRunQuery = False, idempotency_key: IdempotencyKey = None
) -> Response[OperationAnswer | Selection]:
    """The operation changes the jobs one after the other: `GET /operations/{id}` shows its progress."""
    return _start(request.to_request(), dry_run, idempotency_key)


@router.post(
    "/executions/bulk",
    summary="Cancel or retry up to 10,000 executions",
    tags=["operations"],
    status_code=HTTPStatus.ACCEPTED,
    responses=BULK_RESPONSES,
)
def change_executions(
    request: BulkExecutionsRequest, dry_run: DryRunQuery = False, idempotency_key: IdempotencyKey = None
) -> Response[OperationAnswer | Selection]:
    """The operation changes the executions one after the other: `GET /operations/{id}` shows its progress."""
    return _start(request.to_request(), dry_run, idempotency_key)


@router.get(
    "/operations",
    summary="List operations, newest first",
    tags=["operations"],
    responses=openapi_responses(OperationPage),
)
def list_operations(limit: LimitQuery = 50, cursor: CursorQuery = None) -> OperationPage:
    authorize(router)
    page = operation_finder.newest_first(limit, cursor)
    return OperationPage(items=[operation_view(one) for one in page.items], **page_fields(page, cursor))


@router.get(
    "/operations/<operation_id>",
    summary="Get an operation with its progress and failures",
    tags=["operations"],
    responses=openapi_responses(OperationAnswer, HTTPStatus.NOT_FOUND),
)
def get_operation(operation_id: str) -> OperationAnswer:
    authorize(router)
    operation = operation_finder.get(operation_id)
    failures, skips = (
        operation_finder.problems(operation, outcome) for outcome in (ItemOutcome.FAILED, ItemOutcome.SKIPPED)
    )
    return operation_view(operation, failures, skips)


@router.post(
    "/operations/<operation_id>/abort",
    summary="Abort a running operation",
    tags=["operations"],
    status_code=HTTPStatus.ACCEPTED,
    responses=CHANGE_RESPONSES,
)
def abort_operation(operation_id: str, dry_run: DryRunQuery = False) -> Response[OperationAnswer | Selection]:
    """It ends within 25 items. What it did before is not reverted."""
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        return _respond(selection_view(operation_finder.remaining(operation_id, caller)), HTTPStatus.OK)
    return _accepted(operation_finder.abort(operation_id, caller))


@router.post(
    "/operations/<operation_id>/undo",
    summary="Undo a bulk pause",
    tags=["operations"],
    status_code=HTTPStatus.ACCEPTED,
    responses=CHANGE_RESPONSES,
)
def undo_operation(
    operation_id: str, dry_run: DryRunQuery = False, idempotency_key: IdempotencyKey = None
) -> Response[OperationAnswer | Selection]:
    """Returns a new operation. It resumes the jobs that the pause has paused and that were not changed since."""
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        return _respond(selection_view(operation_starter.select_undo(operation_id, caller)), HTTPStatus.OK)
    return _accepted(run_once(router, partial(operation_starter.undo, operation_id, caller), caller, idempotency_key))


def _start(request: BulkRequest, dry_run: bool, key: str | None) -> Response[OperationAnswer | Selection]:
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        return _respond(selection_view(operation_starter.select(request, caller)), HTTPStatus.OK)
    return _accepted(run_once(router, partial(operation_starter.start, request, caller), caller, key))


def _accepted(operation: Operation) -> Response[Any]:
    return _respond(operation_view(operation), HTTPStatus.ACCEPTED)


def _respond(body: Any, status: HTTPStatus) -> Response[Any]:
    return Response(status_code=status, content_type="application/json", body=body)
