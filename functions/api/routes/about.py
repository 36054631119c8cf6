"""Routes without authentication: the health check and the OpenAPI document."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import answers
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, Server, Tag
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import settings

router = APIGatewayHttpRouter()

TITLE, VERSION = "Punctual", "0.1.0"
DESCRIPTION = (
    "Job scheduler: submit, schedule and monitor jobs. Errors are RFC 9457 problem documents that name the field."
)


TAGS = [
    Tag(name="jobs", description="Submit, edit, pause, run and delete jobs."),
    Tag(name="executions", description="The executions of jobs: their state, results, logs and cancellation."),
    Tag(name="operations", description="Bulk operations: one action on many jobs or executions."),
    Tag(name="schedules", description="Preview schedules."),
    Tag(name="tasks", description="The tasks that jobs can run."),
    Tag(name="overview", description="The state of the whole system."),
    Tag(name="about", description="The service itself."),
]


@router.get(
    "/health", summary="Health check", tags=["about"], responses=openapi_responses(answers.Health, is_open=True)
)
def health() -> answers.Health:
    return answers.Health(status="ok", stage=settings.punctual_stage)


def describe(app: APIGatewayHttpResolver) -> None:
    """Serve the OpenAPI document of ``app`` as JSON and as a Swagger page."""
    description: dict[str, Any] = {
        "title": TITLE,
        "version": VERSION,
        "description": DESCRIPTION,
        "servers": [Server(url=".", description="This deployment")],
        "security_schemes": {"token": HTTPBearer(bearerFormat="JWT")},
        "security": [{"token": []}],
        "tags": TAGS,
    }
    app.enable_swagger(path="/swagger", **description)

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response[str]:
        return _json(app.get_openapi_json_schema(**description))

    @app.get("/", include_in_schema=False)
    def index() -> Response[Any]:
        """A browser is redirected to the console."""
        if "text/html" in (app.current_event.headers.get("accept") or ""):
            return Response(HTTPStatus.SEE_OTHER, headers={"Location": settings.console_path}, body="")
        return _json(json.dumps({"name": TITLE, "version": VERSION, "description": "openapi.json", "page": "swagger"}))


def _json(text: str) -> Response[str]:
    return Response(status_code=HTTPStatus.OK, content_type="application/json", body=text)
