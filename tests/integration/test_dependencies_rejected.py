"""Rejected dependencies, cycles, and references to jobs by name within a batch."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.aws import clients as aws
from punctual.domain.instant import to_text
from tests.integration.dependants import (
    after,
    assert_started_once,
    batch,
    in_an_hour,
    only_execution,
    status_and_reason,
)
from tests.integration.faults import just_before, on_table
from tests.integration.world import World

# batches that contain an existing job (dedupe_key)


def submit_batch_with_load(world: World, *jobs: dict[str, Any]) -> tuple[int, Any]:
    load = {"task": "echo", "name": "load", "dedupe_key": "load", "on_duplicate": "return_existing"}
    return world.request(
        "POST", "/jobs/batch", {"jobs": [load | jobs[0], *({"task": "echo"} | one for one in jobs[1:])]}
    )


def test_a_name_in_a_batch_refers_to_the_existing_job_with_its_dedupe_key(world: World) -> None:
    first = world.submit(name="nightly", dedupe_key="load", schedule=in_an_hour(world))
    status, answer = submit_batch_with_load(world, {}, {"name": "rep", "depends_on": [{"job": "load"}]})
    assert (status, [one["created"] for one in answer["items"]]) == (201, [False, True])
    load, rep = answer["items"]
    assert load["job_id"] == first["job_id"]
    assert world.request("GET", f"/jobs/{rep['job_id']}")[1]["depends_on"] == after(first)
    world.run_until_idle()
    assert status_and_reason(world, rep) == (
        "waiting",
        f"waits for nightly: {only_execution(world, first)['execution_id']}",
    )
    world.run_for(3660, step=60)
    assert_started_once(world, rep)


def test_an_existing_job_of_a_batch_is_validated_like_any_upstream(world: World) -> None:
    world.submit(dedupe_key="load", schedule={"cron": "0 * * * *"})
    rep = {"name": "rep", "depends_on": [{"job": "load"}]}
    before = world.items("jobs")
    for job, message in (
        (rep, "recurs, and this one runs once"),
        ({**rep, "schedule": {"cron": "30 * * * *"}}, "shares its data window"),
    ):
        status, problem = submit_batch_with_load(world, {}, job)
        assert (status, problem["errors"][0]["field"]) == (422, "jobs.1.depends_on.0.job")
        assert message in problem["detail"]
    assert world.items("jobs") == before


def test_cycles_and_duplicates_through_an_existing_job_are_rejected(world: World) -> None:
    first = world.submit(dedupe_key="load", schedule=in_an_hour(world))
    before = world.items("jobs")
    rep = {"name": "rep", "depends_on": [{"job": "load"}]}
    for load, job, field, message in (
        ({"depends_on": [{"job": "rep"}]}, rep, "depends_on", "closes a dependency cycle"),
        ({"depends_on": [{"job": "load"}]}, {}, "jobs.0.depends_on.0.job", "is the job itself"),
        ({"depends_on": after(first)}, {}, "jobs.0.depends_on.0.job", "is the job itself"),
        ({}, {"depends_on": [{"job": "load"}, *after(first)]}, "jobs.1.depends_on.1.job", "is listed twice"),
    ):
        status, problem = submit_batch_with_load(world, load, job)
        assert status == 422, problem
        assert problem["errors"][0]["field"].endswith(field)
        assert message in problem["detail"]
    assert world.items("jobs") == before


@pytest.mark.parametrize("others", [0, 40])
def test_a_batch_depends_on_the_job_that_takes_the_dedupe_key_concurrently(world: World, others: int) -> None:
    winners = []

    def submit_concurrently() -> None:
        winners.append(world.submit(name="quicker", dedupe_key="load", schedule=in_an_hour(world)))

    more = [{"name": f"{n}", "dedupe_key": f"{n}", "depends_on": [{"job": "load"}]} for n in range(others)]
    client, done = aws.dynamodb(), []
    real = client._make_api_call

    def call(operation: str, request: dict[str, Any]) -> Any:
        if operation == "TransactWriteItems" and not done:
            done.append(operation)
            submit_concurrently()
        return real(operation, request)

    client._make_api_call = call
    status, answer = submit_batch_with_load(world, {}, {"name": "rep", "depends_on": [{"job": "load"}]}, *more)
    client._make_api_call = real
    assert status == 201, answer
    first = answer["items"][0]
    assert (first["job_id"], first["name"], first["created"]) == (winners[0]["job_id"], "quicker", False)
    for one in answer["items"][1:]:
        assert world.request("GET", f"/jobs/{one['job_id']}")[1]["depends_on"] == after(winners[0])
    [holder] = [item for item in world.items("jobs") if item["job_id"]["S"] == winners[0]["job_id"]]
    assert holder["is_upstream"] == {"BOOL": True}


# rejections


def rejection(world: World, path: str, body: Any, method: str = "POST") -> dict[str, str]:
    before = len(world.items("jobs"))
    status, problem = world.request(method, path, body)
    assert status == 422, problem
    assert len(world.items("jobs")) == before
    [error] = problem["errors"]
    return error


def test_an_unknown_upstream_is_rejected(world: World) -> None:
    for unknown in ("nightly", "01kxq0v9m3c8e7w2r5t4y6h1nb"):
        error = rejection(world, "/jobs", {"task": "echo", "depends_on": [{"job": unknown}]})
        assert error["field"] == "depends_on.0.job"
        assert error["message"].startswith(f"there is no job {unknown!r}: use the id of an existing job")


def test_an_upstream_of_another_team_is_rejected_unless_it_was_one_before(world: World) -> None:
    both = "operator team:data-quality team:other"
    upstream = {"job": world.submit(name="theirs", schedule=in_an_hour(world))["job_id"]}
    own = {"task": "echo", "schedule": in_an_hour(world), "owner": "other"}
    job = world.request("POST", "/jobs", own, team="other")[1]
    dependent = {**own, "depends_on": [upstream]}
    for method, path, body, field in (
        ("POST", "/jobs", dependent, "depends_on.0.job"),
        ("POST", "/jobs?dry_run=true", dependent, "depends_on.0.job"),
        ("POST", "/jobs/batch", {"jobs": [dependent]}, "jobs.0.depends_on.0.job"),
        ("PATCH", f"/jobs/{job['job_id']}", {"depends_on": [upstream]}, "depends_on.0.job"),
    ):
        status, problem = world.request(method, path, body, team="other")
        assert (status, problem["errors"][0]["field"]) == (422, field)
        assert "belongs to 'data-quality', and you can act only for 'other'" in problem["detail"]
    [item] = [item for item in world.items("jobs") if item["job_id"]["S"] == upstream["job"]]
    assert "is_upstream" not in item
    path = f"/jobs/{job['job_id']}"
    assert world.request("PATCH", path, {"depends_on": [upstream]}, groups=both)[0] == 200
    kept = {"depends_on": [upstream], "parameters": {"n": 1}}
    assert world.request("PATCH", path, kept, team="other")[0] == 200


def test_a_deleted_upstream_is_rejected_with_exactly_one_error(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    world.request("DELETE", f"/jobs/{first['job_id']}")
    error = rejection(world, "/jobs", {"task": "echo", "depends_on": after(first)})
    assert error == {
        "field": "depends_on.0.job",
        "message": f"job 'first' ({first['job_id']}) is deleted and will not run: remove it, or name another job",
    }


def test_duplicate_upstreams_and_too_many_upstreams_are_rejected(world: World) -> None:
    first = world.submit()
    error = rejection(world, "/jobs", {"task": "echo", "depends_on": after(first, first)})
    assert error["field"] == "depends_on.1.job"
    assert "twice" in error["message"]
    error = rejection(world, "/jobs", {"task": "echo", "depends_on": [{"job": f"{n}"} for n in range(101)]})
    assert error["field"] == "depends_on"
    assert "100" in error["message"]


def test_an_unknown_condition_is_rejected(world: World) -> None:
    first = world.submit()
    error = rejection(world, "/jobs", {"task": "echo", "depends_on": after(first, condition="done")})
    assert error["field"] == "depends_on.0.condition"
    assert "finished" in error["message"]


def test_a_queue_job_can_be_neither_upstream_nor_dependant(world: World) -> None:
    queue, plain = world.submit(schedule={"queue": True}), world.submit()
    error = rejection(world, "/jobs", {"task": "echo", "depends_on": after(queue)})
    assert error["field"] == "depends_on.0.job"
    assert "schedule.queue" in error["message"]
    error = rejection(world, "/jobs", {"task": "echo", "schedule": {"queue": True}, "depends_on": after(plain)})
    assert error["field"] == "depends_on"
    assert "schedule.queue" in error["message"]
    jobs = [{"task": "echo", "name": "a"}, {"task": "echo", "schedule": {"queue": True}, "depends_on": [{"job": "a"}]}]
    assert rejection(world, "/jobs/batch", {"jobs": jobs})["field"] == "jobs.1.depends_on"


def test_a_one_time_job_and_a_recurring_job_cannot_depend_on_each_other(world: World) -> None:
    once, recurring = world.submit(), world.submit(schedule={"cron": "0 * * * *"})
    error = rejection(world, "/jobs", {"task": "echo", "depends_on": after(recurring)})
    assert error["field"] == "depends_on.0.job"
    assert "set schedule to that of the upstream" in error["message"]
    error = rejection(world, "/jobs", {"task": "echo", "depends_on": after(once), "schedule": {"every_seconds": 60}})
    assert error["field"] == "depends_on.0.job"
    assert "remove schedule here" in error["message"]


@pytest.mark.parametrize(
    ("upstream", "dependant"),
    [
        ({"schedule": {"cron": "0 * * * *"}}, {"schedule": {"cron": "30 * * * *"}}),
        ({"schedule": {"cron": "0 2 * * *"}, "window": "day"}, {"schedule": {"cron": "0 2 * * *"}}),
        (
            {"schedule": {"cron": "0 2 * * *", "timezone": "Europe/Berlin"}, "window": "day"},
            {"schedule": {"cron": "0 2 * * *"}, "window": "day"},
        ),
        ({"schedule": {"every_seconds": 60}}, {"schedule": {"every_seconds": 61}}),
    ],
)
def test_recurring_jobs_whose_data_windows_never_match_are_rejected(
    world: World, upstream: dict[str, Any], dependant: dict[str, Any]
) -> None:
    first = world.submit(**upstream)
    error = rejection(world, "/jobs", {"task": "echo", "depends_on": after(first), **dependant})
    assert error["field"] == "depends_on.0.job"
    assert "data window" in error["message"]
    assert "same schedule" in error["message"]


def test_equal_intervals_with_different_starts_are_rejected_with_the_reason(world: World) -> None:
    hourly: dict[str, Any] = {"schedule": {"every_seconds": 3600}}
    first = world.submit(**hourly)
    world.pass_time(90)
    error = rejection(world, "/jobs", {"task": "echo", **hourly, "depends_on": after(first)})
    assert error["field"] == "depends_on.0.job"
    assert "each counts from its own start, so their instants differ" in error["message"]
    assert error["message"].endswith("the same window, such as day, or the same cron, or submit both in one batch")
    assert "same schedule" not in error["message"]
    batch(world, {"name": "a", **hourly}, {**hourly, "depends_on": [{"job": "a"}]})
    day = world.submit(window="day", **hourly)
    world.submit(window="day", depends_on=after(day), **hourly)


def test_an_ambiguous_name_in_a_batch_is_rejected(world: World) -> None:
    load = {"task": "echo", "name": "load"}
    error = rejection(world, "/jobs/batch", {"jobs": [load, load, {"task": "echo", "depends_on": [{"job": "load"}]}]})
    assert error["field"] == "jobs.1.name"
    assert error["message"] == "is the same as jobs.0.name, 'load': remove one job, or change its name"


def test_a_batch_may_refer_to_its_own_jobs_by_name_and_to_others_by_id(world: World) -> None:
    first = world.submit()
    last, middle = batch(
        world,
        {"name": "last", "depends_on": [{"job": "middle"}, *after(first)]},
        {"name": "middle", "depends_on": after(first)},
    )
    world.run_until_idle()
    assert_started_once(world, middle)
    assert_started_once(world, last)
    error = rejection(world, "/jobs/batch", {"jobs": [{"task": "echo", "depends_on": [{"job": "unknown"}]}]})
    assert error["field"] == "jobs.0.depends_on.0.job"
    assert "name of a job in this batch" in error["message"]


def test_a_cycle_within_a_batch_is_rejected_and_named(world: World) -> None:
    jobs = [
        {"task": "echo", "name": name, "depends_on": [{"job": upstream}]}
        for name, upstream in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"))
    ]
    error = rejection(world, "/jobs/batch", {"jobs": jobs})
    assert error["field"] in ("jobs.0.depends_on", "jobs.1.depends_on", "jobs.2.depends_on")
    start = "abc"[int(error["field"][5])]
    cycle = {"a": "a → b → c → a", "b": "b → c → a → b", "c": "c → a → b → c"}[start]
    assert error["message"].endswith(f": {cycle}")


def test_a_job_that_depends_on_itself_is_rejected(world: World) -> None:
    jobs = [{"task": "echo", "name": "a", "depends_on": [{"job": "a"}]}]
    error = rejection(world, "/jobs/batch", {"jobs": jobs})
    assert error["field"] == "jobs.0.depends_on.0.job"
    assert "itself" in error["message"]
    job = world.submit(schedule=in_an_hour(world))
    error = rejection(world, f"/jobs/{job['job_id']}", {"depends_on": after(job)}, "PATCH")
    assert error["field"] == "depends_on.0.job"
    assert "itself" in error["message"]


def test_a_cycle_closed_by_an_edit_is_rejected_and_named(world: World) -> None:
    later = in_an_hour(world)
    a = world.submit(name="a", schedule=later)
    b = world.submit(name="b", schedule=later, depends_on=after(a))
    c = world.submit(name="c", schedule=later, depends_on=after(b))
    error = rejection(world, f"/jobs/{a['job_id']}", {"depends_on": after(c)}, "PATCH")
    assert error["field"] == "depends_on"
    cycle = error["message"].rpartition(": ")[2]
    assert cycle in ("a → c → b → a", "c → b → a → c", "b → a → c → b")
    assert world.request("GET", f"/jobs/{a['job_id']}")[1]["depends_on"] == []
    assert world.request("PATCH", f"/jobs/{c['job_id']}", {"depends_on": after(a)})[0] == 200


def test_two_concurrent_edits_that_close_a_cycle_are_not_both_stored(world: World) -> None:
    at = {"at": to_text(world.now + timedelta(hours=1))}
    a, b = world.submit(name="a", schedule=at), world.submit(name="b", schedule=at)
    for one in (a, b):
        world.submit(schedule=at, depends_on=after(one))
    world.run_until_idle()
    answers = []

    def add_dependency(one: dict[str, Any], other: dict[str, Any]) -> None:
        answers.append(world.request("PATCH", f"/jobs/{one['job_id']}", {"depends_on": after(other)}))

    with just_before(
        "TransactWriteItems", lambda: add_dependency(b, a), on_table("jobs")
    ):  # the first edit is validated and about to be stored
        add_dependency(a, b)
    assert [status for status, _ in answers] == [200, 422]
    assert "a → b → a" in answers[1][1]["detail"]
    assert world.request("GET", f"/jobs/{a['job_id']}")[1]["depends_on"] == []
    world.run_until_idle()
    world.tick()
    world.pass_time(3600)
    world.run_for(120, step=30)
    assert [only_execution(world, one)["status"] for one in (a, b)] == ["succeeded", "succeeded"]
