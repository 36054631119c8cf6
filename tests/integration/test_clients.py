"""What a client reads before it submits: the tasks, the caller's permissions, and how to sign in."""

from __future__ import annotations

import pytest

from tests.integration.world import World

EVERY_MINUTE = {"every_seconds": 60}


def test_tasks_are_listed_with_description_and_parameter_schema(world: World) -> None:
    status, found = world.request("GET", "/tasks", role="viewer")
    assert status == 200
    assert found["unavailable"] == []
    names = [one["name"] for one in found["items"]]
    assert names == sorted(names)
    process = next(one for one in found["items"] if one["name"] == "queue.process")
    assert process["file"].startswith("tasks/")
    assert process["file"].endswith(".py")
    assert process["parameters"]["type"] == "object"
    assert process["description"]
    weekly = next(one for one in found["items"] if one["name"] == "quality.weekly")
    assert (weekly["has_collect_step"], process["has_collect_step"]) == (True, False)
    assert (weekly["lane"], process["lane"]) == ("long", None)
    assert all(one["is_available"] and one["reason"] is None and one["usage"] is None for one in found["items"])
    assert world.aws_requests == []


def test_the_usage_of_a_task_counts_live_jobs_and_their_last_outcomes(world: World) -> None:
    for owner in ("alpha", "beta"):
        status, job = world.request("POST", "/jobs", {"task": "echo", "schedule": EVERY_MINUTE}, team=owner)
        assert status == 201, job
    world.submit(task="fail", schedule=EVERY_MINUTE, retry={"max_attempts": 1})
    world.submit(task="echo")  # has ended, so its job is not live
    world.run_for(130, step=10)
    _, found = world.request("GET", "/tasks?usage=true")
    assert found["usage_is_exact"] is True
    usage = {one["name"]: one["usage"] for one in found["items"]}
    assert usage["echo"]["live_jobs"] == 2
    assert usage["echo"]["outcomes"] == {"succeeded": 4}
    assert usage["echo"]["last_ended_at"][:16] == "2026-11-16T12:02"
    assert (usage["fail"]["live_jobs"], usage["fail"]["outcomes"]) == (1, {"failed": 2})
    assert usage["sleep"] == {"live_jobs": 0, "outcomes": {}, "last_ended_at": None}


def test_the_usage_of_tasks_regards_the_newest_live_jobs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punctual.stages.api.task_usage.MAX_JOBS", 2)
    for task in ("fail", "echo", "echo"):
        world.submit(task=task, schedule=EVERY_MINUTE)
        world.pass_time(1)
    world.deliver_streams()
    _, found = world.request("GET", "/tasks?usage=true")
    usage = {one["name"]: one["usage"]["live_jobs"] for one in found["items"]}
    assert (usage["echo"], usage["fail"], found["usage_is_exact"]) == (2, 0, False)


def test_the_calendars_that_a_schedule_can_skip_are_listed_with_dates_and_file(world: World) -> None:
    status, found = world.request("GET", "/calendars", role="viewer")
    assert (status, world.aws_requests) == (200, [])
    by_name = {one["name"]: one for one in found["items"]}
    assert list(by_name) == sorted(by_name)
    assert by_name["weekends"] == {"name": "weekends", "dates": [], "file": None}
    holidays = by_name["holidays-us"]
    assert holidays["file"] == "tasks/calendars.py"
    assert holidays["dates"] == sorted(holidays["dates"])
    assert "2026-12-25" in holidays["dates"]
    for name in by_name:
        preview = {"schedule": {"cron": "@daily", "skip": [name]}, "after": "2026-12-24T12:00:00Z", "count": 3}
        assert world.request("POST", "/schedules/preview", preview)[0] == 200


@pytest.mark.parametrize(
    ("role", "actions"),
    [
        ("viewer", ["read"]),
        ("operator", ["read", "submit", "manage_own"]),
        ("admin", ["read", "submit", "manage_own", "manage_all"]),
    ],
)
def test_a_caller_learns_role_teams_and_permitted_actions(world: World, role: str, actions: list[str]) -> None:
    status, found = world.request("GET", "/me", groups=f"{role} team:beta team:alpha")
    assert status == 200
    assert (found["role"], found["actions"]) == (role, actions)
    assert found["teams"] == [{"name": "alpha", "role": role}, {"name": "beta", "role": role}]


@pytest.mark.parametrize(("role", "actions"), [("operator", ["read"]), ("admin", ["read", "manage_all"])])
def test_a_caller_without_a_team_learns_that_it_submits_nothing(world: World, role: str, actions: list[str]) -> None:
    _, found = world.request("GET", "/me", groups=role)
    assert (found["teams"], found["actions"]) == ([], actions)


def test_a_caller_without_a_role_learns_that(world: World) -> None:
    status, found = world.request("GET", "/me", groups="team:alpha")
    assert (status, found["role"], found["actions"]) == (200, None, [])
    assert found["teams"] == [{"name": "alpha", "role": None}]


def test_the_configuration_names_what_a_client_needs_to_sign_in(world: World) -> None:
    assert world.request("GET", "/config") == (
        200,
        {
            "stage": "test",
            "issuer": "https://cognito-idp.us-east-1.amazonaws.com/pool",
            "client_id": "console-client",
            "sign_in_url": "https://punctual-test.auth.us-east-1.amazoncognito.com",
        },
    )


def test_the_root_redirects_browsers_to_the_console(world: World) -> None:
    page = world.respond("GET", "/", headers={"accept": "text/html,application/xhtml+xml"})
    assert (page["statusCode"], page["headers"]["Location"]) == (303, "/console/")
    assert world.request("GET", "/")[1]["name"] == "Punctual"


def test_a_user_who_was_disabled_or_deleted_changes_nothing_more(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    for change in ("disabled", "deleted"):
        world.pass_time(6)
        world.users.changed = {"operator@data-quality": None} if change == "disabled" else {}
        world.users.deleted = {"operator@data-quality"} if change == "deleted" else set()
        for method, path in (("POST", "/jobs"), ("DELETE", f"/jobs/{job['job_id']}")):
            status, problem = world.request(method, path, {"task": "echo"} if method == "POST" else None)
            assert (status, problem["detail"]) == (
                403,
                "the user 'operator@data-quality' was disabled or deleted: ask an administrator",
            )
        assert world.request("GET", "/jobs")[0] == 200
    assert len([item for item in world.items("jobs") if "task" in item]) == 1


@pytest.mark.parametrize("groups", [["viewer", "team:data-quality"], ["operator", "team:other"], [], ["x,admin"]])
def test_a_user_who_lost_a_group_loses_its_permissions_before_the_token_expires(
    world: World, groups: list[str]
) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    world.pass_time(6)
    world.users.changed = {"operator@data-quality": groups}
    assert world.request("DELETE", f"/jobs/{job['job_id']}")[0] == 403
    assert world.request("DELETE", f"/jobs/{job['job_id']}?dry_run=true")[0] == 403
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "active"


def test_a_user_is_read_once_in_five_seconds_and_not_for_reads(world: World) -> None:
    for _ in range(3):
        world.submit()
    assert world.users.reads == 1
    world.pass_time(6)
    world.request("GET", "/jobs")
    assert world.users.reads == 1
    world.submit()
    assert world.users.reads == 2
