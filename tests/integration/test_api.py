"""The HTTP API as API Gateway invokes it: submissions, idempotency, permissions, listings, edits, cancellation."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import to_text
from tests.integration.faults import crash_at
from tests.integration.fixture_tasks import Killed
from tests.integration.malformed import LONG_LANE_SUBMISSIONS
from tests.integration.world import World


def assert_problem(answer: tuple[int, Any], status: int, field: str | None) -> None:
    assert answer[0] == status, answer
    assert answer[1]["status"] == status
    assert answer[1]["detail"]
    if field is not None:
        assert field in [error["field"] for error in answer[1]["errors"]], answer[1]


# submitting


def test_a_submission_returns_the_job_and_its_next_due_instant(world: World) -> None:
    status, job = world.request(
        "POST", "/jobs", {"task": "echo", "name": "nightly", "schedule": {"cron": "0 2 * * *", "timezone": "UTC"}}
    )
    assert status == 201
    assert (job["name"], job["state"], job["revision"], job["owner"]) == ("nightly", "active", 1, "data-quality")
    assert job["next_due_at"] == "2026-11-17T02:00:00.000Z"
    assert job["schedule"] == {"cron": "0 2 * * *", "timezone": "UTC", "gap": "shift", "fold": "first"}
    assert world.request("GET", f"/jobs/{job['job_id']}") == (200, job)


@pytest.mark.parametrize(
    "schedule", [None, {"cron": "0 12 * * *"}, {"every_seconds": 60}, {"at": "2026-11-16T12:00:01Z"}]
)
def test_the_response_to_a_submission_names_the_first_due_instant_and_its_execution(
    world: World, schedule: dict[str, Any] | None
) -> None:
    job = world.submit(**({"schedule": schedule} if schedule else {}))
    world.run_until_idle()
    first = world.executions(job["job_id"])[0]
    assert (job["next_due_at"], job["execution_id"]) == (first["scheduled_at"], first["execution_id"])


def test_a_queue_job_has_no_execution_before_its_first_message(world: World) -> None:
    job = world.submit(schedule={"queue": True})
    assert (job["next_due_at"], job["execution_id"]) == (None, None)


def test_a_batch_of_a_thousand_jobs_is_stored_whole(world: World) -> None:
    jobs = [{"task": "echo", "name": f"job-{n}", "schedule": {"every_seconds": 3600}} for n in range(1000)]
    status, answer = world.request("POST", "/jobs/batch", {"jobs": jobs})
    assert status == 201
    assert [one["name"] for one in answer["items"]] == [f"job-{n}" for n in range(1000)]
    assert len({one["job_id"] for one in answer["items"]}) == 1000
    last = world.request("GET", f"/jobs/{answer['items'][-1]['job_id']}")[1]
    assert last["name"] == "job-999"


def test_an_invalid_job_in_a_batch_is_named_by_its_index_and_nothing_is_stored(world: World) -> None:
    good = {"task": "echo"}
    invalid_schedule = {"jobs": [good, good, {"task": "echo", "schedule": {"cron": "0 0 31 2 *"}}]}
    assert_problem(world.request("POST", "/jobs/batch", invalid_schedule), 422, "jobs.2.schedule.cron")
    invalid_priority = {"jobs": [good, {"task": "echo", "priority": "urgent"}]}
    assert_problem(world.request("POST", "/jobs/batch", invalid_priority), 422, "jobs.1.priority")
    assert_problem(world.request("POST", "/jobs/batch", {"jobs": [good] * 1001}), 422, "jobs")
    assert_problem(world.request("POST", "/jobs/batch", {"jobs": []}), 422, "jobs")
    assert world.items("jobs") == []


# idempotency keys


def test_a_repeated_post_with_the_same_idempotency_key_returns_the_first_response(world: World) -> None:
    key = {"idempotency-key": "abc"}
    first = world.request("POST", "/jobs", {"task": "echo"}, headers=key)
    world.pass_time(30)
    assert world.request("POST", "/jobs", {"task": "echo"}, headers=key) == first
    assert len(world.items("jobs")) == 1
    batch = {"jobs": [{"task": "echo"}, {"task": "echo"}]}
    first = world.request("POST", "/jobs/batch", batch, headers=key)
    assert world.request("POST", "/jobs/batch", batch, headers=key) == first
    assert len(world.items("jobs")) == 3


def test_a_repeated_batch_whose_response_exceeds_an_item_returns_the_same_jobs(world: World) -> None:
    key = {"idempotency-key": "large"}
    names = [f"{n:03d}".ljust(200, "x") for n in range(500)]
    batch = {"jobs": [{"task": "echo", "name": name, "schedule": {"every_seconds": 86_400}} for name in names]}
    first = world.request("POST", "/jobs/batch", batch, headers=key)
    assert first[0] == 201
    assert [one["name"] for one in first[1]["items"]] == names
    world.pass_time(30)
    assert world.request("POST", "/jobs/batch", batch, headers=key) == first
    assert len([item for item in world.items("jobs") if "task" in item]) == 500


@pytest.mark.parametrize(("operation", "table", "stored"), [("PutItem", "jobs", 30), ("UpdateItem", "idempotency", 60)])
def test_a_keyed_batch_that_crashed_is_completed_by_its_repetition(
    world: World, operation: str, table: str, stored: int
) -> None:
    key = {"idempotency-key": "interrupted"}
    batch = {"jobs": [{"task": "echo", "schedule": {"every_seconds": 86_400}}] * 60}
    with crash_at(operation, after=stored % 60, table=table), pytest.raises(Killed):
        world.request("POST", "/jobs/batch", batch, headers=key)
    assert len(world.items("jobs")) == stored
    world.pass_time(30)
    status, answer = world.request("POST", "/jobs/batch", batch, headers=key)
    assert (status, len(answer["items"]), len(world.items("jobs"))) == (201, 60, 60)
    assert {one["job_id"] for one in answer["items"]} == {item["job_id"]["S"] for item in world.items("jobs")}


def test_an_idempotency_key_is_scoped_to_its_caller_and_bound_to_its_body(world: World) -> None:
    key = {"idempotency-key": "abc"}
    first = world.request("POST", "/jobs", {"task": "echo"}, headers=key)
    other = world.request("POST", "/jobs", {"task": "echo"}, headers=key, team="other")
    assert first[1]["job_id"] != other[1]["job_id"]
    changed = world.request("POST", "/jobs", {"task": "echo", "name": "changed"}, headers=key)
    assert_problem(changed, 422, "Idempotency-Key")
    assert_problem(
        world.request("POST", "/jobs", {"task": "echo"}, headers={"idempotency-key": "k" * 201}), 422, "Idempotency-Key"
    )


def test_a_rejected_request_may_be_corrected_and_sent_again_with_the_same_key(world: World) -> None:
    key = {"idempotency-key": "abc"}
    assert world.request("POST", "/jobs", {"task": "no.such"}, headers=key)[0] == 422
    assert world.request("POST", "/jobs", {"task": "echo"}, headers=key)[0] == 201


# permissions


def test_a_viewer_can_read_everything_and_change_nothing(world: World) -> None:
    job = world.submit()
    assert world.request("GET", f"/jobs/{job['job_id']}", role="viewer", team="other")[0] == 200
    assert_problem(world.request("POST", "/jobs", {"task": "echo"}, role="viewer"), 403, None)
    assert_problem(world.request("DELETE", f"/jobs/{job['job_id']}", role="viewer"), 403, None)
    assert len([item for item in world.items("jobs") if "task" in item]) == 1


def test_an_operator_manages_jobs_of_the_own_team_and_an_admin_all_jobs(world: World) -> None:
    job = world.submit()
    assert_problem(world.request("DELETE", f"/jobs/{job['job_id']}", team="other"), 403, None)
    assert world.request("DELETE", f"/jobs/{job['job_id']}", role="admin", team="other")[0] == 200


TWO_TEAMS = "operator team:red team:blue"


def test_a_caller_in_several_teams_selects_the_owner_of_a_job(world: World) -> None:
    for team in ("red", "blue"):
        status, job = world.request("POST", "/jobs", {"task": "echo", "owner": team}, groups=TWO_TEAMS)
        assert (status, job["owner"]) == (201, team)
    batch = {"jobs": [{"task": "echo", "owner": "red"}, {"task": "echo", "owner": "blue"}]}
    assert world.request("POST", "/jobs/batch", batch, groups=TWO_TEAMS)[0] == 201
    world.run_until_idle()
    for team in ("red", "blue"):
        for path in ("/jobs", "/executions"):
            assert len(world.request("GET", f"{path}?owner={team}", groups=TWO_TEAMS)[1]["items"]) == 2


def test_a_job_without_an_owner_is_refused_for_a_caller_in_several_teams(world: World) -> None:
    [error] = world.request("POST", "/jobs", {"task": "echo"}, groups=TWO_TEAMS)[1]["errors"]
    assert error == {
        "field": "owner",
        "message": "is required, because you are in several teams: give one of blue, red",
    }
    batch = {"jobs": [{"task": "echo", "owner": "red"}, {"task": "echo"}]}
    assert_problem(world.request("POST", "/jobs/batch", batch, groups=TWO_TEAMS), 422, "jobs.1.owner")
    assert_problem(world.request("POST", "/jobs?dry_run=true", {"task": "echo"}, groups=TWO_TEAMS), 422, "owner")
    assert world.items("jobs") == []


@pytest.mark.parametrize("groups", [TWO_TEAMS, "operator team:red", "admin team:red"])
def test_an_owner_that_is_not_a_team_of_the_caller_is_refused(world: World, groups: str) -> None:
    status, problem = world.request("POST", "/jobs", {"task": "echo", "owner": "green"}, groups=groups)
    assert (status, problem["errors"][0]["field"]) == (422, "owner")
    assert "you can submit jobs only for" in problem["detail"]
    assert world.items("jobs") == []


def test_a_caller_may_name_the_only_owner(world: World) -> None:
    assert world.submit(owner="data-quality")["owner"] == "data-quality"


@pytest.mark.parametrize("role", ["operator", "admin"])
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_a_caller_without_a_team_submits_nothing(world: World, role: str, query: str) -> None:
    for body in ({"task": "echo"}, {"task": "echo", "owner": f"{role}@data-quality"}):
        status, problem = world.request("POST", f"/jobs{query}", body, groups=role)
        assert status == 403
        assert problem["detail"].startswith("you are in no team, and a job belongs to a team")
    assert world.items("jobs") == []


def test_a_user_named_like_a_team_does_not_manage_the_jobs_of_that_team(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    named_like_the_team = {"username": "data-quality"}
    for method, path, body in (
        ("PATCH", f"/jobs/{job['job_id']}", {"priority": "high"}),
        ("DELETE", f"/jobs/{job['job_id']}", None),
        ("POST", "/jobs", {"task": "echo", "owner": "data-quality"}),
    ):
        assert world.request(method, path, body, groups="operator", claims=named_like_the_team)[0] == 403


@pytest.mark.parametrize("team", ["red", "blue"])
def test_a_caller_manages_the_jobs_of_all_own_teams(world: World, team: str) -> None:
    job = world.request("POST", "/jobs", {"task": "echo", "schedule": {"every_seconds": 600}}, team=team)[1]
    world.run_until_idle()
    path = f"/jobs/{job['job_id']}"
    status, edited = world.request("PATCH", path, {"priority": "high"}, groups=TWO_TEAMS)
    assert (status, edited["owner"], edited["priority"]) == (200, team, "high")
    [first, *_] = world.executions(job["job_id"])
    assert world.request("PUT", f"/executions/{first['execution_id']}/cancel", groups=TWO_TEAMS)[0] == 200
    assert world.request("POST", f"{path}/run", {}, groups=TWO_TEAMS)[0] == 201
    assert world.request("DELETE", path, groups=TWO_TEAMS)[0] == 200
    other = world.request("POST", "/jobs", {"task": "echo"}, team="green")[1]
    status, problem = world.request("DELETE", f"/jobs/{other['job_id']}", groups=TWO_TEAMS)
    assert status == 403
    assert "you can manage only jobs of 'blue' and 'red'" in problem["detail"]


def test_a_dedupe_key_belongs_to_the_selected_owner(world: World) -> None:
    keyed = {"task": "echo", "dedupe_key": "k", "schedule": {"every_seconds": 600}}
    for team in ("red", "blue"):
        assert world.request("POST", "/jobs", {**keyed, "owner": team}, groups=TWO_TEAMS)[0] == 201
    assert_problem(world.request("POST", "/jobs", {**keyed, "owner": "red"}, groups=TWO_TEAMS), 409, "dedupe_key")


def test_an_owner_cannot_be_changed_by_an_edit(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    answer = world.request("PATCH", f"/jobs/{job['job_id']}", {"owner": "red"}, groups=f"{TWO_TEAMS} team:data-quality")
    assert_problem(answer, 422, "owner")
    assert "POST /jobs/{id}/transfer" in answer[1]["detail"]
    assert world.request("PATCH", f"/jobs/{job['job_id']}", {"owner": "data-quality"})[0] == 200


@pytest.mark.parametrize(
    "claims",
    [
        {"token_use": "id"},
        {"token_use": ""},
        {"username": ""},
        *(
            {"cognito:groups": f"[{groups}]"}
            for groups in ("x,admin", "[admin]", "operator team:", "admin team:beta#k")
        ),
        *({"cognito:groups": groups} for groups in ("admin", "[admin", "", "[admin  operator]")),
    ],
)
def test_a_token_that_is_not_clear_is_refused(world: World, claims: dict[str, str]) -> None:
    for path in ("/jobs", "/me"):
        assert_problem(world.request("GET", path, claims=claims), 403, None)
    assert_problem(world.request("POST", "/jobs", {"task": "echo"}, claims=claims), 403, None)


def test_a_caller_without_a_role_may_not_even_read(world: World) -> None:
    assert_problem(world.request("GET", "/jobs", role="guest"), 403, None)


# deleting


def test_a_deleted_job_starts_no_more_executions_and_keeps_its_history(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60})
    world.run_for(125, step=5)
    status, deleted = world.request("DELETE", f"/jobs/{job['job_id']}")
    assert (status, deleted["state"], deleted["next_due_at"]) == (200, "deleted", None)
    world.run_for(600, step=20)
    shown = [one["status"] for one in world.executions(job["job_id"])]
    assert shown.count("succeeded") == 2
    assert set(shown[2:]) == {"cancelled"}
    assert {one["reason"] for one in world.executions(job["job_id"])[2:]} == {"job deleted"}
    assert_problem(world.request("DELETE", f"/jobs/{job['job_id']}"), 409, "job_id")


def test_a_deletion_wins_over_concurrent_planning_of_the_next_run(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    world.deliver_streams()
    world.pass_time(420)
    world.tick()
    queued = world.stream_records("executions", "planner")
    world.request("DELETE", f"/jobs/{job['job_id']}")
    world.deliver_streams()  # the planner sees the deletion first …
    world.call("planner", {"Records": queued})  # … and then that the execution became queued
    world.run_for(1500, step=60)
    assert {one["status"] for one in world.executions(job["job_id"])} == {"cancelled"}


# listing


def test_jobs_are_listed_newest_first_with_pages_and_filters(world: World) -> None:
    made = []
    for n in range(5):
        made.append(world.submit(name=f"job-{n}", priority="high" if n % 2 else "low"))
        world.pass_time(1)
    world.request("POST", "/jobs", {"task": "fail"}, team="other")
    world.run_until_idle()
    names: list[str | None] = []
    cursor = ""
    for _ in range(10):
        page = world.request("GET", f"/jobs?limit=2{cursor}")[1]
        names += [job["name"] for job in page["items"]]
        if page["cursor"] is None:
            break
        cursor = f"&cursor={page['cursor']}"
    assert names == [None, "job-4", "job-3", "job-2", "job-1", "job-0"]

    def listed(query: str) -> list[str | None]:
        return [job["name"] for job in world.request("GET", f"/jobs?{query}")[1]["items"]]

    assert listed("owner=other") == [None]
    assert listed("priority=high") == ["job-3", "job-1"]
    assert listed("task=fail") == [None]
    assert listed("state=done&owner=data-quality") == ["job-4", "job-3", "job-2", "job-1", "job-0"]
    assert listed("owner=unknown") == []


def test_executions_are_listed_by_job_owner_status_time_and_worker(world: World) -> None:
    start = world.now
    good = world.submit(schedule={"every_seconds": 60})
    bad = world.request("POST", "/jobs", {"task": "fail", "parameters": {"fatal": True}}, team="other")[1]
    world.run_for(185, step=5)

    def listed(query: str) -> list[dict[str, Any]]:
        status, page = world.request("GET", f"/executions?{query}")
        assert status == 200, page
        return page["items"]

    assert [one["task"] for one in listed("status=failed")] == ["fail"]
    assert {one["job_id"] for one in listed("owner=other")} == {bad["job_id"]}
    ended = listed("status=succeeded")
    assert [one["job_id"] for one in ended] == [good["job_id"]] * 3
    dues = [one["scheduled_at"] for one in ended]
    assert dues == sorted(dues, reverse=True)
    since, until = to_text(start + timedelta(seconds=60)), to_text(start + timedelta(seconds=180))
    assert [one["scheduled_at"] for one in listed(f"from={since}&to={until}&job_id={good['job_id']}")] == dues[1:]
    [worker] = {one["worker_id"] for one in ended}
    assert len(listed(f"worker_id={worker}")) == 4
    assert listed("worker_id=unknown") == []
    assert len(listed("owner=data-quality&status=succeeded&limit=2")) == 2


def test_running_executions_are_listed(world: World) -> None:
    from tests.integration.fixture_tasks import Killed

    world.submit(task="test.crash", parameters={"in_attempts": [1]})
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    with pytest.raises(Killed):
        world.work(order)
    [running] = world.request("GET", "/executions?status=running")[1]["items"]
    assert running["task"] == "test.crash"


def test_execution_pages_have_no_gap_and_no_overlap(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 20})
    world.run_for(130, step=10)
    everything = [one["execution_id"] for one in world.executions(job["job_id"])][::-1]
    paged: list[str] = []
    cursor = ""
    while True:
        page = world.request("GET", f"/executions?owner=data-quality&to=2027-01-01T00:00:00Z&limit=3{cursor}")[1]
        paged += [one["execution_id"] for one in page["items"]]
        if page["cursor"] is None:
            break
        cursor = f"&cursor={page['cursor']}"
    assert paged == everything


def test_a_page_of_large_jobs_stays_below_the_lambda_response_limit(world: World) -> None:
    for _ in range(70):
        world.submit(parameters={"text": "x" * 65_000}, schedule={"every_seconds": 86_400})
    world.deliver_streams()
    status, page = world.request("GET", "/jobs?limit=100")
    assert status == 200
    assert 50 < len(page["items"]) < 70
    assert page["cursor"] is not None
    rest = world.request("GET", f"/jobs?limit=100&cursor={page['cursor']}")[1]
    assert len(page["items"]) + len(rest["items"]) == 70


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        ("/jobs/unknown", 404, "job_id"),
        ("/jobs/01m7j3myg0ab16wzvq72dx3zvq", 404, "job_id"),
        ("/jobs/01m7j3myg0ab16wzvq72dx3zvq/executions", 404, "job_id"),
        ("/executions/unknown", 404, "execution_id"),
        ("/executions/20261116T120100000Z-01m7j3myg0ab16wzvq72dx3zvq", 404, "execution_id"),
        ("/executions?status=sleeping", 422, "status"),
        ("/executions?from=yesterday", 422, "from"),
        ("/executions?from=2026-11-16T12:00:00Z&to=2026-11-16T11:00:00Z", 422, "to"),
        ("/executions?cursor=nonsense", 422, "cursor"),
        ("/executions?limit=0", 422, "limit"),
        ("/executions?limit=101", 422, "limit"),
        ("/executions?statu=failed", 422, "statu"),
        ("/jobs?limit=many", 422, "limit"),
        ("/jobs?state=sleeping", 422, "state"),
        ("/executions?from=0001-01-01T00:00:00%2B14:00", 422, "from"),
        ("/executions?from=9999-12-31T23:59:59Z", 422, "from"),
        ("/executions?cursor=eyJiZWZvcmUiOiAiISJ9", 422, "cursor"),
        ("/executions?owner=", 422, "owner"),
        ("/nothing/here", 404, None),
    ],
)
def test_an_invalid_read_request_names_its_field(world: World, path: str, status: int, field: str | None) -> None:
    assert_problem(world.request("GET", path), status, field)


def test_a_result_is_returned_inline_or_by_redirect(world: World) -> None:
    small = world.submit(parameters={"n": [1, 2.5, None]})
    large = world.submit(task="test.large", parameters={"bytes": 40_000})
    never = world.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    world.run_until_idle()

    def path(job: dict[str, Any]) -> str:
        return f"/executions/{world.executions(job['job_id'])[0]['execution_id']}/result"

    assert world.request("GET", path(small)) == (200, {"n": [1, 2.5, None]})
    words = world.submit(task="test.retry_later", parameters={"after": 0})
    world.run_until_idle()
    assert world.request("GET", path(words)) == (200, "ready")
    assert world.request("GET", path(large))[0] == 303
    status, answer = world.request("GET", f"{path(large)}?redirect=false")
    assert status == 200
    assert answer["location"].startswith("https://")
    assert world.request("GET", f"{path(small)}?redirect=false") == (200, {"n": [1, 2.5, None]})
    assert_problem(world.request("GET", path(never)), 409, "execution_id")


def test_the_preview_flags_daylight_saving_changes(world: World) -> None:
    request = {
        "schedule": {"cron": "30 2 * * *", "timezone": "America/New_York"},
        "after": "2026-03-07T00:00:00Z",
        "count": 3,
    }
    status, preview = world.request("POST", "/schedules/preview", request)
    assert status == 200
    assert [(one["at"], one["flag"]) for one in preview["items"]] == [
        ("2026-03-07T07:30:00.000Z", None),
        ("2026-03-08T07:30:00.000Z", "shifted"),
        ("2026-03-09T06:30:00.000Z", None),
    ]
    request["schedule"]["max_runs"] = 3
    request["after"] = "2026-03-07T07:30:00Z"
    assert (
        len(world.request("POST", "/schedules/preview", request)[1]["items"]) == 3
    )  # after, itself due, does not count
    del request["schedule"]["max_runs"]
    request["after"] = "2026-03-07T00:00:00Z"
    request["schedule"]["gap"] = "skip"
    _, preview = world.request("POST", "/schedules/preview", request)
    assert [one["flag"] for one in preview["items"]] == [None, "skipped", None, None]
    assert world.items("jobs") == []
    assert_problem(
        world.request("POST", "/schedules/preview", {"schedule": {"cron": "nonsense"}}), 422, "schedule.cron"
    )
    assert_problem(world.request("POST", "/schedules/preview", {**request, "count": 101}), 422, "count")
    for after in ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "soon"):
        invalid = {"schedule": {"every_seconds": 60}, "after": after}
        assert_problem(world.request("POST", "/schedules/preview", invalid), 422, "after")


def test_the_preview_runs_a_wildcard_through_the_repeated_hour(world: World) -> None:
    schedule = {"cron": "*/30 * * * *", "timezone": "America/New_York"}
    request = {"schedule": schedule, "after": "2026-11-01T04:59:00Z", "count": 5}
    _, preview = world.request("POST", "/schedules/preview", request)
    assert [(one["at"][11:16], one["local"][11:16], one["flag"]) for one in preview["items"]] == [
        ("05:00", "01:00", "repeated"),
        ("05:30", "01:30", "repeated"),
        ("06:00", "01:00", "repeated"),
        ("06:30", "01:30", "repeated"),
        ("07:00", "02:00", None),
    ]
    assert world.submit(schedule=schedule)["schedule"]["fold"] == "both"
    assert world.submit(schedule={**schedule, "fold": None})["schedule"]["fold"] == "both"
    assert world.submit(schedule={**schedule, "fold": "first"})["schedule"]["fold"] == "first"


def test_the_preview_shows_that_a_stepped_day_of_month_and_a_day_of_week_must_both_match(world: World) -> None:
    request = {"schedule": {"cron": "0 6 */2 * MON"}, "after": "2026-01-01T00:00:00Z", "count": 3}
    _, preview = world.request("POST", "/schedules/preview", request)
    assert [one["local"][:10] for one in preview["items"]] == ["2026-01-05", "2026-01-19", "2026-02-09"]


@pytest.mark.parametrize(
    ("what", "submission", "field", "fix"), LONG_LANE_SUBMISSIONS, ids=[one[0] for one in LONG_LANE_SUBMISSIONS]
)
def test_a_long_job_that_cannot_run_is_rejected_with_the_field_and_the_fix(
    world: World, what: str, submission: Any, field: str, fix: str
) -> None:
    status, problem = world.request("POST", "/jobs", {"task": "echo", "lane": "long", **submission})
    assert status == 422, what
    assert problem["errors"][0]["field"] == field
    assert fix in problem["errors"][0]["message"]
    assert world.items("jobs") == []


def test_an_invalid_edit_is_rejected_like_a_submission_and_changes_nothing(world: World) -> None:
    job = world.submit(lane="long", schedule={"every_seconds": 3600}, window="week")
    path = f"/jobs/{job['job_id']}"
    for change, headers, status, field in [
        ({"resources": {"vcpu": 3}}, {}, 422, "resources.vcpu"),
        ({"schedule": None}, {}, 422, "window"),
        ({"lane": "short", "resources": {"vcpu": 1}}, {}, 422, "resources"),
        ({"colour": "red"}, {}, 422, "colour"),
        ({"name": "other"}, {"if-match": "7"}, 412, "If-Match"),
        ({"name": "other"}, {"if-match": "seven"}, 422, "If-Match"),
    ]:
        answered, problem = world.request("PATCH", path, change, headers=headers)
        assert (answered, problem["errors"][0]["field"]) == (status, field), change
    assert world.request("PATCH", path, {"name": "other"}, role="viewer")[0] == 403
    assert world.request("PATCH", path, {"name": "other"}, team="another")[0] == 403
    assert world.request("GET", path)[1] == job


def test_an_edit_changes_the_fields_it_names_and_keeps_the_others(world: World) -> None:
    job = world.submit(
        schedule={"every_seconds": 3600}, priority="high", parameters={"a": 1}, retry={"max_attempts": 7}
    )
    status, edited = world.request(
        "PATCH", f"/jobs/{job['job_id']}", {"parameters": {"a": 2}, "retry": None}, headers={"if-match": '"1"'}
    )
    assert status == 200
    other = ("revision", "updated_at", "parameters", "retry", "recent_executions", "running")
    same = {name: value for name, value in job.items() if name not in other}
    assert {name: edited[name] for name in same} == same
    assert (edited["parameters"], edited["retry"]["max_attempts"], edited["revision"]) == ({"a": 2}, 3, 2)


def test_an_execution_can_be_cancelled_only_by_its_own_team_and_only_before_it_ends(world: World) -> None:
    job = world.submit(schedule={"at": "2026-12-01T00:00:00Z"})
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    path = f"/executions/{execution['execution_id']}/cancel"
    assert world.request("PUT", path, role="viewer")[0] == 403
    assert world.request("PUT", path, team="another")[0] == 403
    assert world.request("PUT", path)[1]["status"] == "cancelled"
    assert world.request("PUT", path)[0] == 200
    world.run_until_idle()
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "done"
    done = world.submit()
    world.run_until_idle()
    [ended] = world.executions(done["job_id"])
    status, problem = world.request("PUT", f"/executions/{ended['execution_id']}/cancel")
    assert (status, problem["errors"][0]["field"]) == (409, "execution_id")


def test_a_timeout_below_the_expected_time_names_both_fields_under_the_field_that_was_sent(world: World) -> None:
    job = world.submit(schedule={"cron": "@daily"}, expected_seconds=60)
    for changes, field in (
        ({"timeout_seconds": 10}, "timeout_seconds"),
        ({"expected_seconds": 700}, "expected_seconds"),
    ):
        status, problem = world.request("PATCH", f"/jobs/{job['job_id']}", changes)
        assert (status, [one["field"] for one in problem["errors"]]) == (422, [field])
        assert "expected_seconds" in problem["errors"][0]["message"]
        assert "timeout_seconds" in problem["errors"][0]["message"]


@pytest.mark.parametrize("start", [{}, {"starts_at": "2026-11-18T03:00:00Z"}])
def test_an_end_before_the_first_instant_names_every_field_involved(world: World, start: dict[str, str]) -> None:
    until = "2026-11-19T01:00:00Z" if start else "2026-11-16T20:00:00Z"
    schedule = {"cron": "0 2 * * *", "ends_at": until, **start}
    status, problem = world.request("POST", "/jobs", {"task": "echo", "schedule": schedule})
    assert (status, problem["errors"][0]["field"]) == (422, "schedule.ends_at")
    message = problem["errors"][0]["message"]
    assert "schedule.cron, '0 2 * * *', has no time until then" in message
    assert ("schedule.starts_at, 2026-11-18T03:00:00.000Z" in message) == bool(start)


@pytest.mark.parametrize("on_skip", ["skip", "next_business_day"])
def test_a_schedule_whose_dates_are_all_skipped_before_its_end_names_the_skip_field(world: World, on_skip: str) -> None:
    schedule = {"cron": "0 6 18 * *", "skip": ["2026-11-18"], "ends_at": "2026-11-18T12:00:00Z", "on_skip": on_skip}
    status, problem = world.request("POST", "/jobs", {"task": "echo", "schedule": schedule})
    assert (status, problem["errors"][0]["field"]) == (422, "schedule.skip")
    assert "schedule.cron until schedule.ends_at, 2026-11-18T12:00:00.000Z, are skipped" in problem["detail"]
