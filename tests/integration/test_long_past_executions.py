"""Live executions whose instant is long past are found when their job is paused, cancelled, deleted or done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual import Context, Retry
from punctual.domain.instant import to_text
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World

DAY = 24 * 60 * 60
WEEK = 7 * DAY
MONTHLY = {"every_seconds": 30 * DAY}


def failed_a_week_ago(world: World, schedule: dict[str, Any]) -> tuple[str, str]:
    """Submit a job with a manual run that failed a week ago. Returns both ids."""
    job_id = world.submit(task="test.scripted", schedule=schedule, retry={"max_attempts": 1})["job_id"]
    world.run_until_idle()
    TASK_BODIES.append(lambda _: 1 / 0)
    assert world.request("POST", f"/jobs/{job_id}/run")[0] == 201
    world.run_until_idle()
    world.pass_time(WEEK)
    failed = world.executions(job_id)[0]
    assert failed["status"] == "failed"
    return job_id, failed["execution_id"]


def request_retry(world: World, execution_id: str) -> str:
    status, answer = world.request("POST", f"/executions/{execution_id}/retry")
    assert status == 201, answer
    return str(answer["execution"]["execution_id"])


@pytest.mark.parametrize(("method", "path"), [("PUT", "/cancel"), ("DELETE", "")], ids=["cancel", "delete"])
def test_a_retry_of_an_old_execution_is_cancelled_with_its_job(world: World, method: str, path: str) -> None:
    job_id, failed = failed_a_week_ago(world, MONTHLY)
    retry = request_retry(world, failed)
    world.deliver_streams()
    _, preview = world.request(method, f"/jobs/{job_id}{path}?dry_run=true")
    assert preview["vanish"][0] | {"scheduled_at": ""} == {"execution_id": retry, "scheduled_at": "", "note": "queued"}
    assert world.request(method, f"/jobs/{job_id}{path}")[0] == 200
    world.run_until_idle()
    assert (world.execution(retry)["status"], world.execution(retry)["attempt"]) == ("cancelled", 0)


def test_a_running_retry_of_an_old_execution_sees_its_cancellation(world: World) -> None:
    job_id, failed = failed_a_week_ago(world, MONTHLY)

    def delete_job(context: Context) -> bool:
        assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
        world.deliver_streams()
        return world.wait_for_cancellation(context)

    TASK_BODIES.append(delete_job)
    retry = request_retry(world, failed)
    world.run_until_idle()
    one = world.execution(retry)
    assert (one["status"], one["result"]["value"]) == ("cancelled", True)


def test_a_retry_of_an_old_execution_is_skipped_by_a_pause(world: World) -> None:
    job_id, failed = failed_a_week_ago(world, MONTHLY)
    retry = request_retry(world, failed)
    world.deliver_streams()
    world.pass_time(1)
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.run_until_idle()
    assert (world.execution(retry)["status"], world.execution(retry)["reason"]) == ("skipped", "paused")


def test_a_job_is_not_done_while_a_retry_of_an_old_execution_is_live(world: World) -> None:
    job_id, failed = failed_a_week_ago(world, {"at": to_text(world.now + timedelta(seconds=WEEK + 60))})
    retry = request_retry(world, failed)
    world.deliver_streams()
    [order] = world.orders()
    world.run_for(61, step=61)
    assert [one["status"] for one in world.executions(job_id)] == ["queued", "failed", "succeeded"]
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "active"
    world.work(order)
    world.run_until_idle()
    assert world.execution(retry)["status"] == "succeeded"
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "done"


@pytest.mark.parametrize("last_backoff", [600, 3 * DAY], ids=["delayed message", "timer"])
def test_an_execution_with_a_backoff_of_days_is_cancelled_with_its_job(world: World, last_backoff: int) -> None:
    job_id = world.submit(task="test.scripted")["job_id"]

    def retry_after(seconds: float) -> None:
        raise Retry("not yet", after=seconds)

    TASK_BODIES.extend([lambda _: retry_after(6 * DAY - 60), lambda _: retry_after(last_backoff)])
    world.run_until_idle()
    world.pass_time(6 * DAY)
    world.tick()
    world.run_until_idle()
    [one] = world.executions(job_id)
    assert (one["status"], one["attempt"]) == ("retrying", 2)
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.run_until_idle()
    [one] = world.executions(job_id)
    assert (one["status"], one["reason"]) == ("cancelled", "job deleted")
    world.pass_time(last_backoff + 60)
    world.run_until_idle()
    [one] = world.executions(job_id)
    assert one["attempt"] == 2


def test_an_execution_that_waits_for_a_key_of_an_old_revision_is_found_after_an_edit(world: World) -> None:
    key = {"key": "k", "limit": 1}
    other = world.submit(task="test.scripted", concurrency=key)["job_id"]
    found: list[Any] = []

    def edit_waiting_job(_: Context) -> None:
        job_id = world.submit(task="echo", concurrency=key)["job_id"]
        world.run_until_idle()
        assert world.request("PATCH", f"/jobs/{job_id}", {"name": "another"})[0] == 200
        world.run_until_idle()
        world.pass_time(6 * DAY)
        assert world.request("PATCH", f"/jobs/{job_id}", {"concurrency": None})[0] == 200
        world.pass_time(1)
        found.append(world.request("DELETE", f"/jobs/{job_id}?dry_run=true")[1]["vanish"][0]["note"])

    TASK_BODIES.append(edit_waiting_job)
    world.run_until_idle()
    assert world.executions(other)[0]["status"] == "succeeded"
    assert found == ["waiting"]
