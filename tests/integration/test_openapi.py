"""The OpenAPI document: it describes what the API accepts and returns."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.integration.world import World

API = Path(__file__).parents[2] / "functions" / "api"
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


def path_of(name: str, operation: dict[str, Any], **query: str) -> str:
    """The path of a GET, with ``query`` and the parameters that it requires."""
    required = {one["name"] for one in operation.get("parameters", ()) if one.get("required") and one["in"] == "query"}
    week = {"from": "2026-11-16T00:00:00Z", "to": "2026-11-23T00:00:00Z"}
    return f"{name.removeprefix('GET ')}?{urlencode({one: week[one] for one in required} | query)}".rstrip("?")


def headers_of(operation: dict[str, Any]) -> set[str]:
    return {one["name"].lower() for one in operation.get("parameters", ()) if one["in"] == "header"}


def route_sources() -> dict[str, str]:
    """The source of the function of each operation, by method and path."""
    found = {}
    for file in sorted(API.glob("routes/*.py")):
        for node in ast.parse(text := file.read_text()).body:
            for decorator in getattr(node, "decorator_list", ()):
                if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute):
                    path = re.sub(r"<(\w+)>", r"{\1}", ast.literal_eval(decorator.args[0]))
                    found[f"{decorator.func.attr.upper()} {path}"] = ast.get_source_segment(text, node) or ""
    return found


def test_every_header_that_the_code_reads_is_documented(world: World) -> None:
    sources, keyed = route_sources(), set()
    for name, operation in operations(world):
        expected = {"if-none-match"} if name.startswith("GET ") else set()
        expected |= {"idempotency-key"} if sources[name].count("idempotency_key") > 1 else set()
        expected |= {"if-match"} if "if_match" in sources[name] else set()
        assert headers_of(operation) == expected, name
        keyed |= {name} if "idempotency-key" in expected else set()
    assert {"POST /jobs", "POST /jobs/batch", "POST /executions/{execution_id}/retry"} <= keyed
    read = {name for file in API.rglob("*.py") for name in re.findall(r'headers.*\.get\("([\w-]+)"', file.read_text())}
    assert "if-none-match" in read
    assert read - {"content-type", "headers", "accept"} <= {
        name for _, operation in operations(world) for name in headers_of(operation)
    }


def test_every_header_of_an_answer_is_documented(world: World) -> None:
    sources = route_sources()
    for name, operation in operations(world):
        documented = {header for one in operation["responses"].values() for header in one.get("headers", {})}
        assert set(re.findall(r'headers=\{"([\w-]+)"', sources[name])) <= documented, name
        if name.startswith("GET ") and "{" not in name:
            sent = world.respond("GET", path_of(name, operation), role="admin")
            assert sent["statusCode"] < 500, name
            assert set(sent.get("headers", {})) - {"Content-Type"} <= documented, name
    assert "headers=" in sources["GET /executions/{execution_id}/result"]


def test_an_id_token_is_refused_exactly_where_403_is_documented(world: World) -> None:
    for name, operation in operations(world):
        if name.startswith("GET ") and "{" not in name:
            status, _ = world.request("GET", path_of(name, operation), claims={"token_use": "id"})
            assert (status == 403) == ("403" in operation["responses"]), (name, status)


def test_a_user_who_was_disabled_is_refused_by_every_operation_that_changes_something(world: World) -> None:
    world.users.changed = {"operator@data-quality": None}
    for name, operation in operations(world):
        method, path = name.split(" ")
        if method != "GET" and path != "/schedules/preview":
            content = operation.get("requestBody", {"content": {}})["content"].values()
            body = next((media["examples"]["example"]["value"] for media in content), None)
            status, problem = world.request(method, re.sub(r"{\w+}", "queue.low", path), body)
            assert status == 403, (name, problem)
            assert "was disabled or deleted" in problem["detail"], name


def test_every_example_of_a_body_is_accepted_as_it_stands(world: World) -> None:
    job, queue_job = world.submit(schedule={"cron": "0 * * * *"}), world.submit(schedule={"queue": True})
    failed = world.submit(task="fail", retry={"max_attempts": 1})
    world.run_until_idle()
    ids = {"job_id": job["job_id"], "execution_id": world.executions(failed["job_id"])[0]["execution_id"]}
    ids["attention_id"] = "queue.low"
    found = [(name, operation["requestBody"]) for name, operation in operations(world) if "requestBody" in operation]
    assert len(found) == 12
    for name, body in found:
        of_messages = {"job_id": queue_job["job_id"]} if name.endswith("/messages") else {}
        method, path = name.format(**{**ids, **of_messages}).split(" ")
        example = body["content"]["application/json"]["examples"]["example"]["value"]
        status, answer = world.request(method, path, example, role="admin")
        assert status < 300, (name, answer)


def with_example(component: str, field: str, example: Any, job_id: str) -> tuple[str, str, Any]:
    """A request whose body has an example of a field of a component."""
    value = {field: example}
    match component:
        case "Submission":
            return "POST", "/jobs", {"task": "echo", **value}
        case "Schedule":
            kind = {} if field in ("at", "cron", "every_seconds") else {"cron": "@daily"}
            return "POST", "/jobs", {"task": "echo", "schedule": {**kind, **value}}
        case "ConcurrencyRule":
            return "POST", "/jobs", {"task": "echo", "concurrency": {"limit": 1, **value}}
        case "Resources":
            return "POST", "/jobs", {"task": "echo", "lane": "long", "resources": value}
        case "Edit":
            return "PATCH", f"/jobs/{job_id}", value
        case "BackfillRequest":
            return (
                "POST",
                f"/jobs/{job_id}/backfill",
                {"from": "2026-10-01T00:00:00Z", "to": "2026-10-02T00:00:00Z", **value},
            )
        case "Message":
            return "POST", f"/jobs/{job_id}/messages", {"messages": [value]}
        case "JobSelection":
            return "POST", "/jobs/bulk", {"action": "pause", "filter": value}
        case "ExecutionSelection":
            return "POST", "/executions/bulk", {"action": "cancel", "filter": value}
    raise AssertionError(f"add a request with {component}.{field}, of which the document has an example")


def sent_components(world: World) -> set[str]:
    """The components that the bodies of requests consist of."""
    schemas, found = document(world)["components"]["schemas"], set[str]()
    unseen = {name for _, one in operations(world) for name in references(one.get("requestBody"))}
    while unseen:
        found |= unseen
        unseen = {inner for name in unseen for inner in references(schemas[name])} - found
    return found


def references(schema: Any) -> set[str]:
    return set(re.findall(r"#/components/schemas/([\w.-]+)", json.dumps(schema)))


def test_every_example_of_a_field_is_accepted_with_its_required_fields(world: World) -> None:
    schemas, tested = document(world)["components"]["schemas"], set()
    recurring, queue_job = (world.submit(schedule=one)["job_id"] for one in ({"cron": "0 * * * *"}, {"queue": True}))
    for component in sorted(sent_components(world)):
        for field, schema in schemas[component].get("properties", {}).items():
            for example in schema.get("examples", ()):
                job_id = queue_job if component == "Message" else recurring
                method, path, body = with_example(component, field, example, job_id)
                status, answer = world.request(method, f"{path}?dry_run=true", body)
                assert status == 200, (component, field, answer)
                tested.add(component)
    assert len(tested) >= 9


def test_every_example_of_a_query_parameter_is_accepted(world: World) -> None:
    job = world.submit(schedule={"cron": "0 * * * *"})
    tested = set()
    for name, operation in operations(world):
        for one in operation.get("parameters", ()):
            for example in one["schema"].get("examples", ()):
                value = example[0] if isinstance(example, list) else example
                path = path_of(name, operation, **{one["name"]: value}).format(job_id=job["job_id"])
                status, answer = world.request("GET", path)
                assert status == 200, (name, one["name"], answer)
                tested.add(one["name"])
    assert "tag" in tested


def test_every_percentage_of_an_answer_is_rounded(world: World) -> None:
    """It has the type that rounds, which the document shows as a format."""
    schemas, found = document(world)["components"]["schemas"], set()
    for component in schemas.keys() - sent_components(world):
        for name, schema in schemas[component].get("properties", {}).items():
            if name.endswith("percent"):
                assert '"format": "percent"' in json.dumps(schema), (component, name)
                found.add(name)
    assert {"percent", "usual_percent", "success_percent", "failure_percent"} <= found


UNIT = re.compile(r"(_|^)(seconds|minutes|percent|dollars|vcpus?|mb|per_(second|minute|month))(_until_breach)?$")
WITHOUT_UNIT = {
    "backoff_rate": "a factor",
    "done": "in the units of the task",
    "probability": "a share, as usual of probabilities",
    "mean_tasks": "a number of containers, on average over an hour",
    "total": "in the units of the task",
}
"""The fractional numbers whose name has no unit, and why."""


def test_the_name_of_a_fractional_number_has_its_unit(world: World) -> None:
    found: dict[str, set[str]] = {}
    for component, schema in document(world)["components"]["schemas"].items():
        for name, value in schema.get("properties", {}).items():
            if is_fractional(value) and not UNIT.search(name):
                found.setdefault(name, set()).add(component)
    assert found.keys() == WITHOUT_UNIT.keys(), found


def is_fractional(schema: dict[str, Any]) -> bool:
    """Whether a value, each of its items, or each value of a map may be a fraction."""
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    return schema.get("type") == "number" or any(map(is_fractional, inner))


def test_every_probability_of_an_answer_is_rounded(world: World) -> None:
    schemas = document(world)["components"]["schemas"]
    found = {
        name: json.dumps(one["properties"]["probability"])
        for name, one in schemas.items()
        if "probability" in one.get("properties", {})
    }
    assert {"ExecutionDeadline", "CalendarDeadline"} <= set(found)
    assert all('"format": "probability"' in schema for schema in found.values()), found


def test_every_list_has_items_and_a_cursor(world: World) -> None:
    """A log has a cursor in each direction."""
    schemas, lists = document(world)["components"]["schemas"], set()
    for name, operation in operations(world):
        answer = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
        fields = schemas.get(answer.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
        if name.startswith("GET ") and "items" in fields:
            lists.add(name)
            wanted = {"before", "after", "total"} if name.endswith("/logs") else {"cursor"}
            assert wanted <= set(fields), name
    assert {"GET /jobs", "GET /executions", "GET /tasks", "GET /calendars", "GET /queues", "GET /operations"} <= lists


WITH_OWN_NAME = {"Job", "JobDetail", "BatchEntry"}
"""They are jobs, which have a `name`."""


def test_what_refers_to_a_job_has_its_job_name(world: World) -> None:
    schemas = document(world)["components"]["schemas"]
    for component, schema in schemas.items():
        fields = schema.get("properties", {}).keys()
        if {"job_id", "name"} <= fields or {"job_id", "job_name"} <= fields:
            assert ("name" in fields) == (component in WITH_OWN_NAME), component
            assert ("job_name" in fields) == (component not in WITH_OWN_NAME), component


FILTERS = {"JobSelection", "ExecutionSelection"}
"""They accept several values of a field."""
TWO_TYPES = {
    "by": "an acknowledgement names a person; in the rules of a job it is a unit or a schedule",
    "deadline": "a job has the rule, an execution the forecast; an execution that is not planned may have no forecast",
    "dependants": "those of a job are jobs, those of an execution are executions",
    "done": "an operation counts items, the progress of a task may be a fraction",
    "filter": "an operation on jobs has the filters of jobs, one on executions those of executions",
    "items": "each list has its own",
    "jobs": "a batch has submissions, the status of the queues a list of queue jobs",
    "messages": "a request has messages, the backlog limits of a job have their number",
    "partitions": "a submission may also have their number, or their values",
    "queue": "a queue has a name, a schedule a switch",
    "status": "RFC 9457 defines that of a problem",
    "subject": "that of a caller is the claim `sub` of the token",
    "to": "a range ends at an instant; a notification goes to destinations",
    "total": "of a list, the number of items; the progress of a task may have a fraction",
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
    return {one for one in [schema.get("type")] if one not in (None, "null")}
