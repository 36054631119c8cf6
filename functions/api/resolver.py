"""Powertools' resolver with strict validation, and an OpenAPI document that shows what is accepted and sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import conditional
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.models import Example, OpenAPI, Operation, PathItem, Tag
from strictness import StrictValidation, body_model

UNUSED_SCHEMAS = ("HTTPValidationError", "ValidationError", "ResponseValidationError")
"""Powertools' own errors. ``problems`` replaces them."""


class Resolver(APIGatewayHttpResolver):
    def __init__(self) -> None:
        super().__init__(enable_validation=True)
        # Powertools runs its validation before every middleware that ``use`` adds, and fails on an unreadable body.
        self._request_validation_middleware = StrictValidation()

    def resolve(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        return conditional.answer_if_changed(event, super().resolve(event, context))

    def get_openapi_schema(self, *, tags: list[Tag], **description: Any) -> OpenAPI:  # type: ignore[override]
        """Return the document, with its operations in the order of ``tags``."""
        document = super().get_openapi_schema(tags=[*tags], **description)
        if document.components and document.components.schemas:
            for name in UNUSED_SCHEMAS:
                document.components.schemas.pop(name, None)
        order = {tag.name: position for position, tag in enumerate(tags)}
        paths = sorted((document.paths or {}).items(), key=lambda path: (order[_tag_of(path[1])], path[0]))
        document.paths = dict(paths)
        self._add_examples(document)
        for path in document.paths.values():
            if path.get:
                conditional.describe(path.get)
        return document

    def _add_examples(self, document: OpenAPI) -> None:
        """Show the example of a body also where the body is optional: tools ignore the example in its schema there."""
        for route in (*self._static_routes, *self._dynamic_routes):
            operation = getattr((document.paths or {}).get(route.openapi_path), route.method.lower(), None)
            if operation and operation.requestBody and (model := body_model(route)):
                [media] = operation.requestBody.content.values()
                media.examples = {"example": Example(value=model.example())}


def _tag_of(path: PathItem) -> str:
    [tag] = {tag for operation in _operations(path) for tag in operation.tags or ()}
    return tag


def _operations(path: PathItem) -> Iterator[Operation]:
    for method in ("get", "post", "put", "patch", "delete"):
        if operation := getattr(path, method):
            yield operation
