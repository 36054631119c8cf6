"""What needs no token: whether the API answers, and its description."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import answers
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, Server
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from services import settings

router = APIGatewayHttpRouter()

TITLE, VERSION = "Punctual", "0.1.0"
DESCRIPTION = "Submit jobs and see them run. Errors are problem documents (RFC 9457) that name the field."


@router.get("/health", summary="Whether the API answers", tags=["about"])
def health() -> answers.Health:
    return answers.Health(status="ok", stage=settings.punctual_stage)


def describe(app: APIGatewayHttpResolver) -> None:
    """Serve the description of ``app`` as JSON and as a page."""
    description: dict[str, Any] = {
        "title": TITLE,
        "version": VERSION,
        "description": DESCRIPTION,
        "servers": [Server(url=".", description="where this page comes from")],
        "security_schemes": {"token": HTTPBearer(bearerFormat="JWT")},
        "security": [{"token": []}],
    }
    app.enable_swagger(path="/swagger", **description)

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response[str]:
        return _json(app.get_openapi_json_schema(**description))

    @app.get("/", include_in_schema=False)
    def index() -> dict[str, str]:
        return {"name": TITLE, "version": VERSION, "description": "openapi.json", "page": "swagger"}


def _json(text: str) -> Response[str]:
    return Response(status_code=HTTPStatus.OK, content_type="application/json", body=text)
