"""Cancelling a job, an execution that waits, and one that runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import from_text
from tests.integration.odd_tasks import MEANWHILE
from tests.integration.world import World

MINUTELY = {"every_seconds": 60}


def cancel(world: World, execution_id: str, query: str = "") -> dict[str, Any]:
    status, answer = world.request("PUT", f"/executions/{execution_id}/cancel{query}")
    assert status == 200, answer
    return answer


def running(world: World, **submission: Any) -> tuple[str, dict[str, Any]]:
    """A job that runs once, and the order that its worker has."""
    job = world.submit(task="test.meanwhile", **submission)
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    return job["job_id"], order


def test_a_running_task_sees_that_it_is_to_stop_and_what_it_returns_is_kept(world: World) -> None:
    job_id, order = running(world)

    def obey(context: Context) -> str:
        answer = cancel(world, context.execution_id)
        assert answer["status"] == "running"
        assert from_text(answer["cancel_at"]) == world.now + timedelta(seconds=30)
        assert not context.cancelled
        assert world.hears_that_it_is_to_stop(context)
        return "half of it"

    MEANWHILE.append(obey)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["reason"]) == ("cancelled", "cancelled by operator@data-quality")
    assert one["result"]["value"] == "half of it"
    assert [attempt["outcome"] for attempt in one["attempts"]] == ["cancelled"]


def test_after_its_grace_the_lease_is_revoked_and_a_late_result_refused(world: World) -> None:
    job_id, order = running(world)

    def ignore(context: Context) -> str:
        cancel(world, context.execution_id, "?grace_seconds=20")
        world.settle_down()
        world.pass_time(19)
        world.settle_down()
        assert world.execution(context.execution_id)["status"] == "running"
        world.pass_time(2)
        world.settle_down()
        assert world.execution(context.execution_id)["status"] == "cancelled"
        return "too late"

    MEANWHILE.append(ignore)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["result"]["value"]) == ("cancelled", None)


def test_one_that_fails_while_it_is_to_stop_is_not_tried_again(world: World) -> None:
    job_id, order = running(world, retry={"max_attempts": 5})

    def fail(context: Context) -> None:
        cancel(world, context.execution_id)
        raise ValueError("oh")

    MEANWHILE.append(fail)
    world.work(order)
    world.settle_down()
    world.pass_time(31)
    world.settle_down()
    [one] = world.executions(job_id)
    assert (one["status"], one["attempt"]) == ("cancelled", 1)


def test_one_whose_worker_died_is_cancelled_and_not_taken_over(world: World) -> None:
    job_id, order = running(world)

    def vanish(context: Context) -> None:
        cancel(world, context.execution_id, "?grace_seconds=600")
        world.pass_time(45)
        world.tick()
        world.settle_down()
        assert world.execution(context.execution_id)["status"] == "cancelled"

    MEANWHILE.append(vanish)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["attempt"]) == ("cancelled", 1)


def test_asking_twice_is_asking_once(world: World) -> None:
    _, order = running(world)
    answers: list[Any] = []

    def act(context: Context) -> None:
        for grace in (30, 600):
            answers.append(cancel(world, context.execution_id, f"?grace_seconds={grace}")["cancel_at"])
            world.pass_time(1)

    MEANWHILE.append(act)
    world.work(order)
    assert answers[0] == answers[1]


def test_a_waiting_one_is_cancelled_at_once_and_its_place_in_line_is_given_up(world: World) -> None:
    job_id = world.submit(task="test.meanwhile", schedule=MINUTELY, overlap="queue_all")["job_id"]

    def act(_context: Context) -> None:
        for _ in range(2):
            world.pass_time(60)
            world.settle_down()
        waiting = [one["execution_id"] for one in world.executions(job_id) if one["status"] == "waiting"]
        assert len(waiting) == 2
        assert world.execution(waiting[1])["waiting_for"]["ahead"] == 1
        assert cancel(world, waiting[0])["status"] == "cancelled"

    MEANWHILE.append(act)
    world.settle_down()
    world.pass_time(60)
    world.settle_down()
    assert [one["status"] for one in world.executions(job_id)[:3]] == ["succeeded", "cancelled", "succeeded"]


def test_a_cancelled_job_brings_forth_nothing_more_and_what_runs_of_it_is_asked_to_stop(world: World) -> None:
    job_id = world.submit(task="test.meanwhile", schedule=MINUTELY)["job_id"]
    seen: list[bool] = []

    def act(context: Context) -> None:
        status, answer = world.request("PUT", f"/jobs/{job_id}/cancel")
        assert (status, answer["state"]) == (200, "cancelled")
        world.settle_down()
        seen.append(world.hears_that_it_is_to_stop(context))

    MEANWHILE.append(act)
    world.settle_down()
    world.pass_time(60)
    world.settle_down()
    world.run_for(300, step=60)
    assert seen == [True]
    assert {one["status"] for one in world.executions(job_id)} == {"cancelled"}
    assert {one["reason"] for one in world.executions(job_id)} == {"job cancelled"}


def test_deleting_keeps_the_history_and_leaves_nothing_alive(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(130, step=10)
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.run_for(120, step=30)
    found = [one["status"] for one in world.executions(job_id)]
    assert found[:2] == ["succeeded", "succeeded"]
    assert set(found[2:]) == {"cancelled"}
    status, problem = world.request("DELETE", f"/jobs/{job_id}")
    assert (status, problem["errors"][0]["field"]) == (409, "job_id")


def test_a_dry_run_of_cancelling_shows_what_would_go_and_touches_nothing(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.settle_down()
    before = world.items("jobs"), world.items("executions")
    status, foreseen = world.request("PUT", f"/jobs/{job_id}/cancel?dry_run=true")
    live = [one["execution_id"] for one in world.executions(job_id)]
    assert (status, [one["execution_id"] for one in foreseen["vanish"]]) == (200, live)
    assert [one["execution_id"] for one in cancel(world, live[0], "?dry_run=true")["vanish"]] == live[:1]
    assert (world.items("jobs"), world.items("executions")) == before


def test_a_failed_execution_is_done_again_with_its_parameters_or_others(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"fatal": True, "times": 9}, schedule={"every_seconds": 3600})[
        "job_id"
    ]
    world.settle_down()
    world.run_for(3660, step=60)
    failed = world.executions(job_id)[0]
    assert failed["status"] == "failed"
    status, answer = world.request("POST", f"/executions/{failed['execution_id']}/retry", {})
    assert (status, answer["outcome"]) == (201, "starts now"), answer
    world.settle_down()
    again = world.execution(answer["execution"]["execution_id"])
    assert (again["status"], again["retry_of"], again["origin"]) == ("failed", failed["execution_id"], "retry")
    assert (again["window"], again["scheduled_at"]) == (failed["window"], failed["scheduled_at"])
    assert again["parameters"] == failed["parameters"]
    status, edited = world.request("POST", f"/executions/{failed['execution_id']}/retry", {"parameters": {"times": 8}})
    assert status == 201
    assert edited["execution"]["parameters"] == {"fatal": True, "times": 8}
    assert world.execution(failed["execution_id"])["status"] == "failed", "what happened stays as it was"


def test_cancelling_the_next_one_that_is_planned_leaves_those_after_it(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 300})["job_id"]
    world.settle_down()
    [planned] = world.executions(job_id)
    assert cancel(world, planned["execution_id"])["status"] == "cancelled"
    world.run_for(901, step=60)
    due = [one["status"] for one in world.executions(job_id) if from_text(one["scheduled_at"]) <= world.now]
    assert due == ["cancelled", "succeeded", "succeeded"]


def test_two_who_do_it_again_at_once_do_it_once(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"fatal": True, "times": 9})["job_id"]
    world.settle_down()
    failed = world.executions(job_id)[0]["execution_id"]
    assert world.request("POST", f"/executions/{failed}/retry", {})[0] == 201
    status, problem = world.request("POST", f"/executions/{failed}/retry", {})
    assert status == 409
    assert "already" in problem["detail"]


def test_what_succeeded_or_still_lives_is_not_done_again(world: World) -> None:
    job_id = world.submit()["job_id"]
    world.settle_down()
    one = world.executions(job_id)[0]["execution_id"]
    status, problem = world.request("POST", f"/executions/{one}/retry", {})
    assert (status, problem["errors"][0]["field"]) == (409, "execution_id")


def test_of_a_deleted_job_nothing_runs_again(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"fatal": True, "times": 9})["job_id"]
    world.settle_down()
    failed = world.executions(job_id)[0]["execution_id"]
    world.request("DELETE", f"/jobs/{job_id}")
    assert world.request("POST", f"/executions/{failed}/retry", {})[0] == 409
    assert world.request("POST", f"/jobs/{job_id}/run", {})[0] == 409


@pytest.mark.parametrize(("grace", "seconds"), [(0, 5), (20, 240)])
def test_a_result_after_its_grace_is_refused_also_if_nobody_has_revoked_the_lease_yet(
    world: World, grace: int, seconds: int
) -> None:
    job_id, order = running(world)

    def dawdle(context: Context) -> str:
        cancel(world, context.execution_id, f"?grace_seconds={grace}")
        world.pass_time(seconds)  # the queues are full: the order that revokes it waits behind others
        return "too late"

    MEANWHILE.append(dawdle)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["result"]["value"]) == ("cancelled", None)
    assert one["reason"] == "cancelled by operator@data-quality"
    assert [attempt["outcome"] for attempt in one["attempts"]] == ["cancelled"]


def test_one_that_was_cancelled_before_its_time_is_not_retried_before_it(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 3600})["job_id"]
    world.settle_down()
    [one] = world.executions(job_id)
    path = f"/executions/{one['execution_id']}"
    assert world.request("PUT", f"{path}/cancel")[0] == 200
    for query in ("", "?dry_run=true"):
        status, problem = world.request("POST", f"{path}/retry{query}", {})
        assert (status, problem["errors"][0]["field"]) == (409, "execution_id")
        assert f"not due before {one['scheduled_at']}: retry it then, or run the job now" in problem["detail"]
    world.pass_time(3600)
    assert world.request("POST", f"{path}/retry", {})[0] == 201


def test_one_instant_is_not_retried_twice_at_once_by_whichever_of_its_executions(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"times": 9, "fatal": True})["job_id"]
    world.settle_down()
    [first] = [one["execution_id"] for one in world.executions(job_id)]
    assert world.request("POST", f"/executions/{first}/retry")[0] == 201
    world.settle_down()
    assert world.request("POST", f"/executions/{first}-2/retry")[0] == 201
    for name in (first, f"{first}-2"):
        status, problem = world.request("POST", f"/executions/{name}/retry")
        assert (status, problem["detail"]) == (409, f"execution_id: {first}-3 does it again already")
    world.settle_down()
    assert world.request("POST", f"/executions/{first}/retry")[0] == 201
    assert world.request("POST", f"/executions/{first}-3/retry")[0] == 409
    world.settle_down()
    assert [one["status"] for one in world.executions(job_id)] == ["failed"] * 4


def test_a_result_within_its_grace_counts_although_it_did_not_hear(world: World) -> None:
    job_id, order = running(world)

    def finish(context: Context) -> str:
        cancel(world, context.execution_id)
        world.pass_time(5)
        return "all of it"

    MEANWHILE.append(finish)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["result"]["value"]) == ("succeeded", "all of it")


def test_one_that_fails_after_it_was_told_to_stop_gives_its_place_away_at_once(world: World) -> None:
    key = {"key": "k", "limit": 1}
    job_id, order = running(world, concurrency=key, retry={"max_attempts": 5})

    def fail(context: Context) -> None:
        world.submit(concurrency=key)
        world.settle_down()
        cancel(world, context.execution_id)
        raise ValueError("oh")

    MEANWHILE.append(fail)
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["attempts"][0]["error"]["message"]) == ("cancelled", "oh")
    world.settle_down()
    assert {one["status"]["S"] for one in world.items("executions")} == {"cancelled", "succeeded"}
