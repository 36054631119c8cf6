"""Manual retries of an upstream: the retry replaces the original execution for dependants."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.dependants import (
    Interrupted,
    after,
    assert_started_once,
    execution_records,
    only_execution,
    plan,
    status_and_reason,
)
from tests.integration.world import World


def retry(world: World, execution_id: str, **parameters: Any) -> str:
    status, answer = world.request("POST", f"/executions/{execution_id}/retry", {"parameters": parameters})
    assert status == 201, answer
    return answer["execution"]["execution_id"]


def failed_upstream(world: World) -> tuple[dict[str, Any], str]:
    first = world.submit(name="first", task="fail", parameters={"fatal": True, "times": 9})
    world.run_until_idle()
    return first, only_execution(world, first)["execution_id"]


def test_a_successful_manual_retry_satisfies_later_dependants(world: World) -> None:
    first, execution_id = failed_upstream(world)
    early = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert status_and_reason(world, early)[0] == "skipped"
    again = retry(world, execution_id, times=0)
    world.run_until_idle()
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert_started_once(world, second)
    [shown] = world.execution(only_execution(world, second)["execution_id"])["upstreams"]
    assert (shown["execution_id"], shown["status"]) == (again, "succeeded")
    assert status_and_reason(world, early) == ("skipped", f"upstream failed: first ({execution_id})"), (
        "a skipped dependant stays skipped"
    )
    cleanup = world.submit(depends_on=after(first, condition="failed"))
    world.run_until_idle()
    assert_started_once(world, cleanup)


def test_the_latest_of_several_retries_counts(world: World) -> None:
    first, execution_id = failed_upstream(world)
    for _ in range(4):
        execution_id = retry(world, execution_id)
        world.run_until_idle()
    assert execution_id.endswith("-5")
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert status_and_reason(world, second) == ("skipped", f"upstream failed: first ({execution_id})")
    retry(world, execution_id, times=0)
    world.run_until_idle()
    third = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert_started_once(world, third)


def test_a_backfill_of_the_upstream_window_does_not_count_as_a_retry(world: World) -> None:
    schedule = {"cron": "0 * * * *"}
    first = world.submit(name="first", task="fail", parameters={"fatal": True, "times": 9}, schedule=schedule)
    world.run_for(60, step=60)
    execution_id = world.executions(first["job_id"])[0]["execution_id"]
    assert world.request("PATCH", f"/jobs/{first['job_id']}", {"task": "echo"})[0] == 200
    span = {"from": "2026-11-16T12:00:00Z", "to": "2026-11-16T12:01:00Z"}
    _, answer = world.request("POST", f"/jobs/{first['job_id']}/backfill", {**span, "which": "all"})
    assert [one["execution_id"] for one in answer["items"]] == [f"{execution_id}-2"]
    second = world.submit(schedule=schedule, depends_on=after(first))
    assert world.request("POST", f"/jobs/{second['job_id']}/backfill", span)[0] == 201
    world.run_until_idle()
    assert world.executions(second["job_id"])[0]["reason"] == f"upstream failed: first ({execution_id})"
    retried = retry(world, execution_id, times=0)
    assert retried == f"{execution_id}-3"
    world.run_until_idle()
    assert (
        world.request("POST", f"/jobs/{second['job_id']}/backfill", {**span, "which": "missing_and_failed"})[0] == 201
    )
    world.run_until_idle()
    assert world.executions(second["job_id"])[1]["status"] == "succeeded"


@pytest.mark.parametrize(("times", "expected"), [(0, "succeeded"), (9, "skipped")])
@pytest.mark.parametrize("moment", range(12))
def test_a_dependant_waits_for_a_running_retry_and_follows_its_outcome(
    world: World, times: int, expected: str, moment: int
) -> None:
    """The retry may end at any moment while the planner holds the dependant."""
    first, execution_id = failed_upstream(world)
    again = retry(world, execution_id, times=times)
    plan(world)
    [order] = world.orders()
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    to_hold = execution_records(world, "planner")

    def retry_ends() -> None:
        world.work(order)
        world.call("settler", {"Records": execution_records(world, "settler")})

    with Interrupted(moment, retry_ends) as interrupted:
        world.call("planner", {"Records": to_hold})
    if interrupted.calls <= moment:
        assert status_and_reason(world, second) == ("waiting", f"waits for first: {again}")
        retry_ends()
    world.run_until_idle()
    assert only_execution(world, second)["status"] == expected


def test_a_late_failure_record_makes_the_dependant_wait_for_the_retry(world: World) -> None:
    first = world.submit(name="first", task="fail", parameters={"fatal": True, "times": 9})
    second = world.submit(depends_on=after(first))
    plan(world)
    [order] = world.orders()
    world.work(order)
    again = retry(world, only_execution(world, first)["execution_id"], times=0)
    plan(world)
    assert status_and_reason(world, second) == ("waiting", f"waits for first: {again}")
    world.run_until_idle()
    assert_started_once(world, second)


def test_a_manual_retry_of_a_skipped_dependant_starts_its_own_dependants(world: World) -> None:
    first, execution_id = failed_upstream(world)
    middle = world.submit(depends_on=after(first))
    world.run_until_idle()
    retry(world, execution_id, times=0)
    retry(world, only_execution(world, middle)["execution_id"])
    last = world.submit(depends_on=after(middle))
    world.run_until_idle()
    assert_started_once(world, last)
