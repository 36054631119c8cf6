"""Upstreams and dependants that are edited, deleted, cancelled."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from punctual.domain.instant import to_text
from tests.integration.dependants import after, in_an_hour, only, outcome, plan, started_once
from tests.integration.world import World


def test_a_dependant_of_a_job_that_is_deleted_meanwhile_is_skipped(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.settle_down()
    execution_id = only(world, first)["execution_id"]
    assert outcome(world, second) == ("waiting", f"waits for first: {execution_id}")
    assert world.request("DELETE", f"/jobs/{first['job_id']}")[0] == 200
    world.settle_down()
    assert outcome(world, second) == ("skipped", f"upstream deleted: first ({execution_id})")


def test_a_dependant_of_an_execution_that_is_cancelled_is_skipped(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first, condition="finished"))
    world.settle_down()
    execution_id = only(world, first)["execution_id"]
    assert world.request("PUT", f"/executions/{execution_id}/cancel")[0] == 200
    world.settle_down()
    assert outcome(world, second) == ("skipped", f"upstream cancelled: first ({execution_id})")


def test_a_dependant_that_is_deleted_itself_is_withdrawn(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.settle_down()
    assert world.request("DELETE", f"/jobs/{second['job_id']}")[0] == 200
    world.settle_down()
    assert outcome(world, second) == ("cancelled", "job deleted")
    world.run_for(3700, step=60)
    assert only(world, first)["status"] == "succeeded"
    assert outcome(world, second) == ("cancelled", "job deleted")


def test_an_upstream_that_is_put_off_is_waited_for_at_its_new_instant(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.settle_down()
    later = {"at": to_text(world.now + timedelta(seconds=100))}
    assert world.request("PATCH", f"/jobs/{first['job_id']}", {"schedule": later})[0] == 200
    world.settle_down()
    [new] = [one for one in world.executions(first["job_id"]) if one["status"] == "queued"]
    assert outcome(world, second)[1].endswith(new["execution_id"])
    world.run_for(110, step=10)
    started_once(world, second)


def test_an_edit_frees_a_dependant_that_waits(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.settle_down()
    status, edited = world.request("PATCH", f"/jobs/{second['job_id']}", {"depends_on": None})
    assert (status, edited["depends_on"]) == (200, [])
    world.settle_down()
    started_once(world, second)


def test_an_order_sent_before_an_edit_does_not_overtake_what_is_waited_for_since(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(schedule={"at": to_text(world.now + timedelta(seconds=60))})
    world.settle_down()
    assert only(world, second)["status"] == "queued"
    assert world.request("PATCH", f"/jobs/{second['job_id']}", {"depends_on": after(first)})[0] == 200
    plan(world)
    world.pass_time(60)
    [order] = world.orders()
    world.work(order)
    world.run_for(60, step=10)
    assert only(world, second)["status"] == "waiting"
    world.run_for(3600, step=60)
    started_once(world, second)


def test_an_edit_of_something_else_leaves_a_dependency_on_what_is_gone_alone(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first), schedule=in_an_hour(world))
    world.settle_down()
    world.request("DELETE", f"/jobs/{first['job_id']}")
    path = f"/jobs/{second['job_id']}"
    assert world.request("PATCH", path, {"priority": "high"})[0] == 200
    status, problem = world.request("PATCH", path, {"depends_on": after(first)})
    assert (status, problem["errors"][0]["field"]) == (422, "depends_on.0.job")


def test_an_upstream_edited_at_the_moment_somebody_comes_to_depend_on_it_is_not_forgotten(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    seen = adapter(world).get(first["job_id"])
    world.submit(depends_on=after(first))
    assert not adapter(world).replace(replace(seen, revision=seen.revision + 1))
    assert world.request("PATCH", f"/jobs/{first['job_id']}", {"priority": "high"})[0] == 200
    assert adapter(world).get(first["job_id"]).feeds


def adapter(world: World) -> Any:
    """The jobs, as the planner sees them."""
    return world.function("planner").jobs
