"""Conditional requests: an answer that the client already has is not sent again."""

from __future__ import annotations

import pytest

from tests.integration.test_openapi import operations
from tests.integration.world import World


def test_an_answer_that_the_client_has_is_304_without_a_body(world: World) -> None:
    job_id = world.submit(schedule={"cron": "@daily"})["job_id"]
    world.run_until_idle()
    [planned] = world.executions(job_id)
    for path in (
        "/jobs",
        f"/jobs/{job_id}",
        "/executions?status=scheduled",
        f"/executions/{planned['execution_id']}",
        "/tasks",
        "/openapi.json",
    ):
        first = world.respond("GET", path)
        assert (first["statusCode"], first["headers"]["Cache-Control"]) == (200, "private, no-cache")
        tag = first["headers"]["ETag"]
        again = world.respond("GET", path, headers={"if-none-match": tag})
        assert (again["statusCode"], again["body"]) == (304, "")
        assert again["headers"] == {"ETag": tag, "Cache-Control": "private, no-cache"}
        strong = tag.removeprefix("W/")
        for header in (strong, f'"other", {tag}', "*"):
            assert world.respond("GET", path, headers={"if-none-match": header})["statusCode"] == 304
        assert world.respond("GET", path, headers={"if-none-match": '"other"'})["statusCode"] == 200


def tag_of(world: World, path: str) -> str:
    return str(world.respond("GET", path)["headers"]["ETag"])


def test_the_time_that_passes_changes_no_tag_of_an_idle_lane(world: World) -> None:
    world.submit(lane="long", task="quality.weekly", parameters={"dataset": "a"}, schedule={"cron": "30 23 * * *"})
    world.run_until_idle()
    tag = tag_of(world, "/lane")
    world.pass_time(600)
    assert world.respond("GET", "/lane", headers={"if-none-match": tag})["statusCode"] == 304
    world.submit(lane="long", task="quality.weekly", parameters={"dataset": "b"}, schedule={"cron": "30 22 * * *"})
    world.run_until_idle()
    assert tag_of(world, "/lane") != tag


@pytest.mark.parametrize("was_checked", [True, False])
def test_a_forecast_that_finds_nothing_new_changes_no_tag(world: World, was_checked: bool) -> None:
    job = world.submit(schedule={"cron": "@daily"}, expected_seconds=60, deadline={"within_seconds": 3600})
    world.run_until_idle()
    if was_checked:
        world.monitor_tick()
        world.deliver_checks()
    path = f"/executions/{world.executions(job['job_id'])[0]['execution_id']}"
    first = world.request("GET", path)[1]["deadline"]
    assert (first["since"] is not None) == was_checked
    tag = tag_of(world, path)
    world.pass_time(600)
    assert world.request("GET", path)[1]["deadline"]["checked_at"] > first["checked_at"]
    assert world.respond("GET", path, headers={"if-none-match": tag})["statusCode"] == 304
    assert world.request("PUT", f"{path}/cancel")[0] == 200
    assert tag_of(world, path) != tag


def test_a_changed_job_has_another_tag(world: World) -> None:
    path = f"/jobs/{world.submit(schedule={'cron': '@daily'})['job_id']}"
    world.run_until_idle()
    tags = {one: world.respond("GET", one)["headers"]["ETag"] for one in (path, "/jobs")}
    assert world.request("PATCH", path, {"priority": "high"})[0] == 200
    for one, tag in tags.items():
        changed = world.respond("GET", one, headers={"if-none-match": tag})
        assert (changed["statusCode"], changed["headers"]["ETag"] == tag) == (200, False)


@pytest.mark.parametrize(("method", "path"), [("GET", "/jobs/unknown"), ("POST", "/jobs")])
def test_errors_and_other_methods_have_no_tag(world: World, method: str, path: str) -> None:
    answer = world.respond(method, path, {"task": "echo"} if method == "POST" else None, headers={"if-none-match": "*"})
    assert answer["statusCode"] in (201, 404)
    assert "ETag" not in answer["headers"]


def test_the_openapi_document_describes_conditional_requests(world: World) -> None:
    for name, operation in operations(world):
        responses = operation["responses"]
        assert ("304" in responses) == name.startswith("GET "), name
        if name.startswith("GET "):
            assert set(responses["200"]["headers"]) == {"ETag", "Cache-Control"}
