"""The OpenAPI document: it describes what the API accepts and returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
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
        expected = {"422"} if name in ("GET /health", "GET /config") else {"401", "403", "422", "429"}
        if "requestBody" in operation:
            expected |= {"400", "415"}
        assert expected <= set(operation["responses"]), name


def test_every_operation_belongs_to_one_described_group_and_groups_are_contiguous(world: World) -> None:
    described = {tag["name"] for tag in document(world)["tags"] if tag["description"]}
    groups = [operation["tags"] for _, operation in operations(world)]
    assert {len(tags) for tags in groups} == {1}
    names = [name for [name] in groups]
    assert set(names) == described
    assert [name for name, _ in groupby(names)] == [tag["name"] for tag in document(world)["tags"]]


def test_every_header_is_documented(world: World) -> None:
    keyed = {
        name
        for name, operation in operations(world)
        if any(one["in"] == "header" and one["name"] == "idempotency-key" for one in operation.get("parameters", ()))
    }
    assert keyed == {
        "POST /jobs",
        "POST /jobs/batch",
        "POST /jobs/bulk",
        "POST /executions/bulk",
        "POST /operations/{operation_id}/undo",
        "POST /jobs/{job_id}/run",
        "POST /jobs/{job_id}/backfill",
        "POST /jobs/{job_id}/messages",
        "POST /executions/{execution_id}/retry",
        "POST /executions/{execution_id}/yield",
    }
    named = dict(operations(world))
    assert "if-match" in {one["name"] for one in named["PATCH /jobs/{job_id}"]["parameters"]}
    assert "Location" in named["GET /executions/{execution_id}/result"]["responses"]["303"]["headers"]


def test_every_example_of_a_body_is_accepted_as_it_stands(world: World) -> None:
    job, queue_job = world.submit(schedule={"cron": "0 * * * *"}), world.submit(schedule={"queue": True})
    failed = world.submit(task="fail", retry={"max_attempts": 1})
    world.run_until_idle()
    ids = {"job_id": job["job_id"], "execution_id": world.executions(failed["job_id"])[0]["execution_id"]}
    ids["attention_id"] = "queue.low"
    found = [(name, operation["requestBody"]) for name, operation in operations(world) if "requestBody" in operation]
    assert len(found) == 11
    for name, body in found:
        of_messages = {"job_id": queue_job["job_id"]} if name.endswith("/messages") else {}
        method, path = name.format(**{**ids, **of_messages}).split(" ")
        example = body["content"]["application/json"]["examples"]["example"]["value"]
        status, answer = world.request(method, path, example)
        assert status < 300, (name, answer)


def test_every_example_of_a_field_is_accepted_with_its_required_fields(world: World) -> None:
    schemas = document(world)["components"]["schemas"]
    for field, schema in schemas["Schedule"]["properties"].items():
        for example in schema.get("examples", ()):
            kind = {} if field in ("at", "cron", "every_seconds") else {"cron": "@daily"}
            body = {"task": "echo", "schedule": {**kind, field: example}}
            status, answer = world.request("POST", "/jobs?dry_run=true", body)
            assert status == 200, (field, answer)


FILTERS = {"JobSelection", "ExecutionSelection"}
"""They accept several values of a field."""
TWO_TYPES = {
    "by": "an acknowledgement names a person; in the rules of a job it is a unit or a schedule",
    "deadline": "a job has the rule, an execution the forecast; an execution that is not planned may have no forecast",
    "dependants": "those of a job are jobs, those of an execution are executions",
    "filter": "an operation on jobs has the filters of jobs, one on executions those of executions",
    "items": "each list has its own",
    "partitions": "a submission may also have their number, or their values",
    "queue": "a queue has a name, a schedule a switch",
    "status": "RFC 9457 defines that of a problem",
    "subject": "that of a caller is the claim `sub` of the token",
    "to": "a range ends at an instant; a notification goes to destinations",
    "upstreams": "those of a job are jobs, those of an execution are executions",
    "window": "a job has the unit, an execution the window itself",
}
"""The fields with two types, and why."""


def test_a_field_has_the_same_type_everywhere(world: World) -> None:
    schemas = document(world)["components"]["schemas"]
    found: dict[str, dict[str, list[str]]] = {}
    for component in schemas.keys() - FILTERS:
        for name, value in schemas[component].get("properties", {}).items():
            for one in types_of(value, schemas):
                found.setdefault(name, {}).setdefault(one, []).append(component)
    several = {name: types for name, types in found.items() if len(distinct(types)) > 1}
    unexpected = several.keys() ^ TWO_TYPES.keys()
    assert not unexpected, {name: found[name] for name in unexpected}


def distinct(types: Iterable[str]) -> list[str]:
    """The types without `object`, if a component describes it: answers repeat the rules of a job as they are."""
    return [one for one in types if not any(other.startswith(f"{one} ") for other in types)]


def types_of(schema: dict[str, Any], schemas: dict[str, Any]) -> set[str]:
    """The types of a value, without null."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return {f"object {name}"} if "properties" in schemas[name] else types_of(schemas[name], schemas)
    if alternatives := schema.get("anyOf") or schema.get("oneOf"):
        return set().union(*(types_of(one, schemas) for one in alternatives))
    if schema.get("type") == "array":
        return {f"list of {one}" for one in types_of(schema["items"], schemas)}
    return {"number" if one == "integer" else one for one in [schema.get("type")] if one not in (None, "null")}
