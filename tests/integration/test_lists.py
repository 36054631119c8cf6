"""Lists of jobs and executions: filters, order, and what the default lists leave out."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.integration.world import World

FAR = {"at": "2027-01-01T00:00:00Z"}


def pages(world: World, path: str) -> list[list[dict[str, Any]]]:
    """All pages of a list."""
    found: list[list[dict[str, Any]]] = []
    cursor = ""
    while True:
        status, page = world.request("GET", f"{path}{cursor}")
        assert status == 200, page
        found.append(page["items"])
        if page["cursor"] is None:
            return found
        cursor = f"&cursor={page['cursor']}"


def names(world: World, query: str) -> list[str]:
    """The names of all jobs in a list, read in pages of two."""
    return [job["name"] for page in pages(world, f"/jobs?limit=2&{query}") for job in page]


def submit(world: World, name: str, team: str = "data-quality", **fields: Any) -> str:
    status, job = world.request("POST", "/jobs", {"task": "echo", "name": name, **fields}, team=team)
    assert status == 201, job
    world.pass_time(1)
    return str(job["job_id"])


def change(world: World, job_id: str, method: str, action: str = "", of: str = "jobs") -> None:
    status, answer = world.request(method, f"/{of}/{job_id}{action}")
    assert status == 200, answer


@pytest.fixture
def jobs(world: World) -> dict[str, str]:
    """Jobs of two teams in all states."""
    made = {name: submit(world, name, schedule=FAR) for name in ("beta", "paused", "cancelled", "deleted")}
    made["Alpha"] = submit(world, "Alpha", team="other", schedule=FAR)
    made["done"] = submit(world, "done")
    made["alphabet"] = submit(world, "alphabet", schedule=FAR)
    made["done too"] = submit(world, "done too")
    world.run_until_idle()
    change(world, made["paused"], "POST", "/pause")
    change(world, made["cancelled"], "PUT", "/cancel")
    change(world, made["deleted"], "DELETE")
    world.run_until_idle()
    return made


@pytest.mark.usefixtures("jobs")
def test_live_jobs_come_before_ended_ones_and_deleted_jobs_are_hidden(world: World) -> None:
    assert names(world, "") == ["alphabet", "Alpha", "paused", "beta", "done too", "done", "cancelled"]
    assert names(world, "state=active") == ["alphabet", "Alpha", "beta"]
    assert names(world, "state=paused,cancelled") == ["paused", "cancelled"]
    assert names(world, "state=paused&state=cancelled") == ["paused", "cancelled"]
    assert names(world, "state=deleted") == ["deleted"]
    assert names(world, "owner=other") == ["Alpha"]


@pytest.mark.usefixtures("jobs")
def test_jobs_are_sorted_by_age_or_by_name(world: World) -> None:
    assert names(world, "sort=newest") == names(world, "")
    assert names(world, "sort=oldest") == ["beta", "paused", "Alpha", "alphabet", "cancelled", "done", "done too"]
    assert names(world, "sort=name") == ["Alpha", "alphabet", "beta", "paused"]
    assert names(world, "sort=name&state=paused") == ["paused"]
    assert names(world, "sort=name&owner=data-quality&name=alpha") == ["alphabet"]


@pytest.mark.usefixtures("jobs")
def test_jobs_are_found_by_the_beginning_of_their_name_in_any_case(world: World) -> None:
    assert names(world, "name=ALPHA") == ["Alpha", "alphabet"]
    assert names(world, "name=d") == ["done too", "done"]
    assert names(world, "name=alpha&sort=newest") == ["alphabet", "Alpha"]
    assert names(world, "name=none") == []


def test_jobs_are_found_by_task_and_by_several_priorities(world: World) -> None:
    for priority in ("high", "normal", "low"):
        submit(world, priority, schedule=FAR, priority=priority)
    submit(world, "failing", task="fail", schedule=FAR)
    world.run_until_idle()
    assert names(world, "task=fail") == ["failing"]
    assert names(world, "priority=high,low") == names(world, "priority=low&priority=high") == ["low", "high"]
    assert names(world, "task=echo&priority=normal") == ["normal"]
    assert names(world, "task=unknown") == []


def test_a_renamed_job_is_listed_under_its_new_name(world: World) -> None:
    job_id = submit(world, "Old", schedule=FAR)
    assert world.request("PATCH", f"/jobs/{job_id}", {"name": "new"})[0] == 200
    world.run_until_idle()
    assert (names(world, "name=old"), names(world, "name=new")) == ([], ["new"])


@pytest.mark.usefixtures("jobs")
def test_a_list_has_its_total_if_it_fits_on_a_page_or_on_request(world: World) -> None:
    def total(path: str) -> tuple[int | None, bool | None]:
        page = world.request("GET", path)[1]
        return page["total"], page["total_is_exact"]

    unknown = (None, None)
    assert total("/jobs") == total("/jobs?limit=1&total=true") == (7, True)
    assert total("/jobs?limit=1") == unknown
    assert total("/jobs?limit=1&total=true&owner=other") == (1, True)
    assert total("/jobs?limit=1&total=true&state=done,cancelled") == (3, True)
    assert total("/jobs?limit=1&total=true&state=done") == unknown
    assert total("/jobs?limit=1&total=true&sort=name&name=alpha") == (2, True)
    assert total("/jobs?state=done") == (2, True)
    assert total("/executions") == total("/executions?limit=1&total=true") == (2, True)
    assert total("/executions?limit=1&total=true&to=2027-01-02T00:00:00Z&owner=other") == (1, True)
    assert total("/executions?limit=1&total=true&status=succeeded") == unknown


def test_counting_stops_at_a_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punctual.domain.requests.page.MAX_TOTAL", 3)
    for number in range(3):
        submit(world, f"job {number}", schedule=FAR)
    world.run_until_idle()
    path = "/jobs?limit=1&total=true"
    assert world.request("GET", path)[1]["total_is_exact"]
    submit(world, "another", team="other", schedule=FAR)
    world.run_until_idle()
    page = world.request("GET", path)[1]
    assert (page["total"], page["total_is_exact"]) == (3, False)


def test_a_list_by_name_accepts_long_names_and_the_cursor_of_another_prefix(world: World) -> None:
    long = "\u0130" * 199  # two characters each in lower case
    for name in (f"{long}1", f"{long}2", "alpha", "\U0001f600"):
        submit(world, name, schedule=FAR)
    world.run_until_idle()
    assert names(world, f"name={quote(long)}") == [f"{long}1", f"{long}2"]
    assert names(world, f"name={quote(chr(0x1F600))}") == ["\U0001f600"]
    cursor = world.request("GET", f"/jobs?limit=1&name={quote(long)}")[1]["cursor"]
    status, page = world.request("GET", f"/jobs?name=alpha&cursor={cursor}")
    assert (status, page["items"]) == (200, [])


@pytest.mark.usefixtures("jobs")
def test_a_cursor_of_another_list_is_refused(world: World) -> None:
    cursor = world.request("GET", "/jobs?sort=name&limit=1")[1]["cursor"]
    status, problem = world.request("GET", f"/jobs?cursor={cursor}")
    assert (status, problem["errors"][0]["field"]) == (422, "cursor")
    status, problem = world.request("GET", "/jobs?sort=name&state=done")
    assert (status, problem["errors"][0]["field"]) == (422, "sort")


def test_jobs_and_executions_are_found_by_tags(world: World) -> None:
    orders = {"dataset": "orders"}
    submit(world, "both", tags={**orders, "tier": "gold: a"})
    submit(world, "one", tags=orders)
    submit(world, "none")
    world.run_until_idle()
    gold = quote("tier:gold: a")
    for query, expected in (
        ("tag=dataset:orders", ["one", "both"]),
        (f"tag=dataset:orders&tag={gold}", ["both"]),
        (f"tag={gold},dataset:orders", ["both"]),
        ("tag=dataset:returns", []),
    ):
        assert names(world, query) == expected
        items = [one for page in pages(world, f"/executions?limit=2&{query}") for one in page]
        assert [one["job_name"] for one in items] == expected
    status, problem = world.request("GET", "/jobs?tag=dataset")
    message = "'dataset' is not a tag: write key:value, such as dataset:orders"
    assert (status, problem["errors"]) == (422, [{"field": "tag", "message": message}])


def test_deadlines_are_found_by_name_task_owner_and_tag(world: World) -> None:
    deadline = {"within_seconds": 600}
    submit(world, "nightly", schedule=FAR, deadline=deadline, tags={"dataset": "orders"})
    submit(world, "weekly", team="other", schedule=FAR, deadline=deadline)
    world.run_until_idle()
    for query, expected in (
        ("", ["nightly", "weekly"]),
        ("tag=dataset:orders", ["nightly"]),
        ("owner=other", ["weekly"]),
        ("job_name=W", ["weekly"]),
        ("task=fail", []),
    ):
        assert [one["job_name"] for page in pages(world, f"/deadlines?limit=1&{query}") for one in page] == expected


def test_executions_are_found_by_several_statuses_task_origin_name_and_deadline(world: World) -> None:
    good = submit(world, "good", deadline={"within_seconds": 600})
    submit(world, "bad", task="fail", parameters={"fatal": True}, deadline={"within_seconds": 600})
    submit(world, "later", schedule=FAR, deadline={"within_seconds": 600})
    world.run_until_idle()
    assert world.request("POST", f"/jobs/{good}/run")[0] == 201
    world.run_until_idle()

    def found(query: str) -> list[tuple[str, str]]:
        items = [one for page in pages(world, f"/executions?limit=2&{query}") for one in page]
        return [(one["job_name"], one["origin"]) for one in items]

    good_run, good_first, bad = ("good", "run"), ("good", "schedule"), ("bad", "schedule")
    later = ("later", "schedule")
    assert found("") == [good_run, bad, good_first]
    assert found("status=failed,succeeded") == [good_run, bad, good_first]
    assert found("status=failed&status=timed_out") == [bad]
    assert found("status=scheduled,failed") == [later, bad]
    assert found("to=2027-01-02T00:00:00Z") == [later, good_run, bad, good_first]
    assert found("task=fail") == [bad]
    assert found("origin=run") == [good_run]
    assert found("job_name=GOO") == [good_run, good_first]
    assert found("deadline=met") == [good_run, good_first]
    assert found("deadline=missed") == [bad]
    assert found("deadline=on_track,missed&to=2027-01-02T00:00:00Z") == [later, bad]


def test_the_list_of_one_job_includes_its_planned_executions(world: World) -> None:
    job_id = submit(world, "later", schedule=FAR, tags={"dataset": "orders"})
    world.run_until_idle()
    assert pages(world, "/executions?limit=1") == [[]]
    for path in (f"/executions?job_id={job_id}", f"/jobs/{job_id}/executions?tag=dataset:orders"):
        [[planned]] = pages(world, path)
        assert planned["status"] == "scheduled"


def test_executions_that_are_not_due_yet_are_at_the_end_of_the_list_of_their_job(world: World) -> None:
    job_id = submit(world, "yearly", schedule={"cron": "@yearly"})
    world.run_until_idle()
    [next_one] = world.executions(job_id)
    change(world, next_one["execution_id"], "PUT", of="executions", action="/cancel")
    for _ in range(3):
        assert world.request("POST", f"/jobs/{job_id}/run")[0] == 201
        world.pass_time(1)
    world.run_until_idle()

    def found(query: str, limit: int) -> list[tuple[str, str]]:
        items = [one for page in pages(world, f"/jobs/{job_id}/executions?limit={limit}{query}") for one in page]
        return [(one["scheduled_at"][:4], one["status"]) for one in items]

    ran, planned = [("2026", "succeeded")] * 3, [("2028", "scheduled"), ("2027", "cancelled")]
    for limit in (1, 2, 3, 4, 5):
        assert found("", limit) == [*ran, *planned]
        assert found("&to=2030-01-01T00:00:00Z", limit) == [*planned, *ran]
    assert found("&status=scheduled,succeeded", 2) == [planned[0], *ran]
    assert found("&from=2026-12-01T00:00:00Z", 1) == planned
    assert found("&origin=run", 2) == ran


def test_a_list_keeps_its_order_while_its_executions_come_due(world: World) -> None:
    job_id = submit(world, "soon", schedule={"every_seconds": 60, "max_runs": 2})
    world.run_until_idle()
    expected = [one["execution_id"] for one in world.request("GET", f"/jobs/{job_id}/executions")[1]["items"]]
    assert len(expected) == 2
    _, first = world.request("GET", f"/jobs/{job_id}/executions?limit=1")
    world.pass_time(600)
    _, second = world.request("GET", f"/jobs/{job_id}/executions?limit=1&cursor={first['cursor']}")
    assert [one["execution_id"] for one in first["items"] + second["items"]] == expected


@pytest.mark.parametrize(
    ("path", "field", "message"),
    [
        (
            "/executions?status=failed,timedout",
            "status",
            "must be one of scheduled, queued, waiting, starting, running, retrying, succeeded, failed, timed_out, "
            "cancelled, skipped, missed: did you mean 'timed_out'?",
        ),
        (
            "/jobs?state=actve",
            "state",
            "must be one of active, paused, done, cancelled, deleted: did you mean 'active'?",
        ),
        ("/jobs?sort=size", "sort", "must be one of newest, oldest, name"),
        ("/jobs?status=active", "status", "is not a known query parameter: did you mean 'state'?"),
        ("/executions?origin=cron", "origin", "must be one of schedule, backfill, run, retry"),
        (
            "/executions?deadline=late",
            "deadline",
            "must be one of on_track, at_risk, will_miss, missed, met",
        ),
    ],
)
def test_an_unknown_value_is_refused_with_the_allowed_ones(world: World, path: str, field: str, message: str) -> None:
    status, problem = world.request("GET", path)
    assert (status, problem["errors"]) == (422, [{"field": field, "message": message}])
