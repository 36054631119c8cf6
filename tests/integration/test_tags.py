"""Names and tags of jobs: on executions, deadlines and notices."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.world import World

TAGS = {"dataset": "orders", "tier": "gold"}


def test_executions_carry_the_name_and_the_tags_of_their_job(world: World) -> None:
    job = world.submit(name="nightly", tags=TAGS, schedule={"every_seconds": 60})
    assert job["tags"] == TAGS
    world.run_for(61)
    for one in world.executions(job["job_id"]):
        assert (one["job_name"], one["tags"]) == ("nightly", TAGS)
    ended = world.executions(job["job_id"])[0]["execution_id"]
    for path in (f"/jobs/{job['job_id']}/run", f"/executions/{ended}/retry"):
        status, answer = world.request("POST", path)
        assert (status, answer["execution"]["job_name"], answer["execution"]["tags"]) == (201, "nightly", TAGS)


def test_a_backfill_copies_the_tags(world: World) -> None:
    job = world.submit(tags=TAGS, schedule={"cron": "0 * * * *"})
    past = {"from": "2026-11-15T10:00:00Z", "to": "2026-11-15T12:00:00Z"}
    status, answer = world.request("POST", f"/jobs/{job['job_id']}/backfill", past)
    assert status == 201
    assert [world.execution(one["execution_id"])["tags"] for one in answer["items"]] == [TAGS, TAGS]


def test_an_execution_without_tags_stores_no_attribute_for_them(world: World) -> None:
    world.submit()
    world.run_until_idle()
    [item] = world.items("executions")
    assert "tags" not in item


def test_an_edit_replaces_the_tags_of_executions_that_have_not_started(world: World) -> None:
    job_id = world.submit(tags=TAGS, schedule={"cron": "30 * * * *"})["job_id"]
    world.run_until_idle()

    def edited(changes: dict[str, Any]) -> dict[str, str]:
        status, job = world.request("PATCH", f"/jobs/{job_id}", changes)
        assert status == 200
        world.run_until_idle()
        assert [one["tags"] for one in world.executions(job_id)] == [job["tags"]]
        return dict(job["tags"])

    assert edited({"priority": "high"}) == TAGS
    assert edited({"tags": {"dataset": "returns"}}) == {"dataset": "returns"}
    assert edited({"tags": None}) == {}


def test_the_list_of_deadlines_shows_the_name_and_the_tags(world: World) -> None:
    world.submit(name="nightly", tags=TAGS, schedule={"cron": "30 * * * *"}, deadline={"within_seconds": 600})
    world.run_until_idle()
    [one] = world.request("GET", "/deadlines")[1]["items"]
    assert (one["job_name"], one["tags"]) == ("nightly", TAGS)


def test_a_notice_has_the_tags_as_a_field_as_text_and_as_an_attribute_for_filters(world: World) -> None:
    world.submit(task="fail", retry={"max_attempts": 1}, name="nightly", tags=TAGS)
    world.run_until_idle()
    world.deliver_streams()
    while messages := world.receive("notices"):
        world.call("notifier", {"Records": messages})
    [envelope] = world.published("notice")
    assert envelope["MessageAttributes"]["tags"] == {
        "Type": "String.Array",
        "Value": '["dataset:orders","tier:gold"]',
    }
    assert '"tags": {"dataset": "orders", "tier": "gold"}' in envelope["Message"]
    assert "Tags: dataset: orders, tier: gold" in envelope["Message"]


@pytest.mark.parametrize(
    ("tags", "field", "message"),
    [
        ({f"k{n}": "v" for n in range(21)}, "tags", "must have at most 20 tags, but has 21: remove some"),
        ({"": "v"}, "tags", "has the key '': a key has 1 to 50 letters, digits, _, -, . or /"),
        ({"k" * 51: "v"}, "tags", f"has the key '{'k' * 51}': a key has 1 to 50 letters, digits, _, -, . or /"),
        ({"a:b": "v"}, "tags", "has the key 'a:b': a key has 1 to 50 letters, digits, _, -, . or /"),
        ({"dataset": ""}, "tags.dataset", "must have 1 to 100 printable characters, and no comma"),
        ({"dataset": "v" * 101}, "tags.dataset", "must have 1 to 100 printable characters, and no comma"),
        ({"dataset": "a,b"}, "tags.dataset", "must have 1 to 100 printable characters, and no comma"),
        ({"dataset": 7}, "tags.dataset", "must be text"),
    ],
)
def test_an_invalid_tag_is_refused_with_its_name(world: World, tags: Any, field: str, message: str) -> None:
    status, problem = world.request("POST", "/jobs", {"task": "echo", "tags": tags})
    assert (status, problem["errors"]) == (422, [{"field": field, "message": message}])
    assert world.items("jobs") == []
