"""What nothing can depend on, circles, and names of jobs in a batch."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.aws import clients as aws
from punctual.domain.instant import to_text
from tests.integration.dependants import after, batch, in_an_hour, only, outcome, started_once
from tests.integration.mishaps import just_before, to
from tests.integration.world import World

# jobs of a batch that are there already


def keyed(world: World, *jobs: dict[str, Any]) -> tuple[int, Any]:
    load = {"task": "echo", "name": "load", "dedupe_key": "load", "on_duplicate": "return_existing"}
    return world.request(
        "POST", "/jobs/batch", {"jobs": [load | jobs[0], *({"task": "echo"} | one for one in jobs[1:])]}
    )


def test_a_name_in_a_batch_means_the_job_that_has_its_key_already(world: World) -> None:
    first = world.submit(name="nightly", dedupe_key="load", schedule=in_an_hour(world))
    status, answer = keyed(world, {}, {"name": "rep", "depends_on": [{"job": "load"}]})
    assert (status, [one["created"] for one in answer["items"]]) == (201, [False, True])
    load, rep = answer["items"]
    assert load["job_id"] == first["job_id"]
    assert world.request("GET", f"/jobs/{rep['job_id']}")[1]["depends_on"] == after(first)
    world.settle_down()
    assert outcome(world, rep) == ("waiting", f"waits for nightly: {only(world, first)['execution_id']}")
    world.run_for(3660, step=60)
    started_once(world, rep)


def test_it_is_checked_as_any_upstream_is(world: World) -> None:
    world.submit(dedupe_key="load", schedule={"cron": "0 * * * *"})
    rep = {"name": "rep", "depends_on": [{"job": "load"}]}
    before = world.items("jobs")
    for job, message in (
        (rep, "recurs, and this one runs once"),
        ({**rep, "schedule": {"cron": "30 * * * *"}}, "data window in common"),
    ):
        status, problem = keyed(world, {}, job)
        assert (status, problem["errors"][0]["field"]) == (422, "jobs.1.depends_on.0.job")
        assert message in problem["detail"]
    assert world.items("jobs") == before


def test_circles_and_doubles_by_way_of_a_job_that_is_there_already_are_refused(world: World) -> None:
    first = world.submit(dedupe_key="load", schedule=in_an_hour(world))
    before = world.items("jobs")
    rep = {"name": "rep", "depends_on": [{"job": "load"}]}
    for load, job, field, message in (
        ({"depends_on": [{"job": "rep"}]}, rep, "depends_on", "goes round in a circle"),
        ({"depends_on": [{"job": "load"}]}, {}, "jobs.0.depends_on.0.job", "is the job itself"),
        ({"depends_on": after(first)}, {}, "jobs.0.depends_on.0.job", "is the job itself"),
        ({}, {"depends_on": [{"job": "load"}, *after(first)]}, "jobs.1.depends_on.1.job", "is there twice"),
    ):
        status, problem = keyed(world, load, job)
        assert status == 422, problem
        assert problem["errors"][0]["field"].endswith(field)
        assert message in problem["detail"]
    assert world.items("jobs") == before


@pytest.mark.parametrize("others", [0, 40])
def test_a_key_that_is_taken_while_a_batch_is_stored_names_the_job_that_has_it(world: World, others: int) -> None:
    won = []

    def another() -> None:
        won.append(world.submit(name="quicker", dedupe_key="load", schedule=in_an_hour(world)))

    more = [{"name": f"{n}", "dedupe_key": f"{n}", "depends_on": [{"job": "load"}]} for n in range(others)]
    client, done = aws.dynamodb(), []
    real = client._make_api_call

    def call(operation: str, request: dict[str, Any]) -> Any:
        if operation == "TransactWriteItems" and not done:
            done.append(operation)
            another()
        return real(operation, request)

    client._make_api_call = call
    status, answer = keyed(world, {}, {"name": "rep", "depends_on": [{"job": "load"}]}, *more)
    client._make_api_call = real
    assert status == 201, answer
    assert answer["items"][0] == {"job_id": won[0]["job_id"], "name": "quicker", "created": False}
    for one in answer["items"][1:]:
        assert world.request("GET", f"/jobs/{one['job_id']}")[1]["depends_on"] == after(won[0])
    [holder] = [item for item in world.items("jobs") if item["job_id"]["S"] == won[0]["job_id"]]
    assert holder["feeds"] == {"BOOL": True}


# refusals


def refused(world: World, path: str, body: Any, method: str = "POST") -> dict[str, str]:
    before = len(world.items("jobs"))
    status, problem = world.request(method, path, body)
    assert status == 422, problem
    assert len(world.items("jobs")) == before
    [error] = problem["errors"]
    return error


def test_an_unknown_job_is_refused(world: World) -> None:
    for unknown in ("nightly", "01kxq0v9m3c8e7w2r5t4y6h1nb"):
        error = refused(world, "/jobs", {"task": "echo", "depends_on": [{"job": unknown}]})
        assert error["field"] == "depends_on.0.job"
        assert error["message"].startswith(f"there is no job {unknown!r}: give the id of one that exists")


def test_a_deleted_job_is_refused_with_one_clear_problem(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    world.request("DELETE", f"/jobs/{first['job_id']}")
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(first)})
    assert error == {
        "field": "depends_on.0.job",
        "message": f"job 'first' ({first['job_id']}) is deleted and will not run: leave it out, or name another",
    }


def test_the_same_job_twice_and_too_many_jobs_are_refused(world: World) -> None:
    first = world.submit()
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(first, first)})
    assert error["field"] == "depends_on.1.job"
    assert "twice" in error["message"]
    error = refused(world, "/jobs", {"task": "echo", "depends_on": [{"job": f"{n}"} for n in range(101)]})
    assert error["field"] == "depends_on"
    assert "100" in error["message"]


def test_an_unknown_condition_is_refused(world: World) -> None:
    first = world.submit()
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(first, condition="done")})
    assert error["field"] == "depends_on.0.condition"
    assert "finished" in error["message"]


def test_a_queue_job_neither_depends_nor_is_depended_on(world: World) -> None:
    queue, plain = world.submit(schedule={"queue": True}), world.submit()
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(queue)})
    assert error["field"] == "depends_on.0.job"
    assert "schedule.queue" in error["message"]
    error = refused(world, "/jobs", {"task": "echo", "schedule": {"queue": True}, "depends_on": after(plain)})
    assert error["field"] == "depends_on"
    assert "schedule.queue" in error["message"]
    jobs = [{"task": "echo", "name": "a"}, {"task": "echo", "schedule": {"queue": True}, "depends_on": [{"job": "a"}]}]
    assert refused(world, "/jobs/batch", {"jobs": jobs})["field"] == "jobs.1.depends_on"


def test_a_job_that_runs_once_and_one_that_recurs_do_not_go_together(world: World) -> None:
    once, recurring = world.submit(), world.submit(schedule={"cron": "0 * * * *"})
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(recurring)})
    assert error["field"] == "depends_on.0.job"
    assert "set schedule here to the upstream's" in error["message"]
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(once), "schedule": {"every_seconds": 60}})
    assert error["field"] == "depends_on.0.job"
    assert "leave schedule out here" in error["message"]


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
def test_recurring_jobs_whose_windows_never_agree_are_refused(
    world: World, upstream: dict[str, Any], dependant: dict[str, Any]
) -> None:
    first = world.submit(**upstream)
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(first), **dependant})
    assert error["field"] == "depends_on.0.job"
    assert "data window" in error["message"]
    assert "same schedule" in error["message"]


def test_equal_intervals_that_were_submitted_apart_are_told_what_keeps_them_from_meeting(world: World) -> None:
    hourly: dict[str, Any] = {"schedule": {"every_seconds": 3600}}
    first = world.submit(**hourly)
    world.pass_time(90)
    error = refused(world, "/jobs", {"task": "echo", **hourly, "depends_on": after(first)})
    assert error["field"] == "depends_on.0.job"
    assert "each counts from its own start, so their instants differ" in error["message"]
    assert error["message"].endswith("the same window, such as day, or the same cron, or submit both in one batch")
    assert "same schedule" not in error["message"]
    batch(world, {"name": "a", **hourly}, {**hourly, "depends_on": [{"job": "a"}]})
    day = world.submit(window="day", **hourly)
    world.submit(window="day", depends_on=after(day), **hourly)


def test_a_name_that_two_jobs_of_a_batch_have_cannot_be_depended_on(world: World) -> None:
    jobs = [{"task": "echo"}, {"task": "echo"}, {"task": "echo", "name": "last", "depends_on": [{"job": "echo"}]}]
    error = refused(world, "/jobs/batch", {"jobs": jobs})
    assert error["field"] == "jobs.2.depends_on.0.job"
    assert "2 jobs of this batch have the name 'echo'" in error["message"]


def test_a_batch_may_name_its_own_jobs_and_ids_of_others(world: World) -> None:
    first = world.submit()
    last, middle = batch(
        world,
        {"name": "last", "depends_on": [{"job": "middle"}, *after(first)]},
        {"name": "middle", "depends_on": after(first)},
    )
    world.settle_down()
    started_once(world, middle)
    started_once(world, last)
    error = refused(world, "/jobs/batch", {"jobs": [{"task": "echo", "depends_on": [{"job": "nobody"}]}]})
    assert error["field"] == "jobs.0.depends_on.0.job"
    assert "name of a job of this batch" in error["message"]


def test_a_circle_in_a_batch_is_refused_and_named(world: World) -> None:
    jobs = [
        {"task": "echo", "name": name, "depends_on": [{"job": upstream}]}
        for name, upstream in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"))
    ]
    error = refused(world, "/jobs/batch", {"jobs": jobs})
    assert error["field"] in ("jobs.0.depends_on", "jobs.1.depends_on", "jobs.2.depends_on")
    start = "abc"[int(error["field"][5])]
    circle = {"a": "a → b → c → a", "b": "b → c → a → b", "c": "c → a → b → c"}[start]
    assert error["message"].endswith(f": {circle}")


def test_a_job_that_waits_for_itself_is_refused(world: World) -> None:
    jobs = [{"task": "echo", "name": "a", "depends_on": [{"job": "a"}]}]
    error = refused(world, "/jobs/batch", {"jobs": jobs})
    assert error["field"] == "jobs.0.depends_on.0.job"
    assert "itself" in error["message"]
    job = world.submit(schedule=in_an_hour(world))
    error = refused(world, f"/jobs/{job['job_id']}", {"depends_on": after(job)}, "PATCH")
    assert error["field"] == "depends_on.0.job"
    assert "itself" in error["message"]


def test_a_circle_by_an_edit_is_refused_and_named(world: World) -> None:
    later = in_an_hour(world)
    a = world.submit(name="a", schedule=later)
    b = world.submit(name="b", schedule=later, depends_on=after(a))
    c = world.submit(name="c", schedule=later, depends_on=after(b))
    error = refused(world, f"/jobs/{a['job_id']}", {"depends_on": after(c)}, "PATCH")
    assert error["field"] == "depends_on"
    circle = error["message"].rpartition(": ")[2]
    assert circle in ("a → c → b → a", "c → b → a → c", "b → a → c → b")
    assert world.request("GET", f"/jobs/{a['job_id']}")[1]["depends_on"] == []
    assert world.request("PATCH", f"/jobs/{c['job_id']}", {"depends_on": after(a)})[0] == 200


def test_two_edits_at_once_that_close_a_circle_are_not_both_kept(world: World) -> None:
    at = {"at": to_text(world.now + timedelta(hours=1))}
    a, b = world.submit(name="a", schedule=at), world.submit(name="b", schedule=at)
    for one in (a, b):
        world.submit(schedule=at, depends_on=after(one))
    world.settle_down()
    answers = []

    def depend(one: dict[str, Any], other: dict[str, Any]) -> None:
        answers.append(world.request("PATCH", f"/jobs/{one['job_id']}", {"depends_on": after(other)}))

    with just_before("PutItem", lambda: depend(b, a), to("jobs")):  # the first is checked, and about to be stored
        depend(a, b)
    assert [status for status, _ in answers] == [200, 422]
    assert "a → b → a" in answers[1][1]["detail"]
    assert world.request("GET", f"/jobs/{a['job_id']}")[1]["depends_on"] == []
    world.settle_down()
    world.tick()
    world.pass_time(3600)
    world.run_for(120, step=30)
    assert [only(world, one)["status"] for one in (a, b)] == ["succeeded", "succeeded"]
