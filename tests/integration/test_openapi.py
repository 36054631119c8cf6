"""The OpenAPI document: it describes what the API accepts and returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.integration.world import World

GATEWAY_STATUSES = {"401", "429"}
"""Statuses that API Gateway returns by itself, as plain JSON."""


def document(world: World) -> dict[str, Any]:
    status, found = world.request("GET", "/openapi.json")
    assert status == 200
    return found


def operations(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document(world)["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_the_api_serves_its_openapi_document(world: World) -> None:
    found = document(world)
    assert found["openapi"].startswith("3.1")
    assert {"/jobs", "/jobs/batch", "/jobs/{job_id}", "/executions", "/executions/{execution_id}/logs"} <= set(
        found["paths"]
    )
    assert world.request("GET", "/health") == (200, {"status": "ok", "stage": "test"})


def test_every_error_is_documented_with_its_content_type(world: World) -> None:
    for name, operation in operations(world):
        for status, response in operation["responses"].items():
            if int(status) >= 400 and status not in GATEWAY_STATUSES:
                assert list(response["content"]) == ["application/problem+json"], (name, status)
    assert not {"HTTPValidationError", "ResponseValidationError"} & set(document(world)["components"]["schemas"])


def test_every_operation_documents_the_refusals_that_apply_to_it(world: World) -> None:
    for name, operation in operations(world):
        expected = {"422"} if name == "GET /health" else {"401", "403", "422", "429"}
        if "requestBody" in operation:
            expected |= {"400", "415"}
        assert expected <= set(operation["responses"]), name
