"""``/jobs/{id}/revisions``."""

from __future__ import annotations

from http import HTTPStatus

from answers.revisions import RevisionPage
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, revision_reader
from views.revisions import revisions_view

from routes.queries import CursorQuery, LimitQuery

router = APIGatewayHttpRouter()


@router.get(
    "/jobs/<job_id>/revisions",
    summary="List the revisions of a job, newest first",
    tags=["jobs"],
    responses=openapi_responses(RevisionPage, HTTPStatus.NOT_FOUND),
)
def list_revisions(job_id: str, limit: LimitQuery = 50, cursor: CursorQuery = None) -> RevisionPage:
    """Who changed which fields, and when. Secrets are masked. The first revision is the submission."""
    authorize(router)
    return revisions_view(revision_reader.newest_first(job_id, limit, cursor))
