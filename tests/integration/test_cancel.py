"""Cancelling jobs, waiting executions and running executions; manual retries of finished ones."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import from_text
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World

MINUTELY = {"every_seconds": 60}


def cancel(world: World, execution_id: str, query: str = "") -> dict[str, Any]:
    status, answer = world.request("PUT", f"/executions/{execution_id}/cancel{query}")
    assert status == 200, answer
    return answer


def submit_scripted(world: World, **submission: Any) -> tuple[str, dict[str, Any]]:
    """Submit a one-time job. Returns its id and its work order."""
    job = world.submit(task="test.scripted", **submission)
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    return job["job_id"], order


def test_a_running_task_sees_its_cancellation_and_its_partial_result_is_kept(world: World) -> None:
    job_id, order = submit_scripted(world)

    def obey(context: Context) -> str:
        answer = cancel(world, context.execution_id)
        assert answer["status"] == "running"
        assert from_text(answer["cancel_at"]) == world.now + timedelta(seconds=30)
        assert not context.cancelled
        assert world.wait_for_cancellation(context)
        return "half of it"

    TASK_BODIES.append(obey)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["reason"]) == ("cancelled", "cancelled by operator@data-quality")
    assert one["result"]["value"] == "half of it"
    assert [attempt["outcome"] for attempt in one["attempts"]] == ["cancelled"]


def test_after_the_grace_the_lease_is_revoked_and_a_late_result_is_refused(world: World) -> None:
    job_id, order = submit_scripted(world)

    def ignore(context: Context) -> str:
        cancel(world, context.execution_id, "?grace_seconds=20")
        world.run_until_idle()
        world.pass_time(19)
        world.run_until_idle()
        assert world.execution(context.execution_id)["status"] == "running"
        world.pass_time(2)
        world.run_until_idle()
        assert world.execution(context.execution_id)["status"] == "cancelled"
        return "too late"

    TASK_BODIES.append(ignore)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["result"]["value"]) == ("cancelled", None)


def test_an_execution_that_fails_after_its_cancellation_is_not_retried(world: World) -> None:
    job_id, order = submit_scripted(world, retry={"max_attempts": 5})

    def fail(context: Context) -> None:
        cancel(world, context.execution_id)
        raise ValueError("oh")

    TASK_BODIES.append(fail)
    world.work(order)
    world.run_until_idle()
    world.pass_time(31)
    world.run_until_idle()
    [one] = world.executions(job_id)
    assert (one["status"], one["attempt"]) == ("cancelled", 1)


def test_a_cancelled_execution_whose_worker_died_is_not_taken_over(world: World) -> None:
    job_id, order = submit_scripted(world)

    def outlive_lease(context: Context) -> None:
        cancel(world, context.execution_id, "?grace_seconds=600")
        world.pass_time(45)
        world.tick()
        world.run_until_idle()
        assert world.execution(context.execution_id)["status"] == "cancelled"

    TASK_BODIES.append(outlive_lease)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["attempt"]) == ("cancelled", 1)


def test_cancelling_twice_keeps_the_first_grace(world: World) -> None:
    _, order = submit_scripted(world)
    answers: list[Any] = []

    def cancel_twice(context: Context) -> None:
        for grace in (30, 600):
            answers.append(cancel(world, context.execution_id, f"?grace_seconds={grace}")["cancel_at"])
            world.pass_time(1)

    TASK_BODIES.append(cancel_twice)
    world.work(order)
    assert answers[0] == answers[1]


def test_a_waiting_execution_is_cancelled_immediately_and_leaves_the_queue(world: World) -> None:
    job_id = world.submit(task="test.scripted", schedule=MINUTELY, overlap="queue_all")["job_id"]

    def cancel_first_waiter(_context: Context) -> None:
        for _ in range(2):
            world.pass_time(60)
            world.run_until_idle()
        waiting = [one["execution_id"] for one in world.executions(job_id) if one["status"] == "waiting"]
        assert len(waiting) == 2
        assert world.execution(waiting[1])["waiting_for"]["ahead"] == 1
        assert cancel(world, waiting[0])["status"] == "cancelled"

    TASK_BODIES.append(cancel_first_waiter)
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    assert [one["status"] for one in world.executions(job_id)[:3]] == ["succeeded", "cancelled", "succeeded"]


def test_cancelling_a_job_plans_nothing_more_and_cancels_its_running_execution(world: World) -> None:
    job_id = world.submit(task="test.scripted", schedule=MINUTELY)["job_id"]
    seen: list[bool] = []

    def cancel_job(context: Context) -> None:
        status, answer = world.request("PUT", f"/jobs/{job_id}/cancel")
        assert (status, answer["state"]) == (200, "cancelled")
        world.run_until_idle()
        seen.append(world.wait_for_cancellation(context))

    TASK_BODIES.append(cancel_job)
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    world.run_for(300, step=60)
    assert seen == [True]
    assert {one["status"] for one in world.executions(job_id)} == {"cancelled"}
    assert {one["reason"] for one in world.executions(job_id)} == {"job cancelled"}


def test_deleting_a_job_keeps_its_history_and_leaves_no_live_execution(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(130, step=10)
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.run_for(120, step=30)
    found = [one["status"] for one in world.executions(job_id)]
    assert found[:2] == ["succeeded", "succeeded"]
    assert set(found[2:]) == {"cancelled"}
    status, problem = world.request("DELETE", f"/jobs/{job_id}")
    assert (status, problem["errors"][0]["field"]) == (409, "job_id")


def test_a_dry_run_of_a_cancellation_shows_its_effect_and_writes_nothing(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_until_idle()
    before = world.items("jobs"), world.items("executions")
    status, preview = world.request("PUT", f"/jobs/{job_id}/cancel?dry_run=true")
    live = [one["execution_id"] for one in world.executions(job_id)]
    assert (status, [one["execution_id"] for one in preview["vanish"]]) == (200, live)
    assert [one["execution_id"] for one in cancel(world, live[0], "?dry_run=true")["vanish"]] == live[:1]
    assert (world.items("jobs"), world.items("executions")) == before


def test_a_failed_execution_can_be_retried_with_the_same_or_other_parameters(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"fatal": True, "times": 9}, schedule={"every_seconds": 3600})[
        "job_id"
    ]
    world.run_until_idle()
    world.run_for(3660, step=60)
    failed = world.executions(job_id)[0]
    assert failed["status"] == "failed"
    status, answer = world.request("POST", f"/executions/{failed['execution_id']}/retry", {})
    assert (status, answer["outcome"]) == (201, "starts now"), answer
    world.run_until_idle()
    again = world.execution(answer["execution"]["execution_id"])
    assert (again["status"], again["retry_of"], again["origin"]) == ("failed", failed["execution_id"], "retry")
    assert (again["window"], again["scheduled_at"]) == (failed["window"], failed["scheduled_at"])
    assert again["parameters"] == failed["parameters"]
    status, edited = world.request("POST", f"/executions/{failed['execution_id']}/retry", {"parameters": {"times": 8}})
    assert status == 201
    assert edited["execution"]["parameters"] == {"fatal": True, "times": 8}
    assert world.execution(failed["execution_id"])["status"] == "failed", "a retry must not change the failed execution"


def test_cancelling_the_next_planned_execution_keeps_the_later_ones(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 300})["job_id"]
    world.run_until_idle()
    [planned] = world.executions(job_id)
    assert cancel(world, planned["execution_id"])["status"] == "cancelled"
    world.run_for(901, step=60)
    due = [one["status"] for one in world.executions(job_id) if from_text(one["scheduled_at"]) <= world.now]
    assert due == ["cancelled", "succeeded", "succeeded"]


def test_a_second_manual_retry_is_refused_while_the_first_is_live(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"fatal": True, "times": 9})["job_id"]
    world.run_until_idle()
    failed = world.executions(job_id)[0]["execution_id"]
    assert world.request("POST", f"/executions/{failed}/retry", {})[0] == 201
    status, problem = world.request("POST", f"/executions/{failed}/retry", {})
    assert status == 409
    assert "already" in problem["detail"]


def test_an_execution_that_has_not_ended_cannot_be_retried(world: World) -> None:
    job_id = world.submit()["job_id"]
    world.deliver_streams()
    one = world.executions(job_id)[0]["execution_id"]
    status, problem = world.request("POST", f"/executions/{one}/retry", {})
    assert (status, problem["errors"][0]["field"]) == (409, "execution_id")


def test_a_deleted_job_refuses_manual_retries_and_runs(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"fatal": True, "times": 9})["job_id"]
    world.run_until_idle()
    failed = world.executions(job_id)[0]["execution_id"]
    world.request("DELETE", f"/jobs/{job_id}")
    assert world.request("POST", f"/executions/{failed}/retry", {})[0] == 409
    assert world.request("POST", f"/jobs/{job_id}/run", {})[0] == 409


@pytest.mark.parametrize(("grace", "seconds"), [(0, 5), (20, 240)])
def test_a_result_after_the_grace_is_refused_even_before_the_lease_is_revoked(
    world: World, grace: int, seconds: int
) -> None:
    job_id, order = submit_scripted(world)

    def finish_late(context: Context) -> str:
        cancel(world, context.execution_id, f"?grace_seconds={grace}")
        world.pass_time(seconds)  # the queues are full: the message that revokes the lease is delayed
        return "too late"

    TASK_BODIES.append(finish_late)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["result"]["value"]) == ("cancelled", None)
    assert one["reason"] == "cancelled by operator@data-quality"
    assert [attempt["outcome"] for attempt in one["attempts"]] == ["cancelled"]


def test_an_execution_cancelled_before_it_is_due_cannot_be_retried_before_it_is_due(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 3600})["job_id"]
    world.run_until_idle()
    [one] = world.executions(job_id)
    path = f"/executions/{one['execution_id']}"
    assert world.request("PUT", f"{path}/cancel")[0] == 200
    for query in ("", "?dry_run=true"):
        status, problem = world.request("POST", f"{path}/retry{query}", {})
        assert (status, problem["errors"][0]["field"]) == (409, "execution_id")
        assert f"not due before {one['scheduled_at']}: retry it then, or run the job now" in problem["detail"]
    world.pass_time(3600)
    assert world.request("POST", f"{path}/retry", {})[0] == 201


def test_an_instant_has_at_most_one_live_retry(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"times": 9, "fatal": True})["job_id"]
    world.run_until_idle()
    [first] = [one["execution_id"] for one in world.executions(job_id)]
    assert world.request("POST", f"/executions/{first}/retry")[0] == 201
    world.run_until_idle()
    assert world.request("POST", f"/executions/{first}-2/retry")[0] == 201
    for name in (first, f"{first}-2"):
        status, problem = world.request("POST", f"/executions/{name}/retry")
        assert (status, problem["detail"]) == (
            409,
            f"execution_id: {first}-3 already retries it: wait for it to end, or cancel it first",
        )
    world.run_until_idle()
    assert world.request("POST", f"/executions/{first}/retry")[0] == 201
    assert world.request("POST", f"/executions/{first}-3/retry")[0] == 409
    world.run_until_idle()
    assert [one["status"] for one in world.executions(job_id)] == ["failed"] * 4


def test_a_result_within_the_grace_counts_although_the_task_did_not_see_its_cancellation(world: World) -> None:
    job_id, order = submit_scripted(world)

    def finish(context: Context) -> str:
        cancel(world, context.execution_id)
        world.pass_time(5)
        return "all of it"

    TASK_BODIES.append(finish)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["result"]["value"]) == ("succeeded", "all of it")


def test_an_execution_that_fails_after_its_cancellation_releases_its_concurrency_key_immediately(world: World) -> None:
    key = {"key": "k", "limit": 1}
    job_id, order = submit_scripted(world, concurrency=key, retry={"max_attempts": 5})

    def fail(context: Context) -> None:
        world.submit(concurrency=key)
        world.run_until_idle()
        cancel(world, context.execution_id)
        raise ValueError("oh")

    TASK_BODIES.append(fail)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["attempts"][0]["error"]["message"]) == ("cancelled", "oh")
    world.run_until_idle()
    assert {one["status"]["S"] for one in world.items("executions")} == {"cancelled", "succeeded"}
