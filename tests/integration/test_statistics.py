"""Statistics through the API: summaries, the history of a job, and the recent executions of jobs in lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual import Context
from punctual.aws import clients
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World

YEARLY = {"cron": "0 0 1 1 *"}


def get(world: World, path: str) -> Any:
    status, body = world.request("GET", path)
    assert status == 200, body
    return body


def a_job(world: World, **submission: Any) -> dict[str, Any]:
    """A job that runs only when the test runs it."""
    job = world.submit(task="test.scripted", schedule=YEARLY, retry={"max_attempts": 1}, **submission)
    world.run_until_idle()
    return job


def run(world: World, job: dict[str, Any], seconds: float, *, succeeds: bool = True, starts_after: float = 0) -> str:
    """Run a job, which takes so many seconds. Returns the id of the execution."""

    def body(_context: Context) -> None:
        world.pass_time(seconds)
        if not succeeds:
            raise RuntimeError("as the test wants")

    TASK_BODIES.append(body)
    world.pass_time(1)
    status, manual = world.request("POST", f"/jobs/{job['job_id']}/run")
    assert status == 201, manual
    world.deliver_streams()
    world.pass_time(starts_after)
    world.run_until_idle()
    return str(manual["execution"]["execution_id"])


def problem(world: World, path: str) -> tuple[str, str]:
    status, body = world.request("GET", path)
    assert status == 422, body
    [error] = body["errors"]
    return error["field"], error["message"]


# the last executions of a job


def test_a_job_shows_its_last_executions_with_run_times_and_the_success_percentage(world: World) -> None:
    job = a_job(world)
    ids = [run(world, job, 1), run(world, job, 8, succeeds=False), run(world, job, 2), run(world, job, 3)]
    shown = get(world, f"/jobs/{job['job_id']}")
    assert [one["execution_id"] for one in shown["recent_executions"]] == ids[::-1]
    assert [one["run_seconds"] for one in shown["recent_executions"]] == [3, 2, 8, 1]
    execution = world.execution(ids[-1])
    assert shown["last_execution"] == {
        "run_seconds": 3,
        **{name: execution[name] for name in ("execution_id", "status", "scheduled_at", "ended_at")},
    }
    assert (shown["success_percent"], shown["median_seconds"], shown["p95_seconds"]) == (75.0, 2, 3)
    assert get(world, "/jobs")["items"] == [shown]


def test_a_job_without_an_ended_execution_has_no_rate(world: World) -> None:
    job = a_job(world)
    shown = get(world, f"/jobs/{job['job_id']}")
    assert shown["recent_executions"] == []
    assert [shown[name] for name in ("last_execution", "success_percent", "median_seconds", "p95_seconds")] == [
        None
    ] * 4


def test_a_job_shows_at_most_20_executions(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 1})
    world.run_for(30, step=3)
    ended = [one["execution_id"] for one in world.executions(job["job_id"]) if one["ended_at"]]
    shown = get(world, f"/jobs/{job['job_id']}")["recent_executions"]
    assert len(ended) > 20
    assert sorted(one["execution_id"] for one in shown) == ended[-20:]


def requests_of(act: Callable[[], object]) -> Counter[str]:
    found: Counter[str] = Counter()

    def note(model: Any, **_: Any) -> None:
        found[model.name] += 1

    events = clients.dynamodb().meta.events
    events.register("provide-client-params.dynamodb.*", note)
    act()
    events.unregister("provide-client-params.dynamodb.*", note)
    return found


def test_the_statistics_of_a_page_of_jobs_take_one_request(world: World) -> None:
    for _ in range(2):
        a_job(world)
    few = requests_of(lambda: get(world, "/jobs?limit=1"))
    for _ in range(10):
        a_job(world)
    assert requests_of(lambda: get(world, "/jobs?limit=10")) == few


# the live executions of a job


@pytest.mark.parametrize("overlap", ["skip", "allow"])
def test_a_job_shows_how_many_of_its_executions_run(world: World, overlap: str) -> None:
    job, other = a_job(world, overlap=overlap), a_job(world)
    seen: list[list[int]] = []

    def look(_context: Context) -> None:
        listed = {one["job_id"]: one["running"] for one in get(world, "/jobs")["items"]}
        seen.append([get(world, f"/jobs/{job['job_id']}")["running"], listed[job["job_id"]], listed[other["job_id"]]])

    TASK_BODIES.append(look)
    assert world.request("POST", f"/jobs/{job['job_id']}/run")[0] == 201
    world.run_until_idle()
    assert seen == [[1, 1, 0]]
    assert get(world, f"/jobs/{job['job_id']}")["running"] == 0


def test_a_job_shows_the_worst_deadline_state_of_its_live_executions(world: World) -> None:
    job = a_job(world, deadline={"within_seconds": 60})
    without = a_job(world)
    for _ in range(2):  # not delivered to a worker
        assert world.request("POST", f"/jobs/{job['job_id']}/run")[0] == 201
        world.deliver_streams()
        world.pass_time(59)
    listed = {one["job_id"]: one["deadline_state"] for one in get(world, "/jobs")["items"]}
    assert listed == {job["job_id"]: "on_track", without["job_id"]: None}
    world.pass_time(30)
    world.monitor_tick()
    world.deliver_checks()
    assert get(world, f"/jobs/{job['job_id']}")["deadline_state"] == "missed"


# what a request for one job may include


def test_a_job_includes_its_statistics_and_next_instants(world: World) -> None:
    job = a_job(world)
    run(world, job, 1)
    path = f"/jobs/{job['job_id']}"
    found = get(world, f"{path}?include=statistics,next")
    assert found["statistics"] == get(world, f"{path}/statistics?from=2025-11-11")
    assert [one["at"][:10] for one in found["next"]] == [f"{year}-01-01" for year in range(2027, 2037)]
    assert found["graph"] is None
    plain = get(world, path)
    assert {name: found[name] for name in plain} == plain
    assert get(world, f"{path}?include=next")["statistics"] is None
    assert problem(world, f"{path}?include=nexts")[0].startswith("include")


# the history of a job


def test_the_history_of_a_job_has_run_times_lateness_and_outcomes_by_day(world: World) -> None:
    job = a_job(world)
    world.pass_time(2 * 86_400)  # no execution has ended yet: these days are unknown
    run(world, job, 10)
    run(world, job, 10, starts_after=40)
    run(world, job, 100, succeeds=False)
    world.pass_time(2 * 86_400)
    run(world, job, 1000)
    history = get(world, f"/jobs/{job['job_id']}/statistics")
    assert (history["first_day"], history["total"]) == ("2026-11-18", 4)
    assert history["counts"] == {"succeeded": 3, "failed": 1}
    assert [one["day"] for one in history["days"]] == ["2026-11-18", "2026-11-19", "2026-11-20"]
    first, empty, last = history["days"]
    assert (first["total"], first["counts"]) == (3, {"succeeded": 2, "failed": 1})
    assert first["run_times"]["p95_seconds"] == pytest.approx(10, rel=0.06)
    assert first["lateness"]["p95_seconds"] == pytest.approx(40, rel=0.06)
    assert (empty["total"], empty["run_times"]) == (0, {"median_seconds": None, "p95_seconds": None})
    assert last["run_times"]["median_seconds"] == pytest.approx(1000, rel=0.06)
    assert history["run_times"]["p95_seconds"] == pytest.approx(1000, rel=0.06)
    chosen = get(world, f"/jobs/{job['job_id']}/statistics?from=2026-11-01&to=2026-11-18")
    assert chosen["days"] == [first]


def test_the_history_outlives_the_executions(world: World) -> None:
    job = a_job(world)
    run(world, job, 1)
    before = get(world, f"/jobs/{job['job_id']}/statistics")
    for item in world.items("executions"):
        key = {name: item[name] for name in ("job_id", "execution_id")}
        world.dynamodb.delete_item(TableName="executions", Key=key)
    assert before["total"] == 1
    assert get(world, f"/jobs/{job['job_id']}/statistics") == before


def test_days_whose_counters_expired_are_unknown(world: World) -> None:
    job = a_job(world)
    run(world, job, 1)
    world.pass_time(86_400)
    run(world, job, 1)
    items = [one for one in world.items("statistics") if one["series"]["S"] == f"job#{job['job_id']}"]
    expiries = {one["bucket"]["S"]: int(one["expires_at"]["N"]) for one in items}
    midnights = {"day#2026-11-16": datetime(2026, 11, 16, tzinfo=UTC), "record": datetime(2026, 11, 17, tzinfo=UTC)}
    kept = timedelta(weeks=55)
    assert expiries == {bucket: (at + kept).timestamp() for bucket, at in midnights.items()}
    world.pass_time(datetime(2027, 12, 6, tzinfo=UTC).timestamp() - world.now.timestamp())
    history = get(world, f"/jobs/{job['job_id']}/statistics?from=2026-11-16&to=2026-11-18")
    assert history["first_day"] == "2026-11-17"
    assert [one["day"] for one in history["days"]] == ["2026-11-17", "2026-11-18"]


def test_a_job_whose_executions_have_not_ended_has_no_history(world: World) -> None:
    job = a_job(world)
    history = get(world, f"/jobs/{job['job_id']}/statistics?from=2025-12-01")
    assert (history["first_day"], history["days"], history["total"]) == (None, [], 0)


def test_a_wrong_range_of_a_history_is_rejected(world: World) -> None:
    path = f"/jobs/{a_job(world)['job_id']}/statistics"
    assert problem(world, f"{path}?from=2024-01-01") == (
        "from",
        "must be at most 371 days (53 weeks) before to: use a shorter range",
    )
    assert problem(world, f"{path}?from=2026-11-02&to=2026-11-01")[0] == "to"
    assert problem(world, f"{path}?from=yesterday")[0] == "from"
    assert world.request("GET", "/jobs/01m7jxs3n0000000000000000a/statistics")[0] == 404


# summaries


def test_a_summary_counts_ended_executions_by_status_and_by_queue(world: World) -> None:
    job, urgent = a_job(world), a_job(world, priority="high")
    run(world, job, 1)
    run(world, job, 1, succeeds=False)
    world.pass_time(3600)
    run(world, urgent, 1, starts_after=20)
    items = get(world, "/executions/summary?from=2026-11-16T11:30:00Z")["items"]
    assert [one["start"][11:16] for one in items] == ["11:00", "12:00", "13:00"]
    assert [one["counts"] for one in items] == [{}, {"succeeded": 1, "failed": 1}, {"succeeded": 1}]
    assert [one["total"] for one in items] == [0, 2, 1]
    by_queue = get(world, "/executions/summary?from=2026-11-16T12:00:00Z&bucket=day&by=queue")["items"]
    assert [one["counts"] for one in by_queue] == [{"normal": 2, "high": 1}]
    assert by_queue[0]["start_delay_p99_seconds"]["high"] == pytest.approx(20, rel=0.06)
    world.pass_time(900)
    quarters = get(world, "/executions/summary?from=2026-11-16T12:50:00Z&bucket=quarter_hour")["items"]
    assert [(one["start"][11:16], one["end"][11:16], one["counts"]) for one in quarters] == [
        ("12:45", "13:00", {}),
        ("13:00", "13:15", {"succeeded": 1}),
        ("13:15", "13:30", {}),
    ]


def test_a_summary_of_an_owner_counts_only_that_owner(world: World) -> None:
    job = a_job(world)
    run(world, job, 1)
    assert world.request("POST", "/jobs", {"task": "echo"}, team="reporting")[0] == 201
    world.run_until_idle()
    for query, total in (("owner=data-quality", 1), ("owner=reporting", 1), ("owner=others", 0), ("", 2)):
        items = get(world, f"/executions/summary?{query}")["items"]
        assert sum(one["total"] for one in items) == total


def test_a_wrong_range_of_a_summary_is_rejected(world: World) -> None:
    path = "/executions/summary"
    remedy = "use bucket=hour, or a shorter range"
    assert problem(world, f"{path}?from=2026-11-13T00:00:00Z&bucket=quarter_hour") == (
        "from",
        f"must be at most 2 days before to with bucket=quarter_hour: {remedy}",
    )
    kept = "must be within the last 35 days, for which counters are kept"
    assert problem(world, f"{path}?from=2026-09-01T00:00:00Z&to=2026-09-02T00:00:00Z") == ("from", kept)
    assert problem(world, f"{path}?from=2026-11-13T00:00:00Z&to=2026-11-12T00:00:00Z")[0] == "to"
    assert problem(world, f"{path}?bucket=week")[0] == "bucket"
    assert problem(world, f"{path}?by=task")[0] == "by"
