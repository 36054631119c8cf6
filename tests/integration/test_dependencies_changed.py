"""Dependencies of jobs that are edited, deleted or cancelled."""

from __future__ import annotations

from datetime import timedelta

from punctual.domain.instant import to_text
from tests.integration.dependants import after, assert_started_once, in_an_hour, only_execution, plan, status_and_reason
from tests.integration.faults import just_before, on_table
from tests.integration.world import World


def test_a_dependant_is_skipped_when_its_upstream_job_is_deleted(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    execution_id = only_execution(world, first)["execution_id"]
    assert status_and_reason(world, second) == ("waiting", f"waits for first: {execution_id}")
    assert world.request("DELETE", f"/jobs/{first['job_id']}")[0] == 200
    world.run_until_idle()
    assert status_and_reason(world, second) == ("skipped", f"upstream deleted: first ({execution_id})")


def test_a_dependant_is_skipped_when_its_upstream_execution_is_cancelled(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first, condition="finished"))
    world.run_until_idle()
    execution_id = only_execution(world, first)["execution_id"]
    assert world.request("PUT", f"/executions/{execution_id}/cancel")[0] == 200
    world.run_until_idle()
    assert status_and_reason(world, second) == ("skipped", f"upstream cancelled: first ({execution_id})")


def test_a_deleted_dependant_is_cancelled(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert world.request("DELETE", f"/jobs/{second['job_id']}")[0] == 200
    world.run_until_idle()
    assert status_and_reason(world, second) == ("cancelled", "job deleted")
    world.run_for(3700, step=60)
    assert only_execution(world, first)["status"] == "succeeded"
    assert status_and_reason(world, second) == ("cancelled", "job deleted")


def test_a_dependant_waits_for_a_rescheduled_upstream_at_its_new_instant(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    later = {"at": to_text(world.now + timedelta(seconds=100))}
    assert world.request("PATCH", f"/jobs/{first['job_id']}", {"schedule": later})[0] == 200
    world.run_until_idle()
    [new] = [one for one in world.executions(first["job_id"]) if one["status"] == "queued"]
    assert status_and_reason(world, second)[1].endswith(new["execution_id"])
    world.run_for(110, step=10)
    assert_started_once(world, second)


def test_removing_the_dependency_starts_a_waiting_dependant(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    status, edited = world.request("PATCH", f"/jobs/{second['job_id']}", {"depends_on": None})
    assert (status, edited["depends_on"]) == (200, [])
    world.run_until_idle()
    assert_started_once(world, second)


def test_a_work_order_sent_before_a_dependency_was_added_does_not_start_the_dependant(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(schedule={"at": to_text(world.now + timedelta(seconds=60))})
    world.run_until_idle()
    assert only_execution(world, second)["status"] == "queued"
    assert world.request("PATCH", f"/jobs/{second['job_id']}", {"depends_on": after(first)})[0] == 200
    plan(world)
    world.pass_time(60)
    [order] = world.orders()
    world.work(order)
    world.run_for(60, step=10)
    assert only_execution(world, second)["status"] == "waiting"
    world.run_for(3600, step=60)
    assert_started_once(world, second)


def test_an_edit_of_another_field_accepts_an_existing_dependency_on_a_deleted_job(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first), schedule=in_an_hour(world))
    world.run_until_idle()
    world.request("DELETE", f"/jobs/{first['job_id']}")
    path = f"/jobs/{second['job_id']}"
    assert world.request("PATCH", path, {"priority": "high"})[0] == 200
    assert world.request("PATCH", path, {"depends_on": after(first)})[0] == 200  # as before
    status, problem = world.request("PATCH", path, {"depends_on": after(first, condition="finished")})
    assert (status, problem["errors"][0]["field"]) == (422, "depends_on.0.job")


def test_an_edit_that_races_with_a_new_dependant_keeps_the_upstream_marked(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    path = f"/jobs/{first['job_id']}"
    with just_before("TransactWriteItems", lambda: world.submit(depends_on=after(first)), on_table("revisions")):
        assert world.request("PATCH", path, {"priority": "high"})[0] == 412
    assert world.request("PATCH", path, {"priority": "high"})[0] == 200
    assert world.function("planner").jobs.get(first["job_id"]).is_upstream
