"""The examples in ``docs/api.md``: requests are accepted as they stand, responses have the documented fields."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import fastjsonschema
import pytest

from tests.integration.world import World

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
ROUTED = re.findall(r"^```json ([A-Z]+) (/\S*) ?(\d*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
"""Method, path, status and text of each example. Those without a status are bodies of requests."""
BLOCKS = [text for *_, text in ROUTED]
COMMANDS = [one for one in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL) if "curl " in one]
FIELD_ROWS = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", TEXT.partition("## Executions")[0], re.MULTILINE)
INLINE = re.compile(r"`(\{[^`]*\})`")
HOURLY = {"cron": "0 * * * *"}


def parsed(text: str) -> Any | None:
    """The value of an example; ``None`` if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def without_elisions(text: str) -> str:
    """An example without each ``…`` that stands for further fields or items."""
    return re.sub(r"([\[{])\s*…(?=\s*[}\]])", r"\1", re.sub(r",\s*…(?=\s*[}\]])", "", text))


def value_of(block: str) -> Any:
    """The value of a block. Raises ``ValueError`` for one that is neither JSON nor the fields of an object."""
    text = without_elisions(block)
    return json.loads(f"{{{text}}}" if is_fragment(block) else text)


def is_fragment(block: str) -> bool:
    """Whether a block has fields of an object that is not shown as a whole."""
    return block.startswith('"')


def blocks(*fields: str) -> list[dict[str, Any]]:
    """The complete objects among the blocks that have these fields."""
    found = [block for block in map(parsed, BLOCKS) if isinstance(block, dict) and block.keys() >= set(fields)]
    assert found, f"docs/api.md has no example with {fields}"
    return found


def inline(*fields: str) -> list[dict[str, Any]]:
    found = [value for value in map(parsed, INLINE.findall(TEXT)) if value and value.keys() >= set(fields)]
    assert found, f"docs/api.md has no example with {fields}"
    return found


def is_like(example: Any, actual: Any) -> bool:
    """Whether ``actual`` has what the example shows; ``…`` stands for any text."""
    if isinstance(example, dict):
        return isinstance(actual, dict) and all(is_like(value, actual.get(name)) for name, value in example.items())
    if isinstance(example, list):
        return len(example) == len(actual) and all(map(is_like, example, actual))
    if isinstance(example, str):
        return re.fullmatch(".*".join(map(re.escape, example.split("…"))), actual, re.DOTALL) is not None
    return bool(example == actual)


def test_the_examples_of_submissions_are_accepted_and_returned(world: World) -> None:
    for example in blocks("task"):
        status, job = world.request("POST", "/jobs", example)
        assert status == 201, job
        assert is_like(example, job)


def test_the_examples_of_job_fields_are_accepted(world: World) -> None:
    accepted = []
    for field, default, meaning in FIELD_ROWS:
        shown = [text for text in INLINE.findall(f"{default} {meaning}") if "…" not in text]
        for value in filter(None, map(parsed, shown)):
            schedule = {"queue": True} if field == "backlog" or "run_all" in str(value) else HOURLY
            job = {"task": "echo", "parameters": {"customer_id": 7}, "schedule": schedule, field: value}
            status, answer = world.request("POST", "/jobs?dry_run=true", job)
            assert status == 200, (field, value, answer)
            accepted.append(field)
    assert {"notify", "deadline", "misfire", "concurrency", "backlog"} <= set(accepted)


def test_the_example_of_a_backfill_is_accepted(world: World) -> None:
    job = world.submit(schedule={"cron": "0 2 * * SUN"})
    for example in inline("from", "to"):
        status, answer = world.request("POST", f"/jobs/{job['job_id']}/backfill?dry_run=true", example)
        assert (status, len(answer["appear"])) == (200, 4), answer


def test_the_examples_of_messages_become_executions(world: World) -> None:
    job = world.submit(task="queue.process", schedule={"queue": True})
    for example in blocks("messages"):
        status, answer = world.request("POST", f"/jobs/{job['job_id']}/messages", example)
        assert (status, len(answer["items"])) == (202, len(example["messages"])), answer
    [sent] = re.findall(r"--message-body '(.*)'$", TEXT, re.MULTILINE)
    body = json.dumps({**json.loads(sent), "job_id": job["job_id"]})
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)
    world.run_until_idle()
    assert [one["status"] for one in world.executions(job["job_id"])] == ["succeeded"] * 2


def test_the_example_of_revisions_is_the_answer_to_its_edits_which_are_restored_as_described(world: World) -> None:
    [example] = [one for one in blocks("items", "cursor") if "changes" in one["items"][0]]
    changes = example["items"][0]["changes"]
    path = f"/jobs/{world.submit(schedule=HOURLY)['job_id']}"
    assert world.request("PATCH", path, {one["field"]: one["new"] for one in changes})[0] == 200
    answer = world.request("GET", f"{path}/revisions")[1]
    for one, shown in zip(answer["items"], example["items"], strict=True):
        assert {**one, "by": shown["by"], "at": shown["at"]} == shown
    [restoring] = [one for one in inline("priority", "deadline") if None in one.values()]
    assert restoring == {one["field"]: one["old"] for one in changes}
    status, restored = world.request("PATCH", path, restoring)
    assert (status, restored["revision"], restored["priority"], restored["deadline"]) == (200, 3, "normal", None)


def test_the_example_of_a_transfer_gives_the_job_to_the_team_that_it_names(world: World) -> None:
    [example] = [one for one in inline("owner") if one.keys() == {"owner"}]
    path = f"/jobs/{world.submit(schedule=HOURLY)['job_id']}/transfer"
    status, job = world.request("POST", path, example, role="admin")
    assert (status, job["owner"], job["revision"]) == (200, example["owner"], 2)


def test_the_example_of_an_error_is_the_answer_to_the_mistake_that_it_shows(world: World) -> None:
    schedule = {"cron": "0 2 * * *", "timezone": "Europe/Belrin"}
    status, problem = world.request("POST", "/jobs", {"task": "echo", "schedule": schedule})
    [example] = blocks("errors")
    assert (status, is_like(example, problem)) == (example["status"], True), problem


def test_every_json_block_names_its_route() -> None:
    assert len(ROUTED) == TEXT.count("```json") >= 17


def test_each_example_has_the_fields_of_its_route_and_status_in_the_openapi_document(world: World) -> None:
    document = world.request("GET", "/openapi.json")[1]
    schemas = closed(document["components"]["schemas"])
    optional = {name: without_required(schema) for name, schema in schemas.items()}
    for method, path, status, block in ROUTED:
        operation = document["paths"][path][method.lower()]
        [content] = (operation["responses"][status] if status else operation["requestBody"])["content"].values()
        is_shortened = is_fragment(block) or without_elisions(block) != block
        fastjsonschema.validate(
            {**content["schema"], "components": {"schemas": optional if is_shortened else schemas}}, value_of(block)
        )


def test_an_example_with_a_field_of_another_route_is_found(world: World) -> None:
    document = world.request("GET", "/openapi.json")[1]
    schemas = {name: without_required(one) for name, one in closed(document["components"]["schemas"]).items()}
    [content] = document["paths"]["/jobs"]["get"]["responses"]["200"]["content"].values()
    with pytest.raises(fastjsonschema.JsonSchemaValueException, match="must not contain"):
        fastjsonschema.validate({**content["schema"], "components": {"schemas": schemas}}, {"items": [{"attempt": 1}]})


def test_the_curl_commands_do_what_the_page_says(world: World, tmp_path: Path) -> None:
    world.submit(schedule=HOURLY)
    assert COMMANDS
    with served(world) as address:
        for command in COMMANDS:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command],
                env={"PATH": os.environ["PATH"], "API": address, "TOKEN": "operator"},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
            )
            assert done.stdout.split() == re.findall(r"# (\d+)$", command, re.MULTILINE), done


@contextmanager
def served(world: World) -> Iterator[str]:
    """Serve the GET routes of the API over HTTP, at the address that is yielded."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.headers["Authorization"] == "Bearer operator"
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = world.respond("GET", self.path, headers=headers)
            body = (answer.get("body") or "").encode()
            self.send_response(answer["statusCode"])
            for name, value in {**answer.get("headers", {}), "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("block", ['{"a": 1,}', '"a": 1, "b"', "{…, 1}", "[1 …]"])
def test_a_block_that_is_not_json_is_found(block: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        value_of(block)


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ('{"a": [1, …], …}', {"a": [1]}),
        ('"a": […], "b": {…}', {"a": [], "b": {}}),
        ('{"a": "x…"}', {"a": "x…"}),
    ],
)
def test_elisions_of_a_block_are_left_out(block: str, value: Any) -> None:
    assert value_of(block) == value


def without_required(schema: Any) -> Any:
    """The schema of a shortened example."""
    if isinstance(schema, dict):
        return {name: without_required(one) for name, one in schema.items() if name != "required" or is_field(one)}
    return [without_required(one) for one in schema] if isinstance(schema, list) else schema


def is_field(schema: Any) -> bool:
    """Whether ``required`` is the name of a property, and not the list of required ones."""
    return isinstance(schema, dict)


def closed(schema: Any) -> Any:
    """The schema without room for fields that it does not describe."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(one) for name, one in schema.items()}
    is_open = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    return {"additionalProperties": False, **inner} if is_open else inner
