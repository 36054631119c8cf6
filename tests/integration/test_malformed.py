"""Malformed requests: each is rejected with the field and the fix, and nothing is stored."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from punctual import Context
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.malformed import DEEP, RAW_BODIES, SUBMISSIONS
from tests.integration.world import World


def test_every_invalid_submission_names_its_field_and_stores_nothing(world: World) -> None:
    wrong = []
    for name, submission, status, field in SUBMISSIONS:
        wrong += unexpected_response(name, world.request("POST", "/jobs", submission), status, field)
    for name, body, status, field in RAW_BODIES:
        wrong += unexpected_response(name, world.request("POST", "/jobs", raw_body=body), status, field)
    assert wrong == []
    assert world.items("jobs") == []


def unexpected_response(name: str, answer: tuple[int, Any], status: int, field: str) -> list[Any]:
    good = answer[0] == status and field in [error["field"] for error in answer[1]["errors"]]
    return [] if good else [(name, answer)]


@pytest.mark.parametrize(
    ("path", "body", "field", "message"),
    [
        ("/jobs/batch", {"jobs": []}, "jobs", "must have at least 1 item(s), but has 0: add items"),
        (
            "/jobs/batch",
            {"jobs": [{"task": "echo"}] * 1001},
            "jobs",
            "must have at most 1000 items, but has 1001: remove some, or send several requests",
        ),
        ("/jobs/batch", {}, "jobs", "is required: add it"),
        (
            "/jobs/batch",
            {"task": "echo", "jobs": [{"task": "echo"}]},
            "task",
            "is not a known field: remove it, or correct its spelling",
        ),
        (
            "/jobs",
            {"task": "echo", "name": ""},
            "name",
            "must have at least 1 character(s)",
        ),
        ("/jobs", {"task": "echo", "name": "n" * 201}, "name", "must have at most 200 characters: shorten it"),
        ("/jobs", {"task": 7}, "task", "must be text"),
        ("/jobs", {"task": "echo", "parameters": [1]}, "parameters", "must be a JSON object"),
        ("/jobs", {"task": "echo", "timeout_seconds": 0}, "timeout_seconds", "must be greater than or equal to 1"),
        ("/jobs", {"task": "echo", "priority": "urgent"}, "priority", "must be one of high, normal, low"),
        ("/jobs", {"task": "echo", "retries": {}}, "retries", "is not a known field: did you mean 'retry'?"),
        (
            "/jobs",
            {"task": "echo", "max_attempts": 3},
            "max_attempts",
            "is not a known field: did you mean 'retry.max_attempts'?",
        ),
        ("/jobs", {"task": "echo", "zzz": 3}, "zzz", "is not a known field: remove it, or correct its spelling"),
        (
            "/jobs/batch",
            {"jobs": [{"task": "echo"}, {"task": "echo", "schedule": {"crno": "@daily"}}]},
            "jobs.1.schedule.crno",
            "is not a known field: did you mean 'cron'?",
        ),
        (
            "/jobs",
            {"task": "echo", "partitions": {"cout": 2}},
            "partitions.cout",
            "is not a known field: did you mean 'count'?",
        ),
        (
            "/jobs",
            {"task": "echo", "partitions": "x"},
            "partitions",
            'must be a number such as 7, a list, or an object such as {"by": "day"}',
        ),
        (
            "/jobs?dryrun=true",
            {"task": "echo"},
            "dryrun",
            "is not a known query parameter: did you mean 'dry_run'?",
        ),
        (
            "/jobs",
            {"task": "sleep"},
            "parameters.seconds",
            "is required by the task 'sleep': add it; for example 0",
        ),
        (
            "/jobs",
            {"task": "sleep", "parameters": {"seconds": "3"}},
            "parameters.seconds",
            "must be a number, for the task 'sleep'; for example 0",
        ),
        (
            "/jobs",
            {"task": "fail", "parameters": {"tims": 1}},
            "parameters.tims",
            "is not a parameter of the task 'fail': remove it, or use one of times, fatal, partition: "
            "did you mean 'times'?; for example {\"times\": 0}",
        ),
    ],
)
def test_a_field_of_the_wrong_shape_is_rejected_with_the_fix(
    world: World, path: str, body: dict[str, Any], field: str, message: str
) -> None:
    status, problem = world.request("POST", path, body)
    assert (status, problem["errors"]) == (422, [{"field": field, "message": message}])


@pytest.mark.parametrize(
    ("fields", "field", "nearest"),
    [
        ({"task": "ehco"}, "task", "echo"),
        ({"schedule": {"every_seconds": 60, "skip": ["holiday-us"]}}, "schedule.skip.0", "holidays-us"),
        ({"schedule": {"cron": "@daily", "gap": "shfit"}}, "schedule.gap", "shift"),
        ({"schedule": {"every_seconds": 60, "skip": ["weekends"], "on_skip": "skp"}}, "schedule.on_skip", "skip"),
        ({"notify": {"to": "notices"}}, "notify.to", "notice"),
        ({"notify": {"to": {"emial": "a@example.com"}}}, "notify.to", "email"),
        ({"notify": {"to": {"webhook": {"uri": "https://example.com"}}}}, "notify.to.webhook.uri", "url"),
        ({"notify": {"to": {"webhook": {"format": "slak"}}}}, "notify.to.webhook.format", "slack"),
        ({"notify": {"on": ["fialed"]}}, "notify.on.0", "failed"),
        ({"lane": "long", "window": "month", "partitions": {"by": "days"}}, "partitions.by", "day"),
        ({"schedule": {"cron": "@dayly"}}, "schedule.cron", "@daily"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(
    world: World, fields: dict[str, Any], field: str, nearest: str
) -> None:
    status, problem = world.request("POST", "/jobs", {"task": "echo", **fields})
    [error] = problem["errors"]
    assert (status, error["field"]) == (422, field)
    assert error["message"].endswith(f": did you mean {nearest!r}?")
    assert world.items("jobs") == []


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "message"),
    [
        (
            "POST",
            "/jobs/bulk",
            {"action": "pauze"},
            "action",
            "must be one of run, cancel, pause, resume, priority, delete: did you mean 'pause'?",
        ),
        (
            "POST",
            "/executions/bulk",
            {"action": "rerty"},
            "action",
            "must be one of cancel, retry: did you mean 'retry'?",
        ),
        (
            "PUT",
            "/attention/queue.low",
            {"state": "snozed"},
            "state",
            "must be one of acknowledged, snoozed: did you mean 'snoozed'?",
        ),
        (
            "GET",
            "/queues/normla",
            None,
            "queue",
            "there is no queue 'normla'; use one of high, normal, low, intake: did you mean 'normal'?",
        ),
        ("GET", "/jobs?limit=5&limit=6", None, "limit", "is given 2 times: give it once"),
        ("GET", "/jobs?name=a&name=b", None, "name", "is given 2 times: give it once"),
    ],
)
def test_a_request_with_a_wrong_name_is_answered_with_the_allowed_names(
    world: World, method: str, path: str, body: Any, field: str, message: str
) -> None:
    status, problem = world.request(method, path, body)
    assert (status, problem["errors"]) == (404 if field == "queue" else 422, [{"field": field, "message": message}])


def test_a_query_parameter_with_several_values_may_be_repeated(world: World) -> None:
    for query in ("state=active&state=paused", "tag=a:1&tag=b:2", "priority=high&priority=low"):
        assert world.request("GET", f"/jobs?{query}")[0] == 200


@pytest.mark.parametrize(("levels", "status"), [(100, 201), (101, 422)])
def test_parameters_nested_above_the_limit_are_rejected_by_every_endpoint(
    world: World, levels: int, status: int
) -> None:
    deep: dict[str, Any] = {}
    for _ in range(levels - 1):
        deep = {"x": deep}
    job_path = f"/jobs/{world.submit(schedule={'every_seconds': 600})['job_id']}"
    for method, path in [("POST", "/jobs"), ("POST", f"{job_path}/run"), ("PATCH", job_path)]:
        body = {"parameters": deep} | ({"task": "echo"} if path == "/jobs" else {})
        answer = world.request(method, path, body)
        assert answer[0] == (200 if method == "PATCH" and status == 201 else status), answer
    world.run_until_idle()
    for path in ("/jobs", "/executions"):
        assert world.request("GET", path)[0] == 200


def test_a_result_nested_above_the_limit_is_stored_in_the_bucket(world: World) -> None:
    def return_deep_result(_context: Context) -> Any:
        return json.loads(f"[{DEEP}]")

    TASK_BODIES.append(return_deep_result)
    job = world.submit(task="test.scripted")
    world.run_until_idle()
    [one] = world.executions(job["job_id"])
    assert (one["status"], one["result"]["value"]) == ("succeeded", None)
    assert one["result"]["location"].startswith("s3://")
    assert world.request("GET", "/executions")[0] == 200


NO_SUCH_JOB = "01m7j3myg0ab16wzvq72dx3zvq"


@pytest.mark.parametrize("body", [[{"task": "echo"}], "echo", 7])
def test_a_body_that_is_not_an_object_is_refused_with_an_example(world: World, body: Any) -> None:
    for path, example in [
        ("/jobs/batch", '{"jobs": [{"task": "echo"}'),
        ("/jobs", '{"task": "echo"'),
        (f"/jobs/{NO_SUCH_JOB}/run", '{"parameters": {'),
    ]:
        status, problem = world.request("POST", path, body)
        [error] = problem["errors"]
        assert (status, error["field"]) == (422, "body")
        assert error["message"].startswith("must be a JSON object, such as " + example), error


ENDPOINTS_WITHOUT_BODY = (("POST", "/pause"), ("POST", "/resume"), ("PUT", "/cancel"), ("DELETE", ""), ("GET", ""))


@pytest.mark.parametrize("body", ["not json", "{", '{"dry_run": true}', "[1]"])
@pytest.mark.parametrize(("method", "what"), ENDPOINTS_WITHOUT_BODY)
def test_a_body_on_an_endpoint_without_one_is_rejected_and_changes_nothing(
    world: World, method: str, what: str, body: str
) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    status, problem = world.request(method, f"/jobs/{job['job_id']}{what}", raw_body=body)
    assert (status, problem["errors"][0]["field"]) == (422, "body")
    assert "remove it" in problem["detail"]
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "active"


@pytest.mark.parametrize("body", ["", " ", "{}", "null"])
def test_an_empty_body_counts_as_no_body(world: World, body: str) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    assert world.request("POST", f"/jobs/{job['job_id']}/pause", raw_body=body)[0] == 200


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain"])
@pytest.mark.parametrize("path", ["/jobs", "/jobs/{}/run"])
def test_a_content_type_other_than_json_is_rejected(world: World, kind: str, path: str) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    headers = {"content-type": kind}
    status, problem = world.request("POST", path.format(job["job_id"]), raw_body='{"task": "echo"}', headers=headers)
    assert (status, problem["errors"][0]["field"]) == (415, "Content-Type")
    assert len(world.items("jobs")) == 1


def test_an_idempotency_key_that_is_not_unicode_is_refused_without_a_fault(world: World) -> None:
    status, problem = world.request("POST", "/jobs", {"task": "echo"}, headers={"idempotency-key": "a\ud800"})
    assert (status, problem["errors"][0]["field"]) == (400, "Idempotency-Key")
    assert "use a UUID" in problem["detail"]
    assert world.items("jobs") == []


def endpoints_with_body(world: World) -> list[tuple[str, str]]:
    """The methods and paths that the OpenAPI document describes with a body."""
    paths = world.request("GET", "/openapi.json")[1]["paths"]
    return [
        (method.upper(), re.sub(r"{\w+}", "x", path))
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "requestBody" in operation
    ]


HUGE_NUMBER = '{"task": "echo", "parameters": {"x": ' + "1" * 4301 + "}}"


@pytest.mark.parametrize("role", ["operator", "guest"])
@pytest.mark.parametrize(
    ("body", "content_type", "status", "field", "message"),
    [
        (HUGE_NUMBER, "application/json", 400, "body", "a number with more than 4,300 digits"),
        (b'{"task": "\xff\xfe"}', "", 400, "body", "is not UTF-8"),
        (b'{"task": "\xff\xfe"}', "application/json", 400, "body", "is not UTF-8"),
        ("--x", "multipart/form-data", 415, "Content-Type", "must be application/json"),
        (b"--x", "multipart/form-data; boundary=x", 415, "Content-Type", "must be application/json"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_by_every_endpoint_without_a_fault(
    world: World, role: str, body: str | bytes, content_type: str, status: int, field: str, message: str
) -> None:
    headers = {"content-type": content_type}
    endpoints = endpoints_with_body(world)
    assert len(endpoints) >= 11
    for method, path in endpoints:
        answered, problem = world.request(method, path, raw_body=body, headers=headers, role=role)
        assert (answered, problem["errors"][0]["field"]) == (status, field), (path, problem)
        assert message in problem["errors"][0]["message"]
    assert world.items("jobs") == []


LARGEST_NUMBER = "9" * 4300
NUMBERS = (
    "timeout_seconds",
    "expected_seconds",
    "partitions",
    "schedule.every_seconds",
    "schedule.max_runs",
    "retry.max_attempts",
    "retry.backoff_seconds",
    "deadline.within_seconds",
    "resources.vcpu",
    "resources.memory_mb",
    "misfire.grace_seconds",
)


@pytest.mark.parametrize("field", NUMBERS)
def test_a_number_beyond_the_range_of_any_field_is_refused_with_the_field(world: World, field: str) -> None:
    outer, _, inner = field.partition(".")
    value = f'{{"{inner}": {LARGEST_NUMBER}}}' if inner else LARGEST_NUMBER
    body = f'{{"task": "echo", "lane": "long", "{outer}": {value}}}'
    status, problem = world.request("POST", "/jobs", raw_body=body)
    assert (status, problem["errors"][0]["field"]) == (422, field)
    assert len(problem["detail"]) < 500


@pytest.mark.parametrize(
    ("query", "message"),
    [("dry_run=maybe", "must be true or false"), ("dry_run=", "must be true or false")],
)
def test_a_query_parameter_of_the_wrong_type_is_rejected_with_the_fix(world: World, query: str, message: str) -> None:
    status, problem = world.request("POST", f"/jobs?{query}", {"task": "echo"})
    assert (status, problem["errors"]) == (422, [{"field": "dry_run", "message": message}])


COSTLY_SCHEDULE = {"cron": "* * * * *", "max_runs": 10_000}


def test_a_batch_whose_runs_are_too_many_to_count_is_refused_naming_the_field(world: World) -> None:
    jobs = [{"task": "echo", "schedule": COSTLY_SCHEDULE}] * 20
    status, problem = world.request("POST", "/jobs/batch", {"jobs": jobs})
    assert (status, problem["errors"]) == (
        422,
        [
            {
                "field": "jobs.5.schedule.max_runs",
                "message": "brings the total of the batch to 60,000; the limit is 50,000: lower max_runs, use ends_at,"
                " or send several batches",
            }
        ],
    )
    assert world.items("jobs") == []


def test_a_batch_that_takes_too_long_to_check_is_refused_naming_the_job(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_clock() -> datetime:
        world.pass_time(4)
        return world.now

    routes = world.function("api").jobs
    monkeypatch.setattr(routes, "submit", replace(routes.submit, clock=slow_clock))
    status, problem = world.request("POST", "/jobs/batch", {"jobs": [{"task": "echo"}] * 5})
    assert (status, problem["errors"][0]["field"]) == (422, "jobs.2")
    assert "send this job and the rest in another batch" in problem["detail"]
    assert world.items("jobs") == []
