"""The dry run of a submission: expected run time, end against the deadline, and cost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import to_text
from tests.integration.world import World


def forecast(world: World, **submission: Any) -> dict[str, Any]:
    status, preview = world.request("POST", "/jobs?dry_run=true", {"task": "echo", **submission})
    assert status == 200, preview
    assert preview["dry_run"] is True
    assert world.items("jobs") == []
    return preview["forecast"]


def test_a_declared_run_time_gives_end_deadline_and_cost(world: World) -> None:
    found = forecast(
        world,
        schedule={"cron": "0 2 * * *"},
        lane="long",
        resources={"vcpu": 2, "memory_mb": 4096},
        expected_seconds=3600,
        deadline={"within_seconds": 7200},
    )
    assert found["run_time"]["source"] == "declared"
    assert found["run_time"]["median_seconds"] == pytest.approx(3600)
    assert found["median_end"] == "2026-11-17T03:00:00.000Z"
    assert found["p95_end"] > found["median_end"]
    assert (found["deadline"]["at"], found["deadline"]["state"]) == ("2026-11-17T04:00:00.000Z", "on_track")
    each = 2 * 0.03238 + 4 * 0.00356
    assert found["cost"]["compute_dollars"] == pytest.approx(each, rel=1e-3)
    assert found["executions_per_month"] == 30
    assert found["dollars_per_month"] == pytest.approx(30 * found["cost"]["dollars"], rel=1e-3)


def test_a_deadline_that_is_too_tight_is_named_with_cause(world: World) -> None:
    found = forecast(world, lane="long", expected_seconds=3600, deadline={"within_seconds": 600})
    assert found["deadline"]["state"] == "will_miss"
    assert found["deadline"]["cause"]


def test_partitions_cost_their_sum(world: World) -> None:
    spec = {"lane": "long", "expected_seconds": 600, "resources": {"vcpu": 1, "memory_mb": 2048}}
    one, six = forecast(world, **spec)["cost"], forecast(world, partitions={"count": 6}, **spec)["cost"]
    assert six["compute_dollars"] == pytest.approx(6 * one["compute_dollars"], rel=1e-3)


def test_without_a_known_run_time_there_is_no_end_and_no_cost(world: World) -> None:
    found = forecast(world, schedule={"every_seconds": 60})
    assert found["run_time"]["source"] == "timeout"
    assert [found[name] for name in ("median_end", "p95_end", "deadline", "cost", "dollars_per_month")] == [None] * 5
    assert found["executions_per_month"] == pytest.approx(30 * 24 * 60, rel=0.01)


def test_a_short_job_that_runs_once_costs_a_fraction_of_a_cent(world: World) -> None:
    at = to_text(world.now + timedelta(hours=1))
    found = forecast(world, schedule={"at": at}, expected_seconds=60)
    assert found["median_end"] == to_text(world.now + timedelta(seconds=3660))
    assert 0 < found["cost"]["dollars"] < 0.001
    assert (found["executions_per_month"], found["dollars_per_month"]) == (1, found["cost"]["dollars"])


def test_a_batch_is_forecast_for_each_new_job_and_its_cost_is_summed(world: World) -> None:
    world.submit(dedupe_key="taken", schedule={"every_seconds": 3600})
    nightly = {"task": "echo", "schedule": {"cron": "0 2 * * *"}, "deadline": {"within_seconds": 7200}}
    long = {"lane": "long", "resources": {"vcpu": 2, "memory_mb": 4096}, "expected_seconds": 3600}
    jobs: list[dict[str, Any]] = [
        {**nightly, **long, "name": "load"},
        {"task": "echo", "dedupe_key": "taken", "on_duplicate": "return_existing"},
        {**nightly, "name": "report", "expected_seconds": 60, "depends_on": [{"job": "load"}]},
        {**nightly, "name": "unknown"},
        {"task": "echo", "name": "messages", "schedule": {"queue": True}},
    ]
    stored = world.items("jobs")
    world.aws_requests.clear()
    status, preview = world.request("POST", "/jobs/batch?dry_run=true", {"jobs": jobs})
    assert status == 200, preview
    assert world.items("jobs") == stored
    assert world.aws_requests.count("GetItem") == 2  # the sample and the lane, however many jobs
    assert [one["name"] for one in preview["forecasts"]] == ["load", "report", "unknown", "messages"]
    load, report, unknown, messages = (one["forecast"] for one in preview["forecasts"])
    assert load["median_end"] == "2026-11-17T03:00:00.000Z"
    assert load["deadline"]["state"] == "on_track"
    assert load == forecast_alone(world, jobs[0])
    assert report["median_end"] == "2026-11-17T02:01:00.000Z"  # without its upstream
    assert (unknown["run_time"]["source"], unknown["cost"], messages) == ("timeout", None, None)
    dollars = load["dollars_per_month"] + report["dollars_per_month"]
    assert preview["dollars_per_month"] == pytest.approx(dollars)
    assert preview["unpriced"] == 2


def forecast_alone(world: World, submission: dict[str, Any]) -> dict[str, Any]:
    return world.request("POST", "/jobs?dry_run=true", submission)[1]["forecast"]


def test_of_each_job_of_a_large_batch_fewer_starts_are_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punctual.stages.api.forecast_submission.MAX_FORECAST_STARTS", 100)
    jobs = [{"task": "echo", "expected_seconds": 1, "schedule": {"every_seconds": 600}}] * 3
    _, preview = world.request("POST", "/jobs/batch?dry_run=true", {"jobs": jobs})
    monthly = [one["forecast"]["executions_per_month"] for one in preview["forecasts"]]
    assert monthly == [pytest.approx(30 * 24 * 6, rel=0.05)] * 3


def test_a_batch_returns_the_first_execution_of_each_job(world: World) -> None:
    existing = world.submit(dedupe_key="taken", schedule={"cron": "0 2 * * *"})
    jobs = [
        {"task": "echo", "schedule": {"cron": "0 * * * *"}},
        {"task": "echo", "name": "now"},
        {"task": "echo", "schedule": {"queue": True}},
        {"task": "echo", "dedupe_key": "taken", "on_duplicate": "return_existing"},
    ]
    status, answer = world.request("POST", "/jobs/batch", {"jobs": jobs}, headers={"idempotency-key": "k"})
    assert status == 201, answer
    hourly, now, messages, taken = answer["items"]
    assert hourly["next_due_at"] == now["next_due_at"] == to_text(world.now)
    assert (messages["execution_id"], messages["next_due_at"]) == (None, None)
    assert (taken["created"], taken["execution_id"]) == (False, existing["execution_id"])
    world.run_until_idle()
    for one in (hourly, now):
        assert world.execution(one["execution_id"])["status"] == "succeeded"
    world.pass_time(60)
    repeated = world.request("POST", "/jobs/batch", {"jobs": jobs}, headers={"idempotency-key": "k"})
    assert (repeated[0], repeated[1]["items"][0]) == (201, hourly)  # the other one has ended


def test_a_queue_job_has_no_forecast_because_its_messages_decide(world: World) -> None:
    assert forecast(world, schedule={"queue": True}) is None
