"""Powertools' resolver with strict validation, and with an OpenAPI document that shows the errors that are sent."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.models import OpenAPI
from strictness import StrictValidation

UNUSED_SCHEMAS = ("HTTPValidationError", "ValidationError", "ResponseValidationError")
"""Powertools' own errors. ``problems`` replaces them."""


class Resolver(APIGatewayHttpResolver):
    def __init__(self) -> None:
        super().__init__(enable_validation=True)
        # Powertools runs its validation before every middleware that ``use`` adds, and fails on an unreadable body.
        self._request_validation_middleware = StrictValidation()

    def get_openapi_schema(self, **description: Any) -> OpenAPI:
        document = super().get_openapi_schema(**description)
        if document.components and document.components.schemas:
            for name in UNUSED_SCHEMAS:
                document.components.schemas.pop(name, None)
        return document
