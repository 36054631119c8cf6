"""``/jobs/{id}/revisions`` and ``/jobs/{id}/transfer``."""

from __future__ import annotations

from http import HTTPStatus

import answers
from answers.revisions import RevisionPage
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from bodies.transfer import TransferRequest
from openapi import BODY_ERRORS, openapi_responses
from services import authorize, revision_reader, transfer
from views import changes_view, job_view
from views.revisions import revisions_view

from punctual.domain import instant
from punctual.domain.requests.caller import Role
from routes.queries import CursorQuery, DryRunQuery, IfMatch, LimitQuery, revision_in

router = APIGatewayHttpRouter()

TRANSFER_RESPONSES = openapi_responses(
    answers.Job | answers.Changes,
    *BODY_ERRORS,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
    HTTPStatus.PRECONDITION_FAILED,
)


@router.get(
    "/jobs/<job_id>/revisions",
    summary="List the revisions of a job, newest first",
    tags=["jobs"],
    responses=openapi_responses(RevisionPage, HTTPStatus.NOT_FOUND),
)
def list_revisions(job_id: str, limit: LimitQuery = 50, cursor: CursorQuery = None) -> RevisionPage:
    """Who changed which fields, and when. Secrets are masked. The first revision is the submission."""
    authorize(router)
    return revisions_view(revision_reader.newest_first(job_id, limit, cursor), cursor)


@router.post(
    "/jobs/<job_id>/transfer", summary="Transfer a job to another team", tags=["jobs"], responses=TRANSFER_RESPONSES
)
def transfer_job(
    job_id: str, request: TransferRequest, if_match: IfMatch = None, dry_run: DryRunQuery = False
) -> answers.Job | answers.Changes:
    """For operators of both teams, and admins. Planned executions move, too; those that started keep their owner."""
    caller, revision = authorize(router, Role.OPERATOR), revision_in(if_match)
    if dry_run:
        return changes_view(transfer.preview(job_id, request.owner, revision, caller))
    return job_view(transfer.transfer(job_id, request.owner, revision, caller), instant.now())
