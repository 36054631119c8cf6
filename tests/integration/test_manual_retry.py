"""Manual retries that continue: finished partitions and checkpoints are kept, limits can be overridden."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.long_lane import LongLane, start_part
from tests.integration.world import World

ONE_ATTEMPT = {"max_attempts": 1}
FAILURE = {"error": {"type": "ValueError", "message": "bad"}}


def request_retry(world: World, execution_id: str, **body: Any) -> str:
    status, answer = world.request("POST", f"/executions/{execution_id}/retry", body)
    assert status == 201, answer
    world.deliver_streams()
    return str(answer["execution"]["execution_id"])


def request_retry_of(lane: LongLane, job: dict[str, Any], **body: Any) -> dict[str, Any]:
    """Retry the job's execution. Returns the job with the retry as its execution, for which the lane then acts."""
    return {**job, "execution_id": request_retry(lane.world, lane.execution(job)["execution_id"], **body)}


def run_part(lane: LongLane, job: dict[str, Any], name: str, outcome: str = "succeeded", state: Any = None) -> Any:
    """Run a part to its end, with a checkpoint if ``state`` is given. Returns the answer to its claim."""
    container = lane.container(job, name)
    work = container.claim()
    assert work["ok"]
    if state is not None:
        assert container.report("checkpoint", state=state)["ok"]
    container.conclude(outcome, **(FAILURE if outcome == "failed" else {"value": f"value of {name}"}))
    lane.world.deliver_streams()
    return work


def end(lane: LongLane, job: dict[str, Any]) -> dict[str, Any]:
    assert lane.next_parts(job)["next"] == "end"
    lane.world.run_until_idle()
    return lane.execution(job)


def failed_with_one_of_three(lane: LongLane) -> dict[str, Any]:
    """Submit a daily job and run it. Partition 1 of three fails after a checkpoint."""
    job = lane.submit(schedule={"every_seconds": 86_400}, partitions=["a", "b", "c"], retry=ONE_ATTEMPT)
    _, run = lane.world.request("POST", f"/jobs/{job['job_id']}/run")
    job |= {"execution_id": run["execution"]["execution_id"]}
    lane.world.deliver_streams()
    assert lane.next_parts(job)["parts"] == ["0000", "0001", "0002"]
    run_part(lane, job, "0000")
    run_part(lane, job, "0001", "failed", state={"rows": 70})
    run_part(lane, job, "0002")
    assert end(lane, job)["status"] == "failed"
    return job


def statuses(execution: dict[str, Any]) -> list[str]:
    return [part["status"] for part in execution["parts"]]


def test_a_manual_retry_keeps_finished_partitions_and_checkpoints(lane: LongLane) -> None:
    job = failed_with_one_of_three(lane)
    first = lane.execution(job)
    lane.world.pass_time(60)
    again = request_retry_of(lane, job)
    assert lane.next_parts(again)["parts"] == ["0001"]
    shown = lane.execution(again)
    assert statuses(shown) == ["succeeded", "queued", "succeeded"]
    assert [part["kept_from"] for part in shown["parts"]] == [first["execution_id"]] * 3
    assert run_part(lane, again, "0001")["resume"] == {"rows": 70}
    ended = end(lane, again)
    assert (ended["status"], ended["attempt"]) == ("succeeded", 1)
    assert ended["result"]["value"] == ["value of 0000", "value of 0001", "value of 0002"]
    assert ended["started_at"] > first["ended_at"]


def test_a_manual_retry_from_the_start_repeats_all_partitions(lane: LongLane) -> None:
    job = request_retry_of(lane, failed_with_one_of_three(lane), **{"from": "start"})
    assert lane.next_parts(job)["parts"] == ["0000", "0001", "0002"]
    assert {part["kept_from"] for part in lane.execution(job)["parts"]} == {None}
    assert run_part(lane, job, "0001")["resume"] is None


def test_a_manual_retry_of_an_unpartitioned_execution_resumes_from_its_checkpoint(lane: LongLane) -> None:
    job, container = start_part(lane, retry=ONE_ATTEMPT)
    container.report("checkpoint", state={"rows": 7})
    container.conclude("failed", **FAILURE)
    assert end(lane, job)["status"] == "failed"
    again = request_retry_of(lane, job)
    assert lane.next_parts(again)["parts"] == ["all"]
    assert run_part(lane, again, "all")["resume"] == {"rows": 7}
    assert end(lane, again)["status"] == "succeeded"


def test_a_retry_of_a_retry_keeps_the_work_of_both(lane: LongLane) -> None:
    job = failed_with_one_of_three(lane)
    second = request_retry_of(lane, job)
    lane.next_parts(second)
    run_part(lane, second, "0001", "failed", state={"rows": 90})
    assert end(lane, second)["reason"] == "1 of 3 parts did not succeed: 0001"
    third = request_retry_of(lane, second)
    assert lane.next_parts(third)["parts"] == ["0001"]
    assert run_part(lane, third, "0001")["resume"] == {"rows": 90}
    first = job["execution_id"]
    assert [part["kept_from"] for part in lane.execution(third)["parts"]] == [first, second["execution_id"], first]
    assert end(lane, third)["status"] == "succeeded"


def test_a_retry_that_was_cancelled_before_it_started_loses_no_work(world: World, lane: LongLane) -> None:
    job = failed_with_one_of_three(lane)
    cancelled = request_retry_of(lane, job)
    assert world.request("PUT", f"/executions/{cancelled['execution_id']}/cancel")[1]["status"] == "cancelled"
    world.run_until_idle()
    again = request_retry_of(lane, cancelled)
    assert lane.next_parts(again)["parts"] == ["0001"]
    assert run_part(lane, again, "0001")["resume"] == {"rows": 70}


def test_a_collector_that_failed_runs_again_with_the_results_that_were_kept(lane: LongLane) -> None:
    job = lane.submit(
        task="quality.weekly", parameters={"dataset": "orders"}, partitions=2, retry=ONE_ATTEMPT, window=None
    )
    lane.next_parts(job)
    for name in ("0000", "0001"):
        run_part(lane, job, name)
    assert lane.next_parts(job)["parts"] == ["collect"]
    first = run_part(lane, job, "collect", "failed", state={"merged": 1})
    assert end(lane, job)["status"] == "failed"
    again = request_retry_of(lane, job)
    assert lane.next_parts(again)["parts"] == ["collect"]
    work = run_part(lane, again, "collect")
    assert (work["results"], work["resume"]) == (first["results"], {"merged": 1})
    assert end(lane, again)["status"] == "succeeded"


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"partitions": ["a", "x", "c"]}, ["0000", "0002"]),
        ({"partitions": ["a", "b"]}, []),
        ({"task": "test.scripted"}, []),
    ],
    ids=["another value", "another number of partitions", "another task"],
)
def test_a_retry_after_an_edit_keeps_only_partitions_that_are_unchanged(
    world: World, lane: LongLane, changes: dict[str, Any], kept: list[str]
) -> None:
    job = failed_with_one_of_three(lane)
    assert world.request("PATCH", f"/jobs/{job['job_id']}", changes)[0] == 200
    again = request_retry_of(lane, job)
    lane.next_parts(again)
    assert [part["part"] for part in lane.execution(again)["parts"] if part["kept_from"]] == kept


def test_a_checkpoint_that_has_expired_is_not_resumed(world: World, lane: LongLane) -> None:
    job = failed_with_one_of_three(lane)
    for stored in world.s3.list_objects_v2(Bucket="results", Prefix="checkpoints/")["Contents"]:
        world.s3.delete_object(Bucket="results", Key=stored["Key"])
    again = request_retry_of(lane, job)
    lane.next_parts(again)
    assert run_part(lane, again, "0001")["resume"] is None


def test_a_retry_that_keeps_work_records_no_run_times_and_its_parts_expire(world: World, lane: LongLane) -> None:
    job = failed_with_one_of_three(lane)
    again = request_retry_of(lane, job)
    lane.next_parts(again)
    run_part(lane, again, "0001")
    assert end(lane, again)["status"] == "succeeded"
    stored = [item for item in world.items("parts") if item["execution_id"]["S"] == again["execution_id"]]
    assert len(stored) == 3
    assert all("expires_at" in item for item in stored)
    [item] = [item for item in world.items("jobs") if item["job_id"]["S"] == job["job_id"]]
    assert "run_times" not in item, "a part of the work would make the forecasts of whole executions too short"


def test_a_retry_with_kept_partitions_can_be_cancelled(world: World, lane: LongLane) -> None:
    again = request_retry_of(lane, failed_with_one_of_three(lane))
    lane.next_parts(again)
    container = lane.container(again, "0001")
    container.claim()
    assert world.request("PUT", f"/executions/{again['execution_id']}/cancel?grace_seconds=60")[0] == 200
    world.deliver_streams()
    container.conclude("cancelled")
    lane.conclude_attempt(again, container.grant, "0001")
    world.run_until_idle()
    ended = lane.execution(again)
    assert (ended["status"], statuses(ended)) == ("cancelled", ["succeeded", "cancelled", "succeeded"])
    assert lane.used_capacity() == (0, 0)


def test_a_cancelled_retry_ends_at_once_if_the_rest_of_its_parts_was_waiting(world: World, lane: LongLane) -> None:
    job = failed_with_one_of_three(lane)
    assert world.request("PATCH", f"/jobs/{job['job_id']}", {"retry": None})[0] == 200
    again = request_retry_of(lane, job)
    lane.next_parts(again)
    container = lane.container(again, "0001")
    container.claim()
    assert world.request("PUT", f"/executions/{again['execution_id']}/cancel?grace_seconds=60")[1]["cancel_at"]
    container.conclude("failed", **FAILURE)  # the part rests until its next attempt when the settler cancels it
    world.deliver_streams()
    ended = lane.execution(again)
    assert (ended["status"], statuses(ended)) == ("cancelled", ["succeeded", "cancelled", "succeeded"])


# succeeded executions


def test_a_succeeded_execution_can_be_run_again(world: World) -> None:
    job_id = world.submit(parameters={"a": 1})["job_id"]
    world.run_until_idle()
    [first] = world.executions(job_id)
    again = request_retry(world, first["execution_id"])
    world.run_until_idle()
    one = world.execution(again)
    assert (one["status"], one["origin"], one["retry_of"]) == ("succeeded", "retry", first["execution_id"])
    assert (one["scheduled_at"], one["parameters"]) == (first["scheduled_at"], {"a": 1})
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "done"


def test_a_succeeded_execution_runs_again_from_the_start(lane: LongLane) -> None:
    job, container = start_part(lane)
    container.report("checkpoint", state={"rows": 7})
    container.conclude(value=1)
    assert end(lane, job)["status"] == "succeeded"
    first = lane.execution(job)["execution_id"]
    status, problem = lane.world.request("POST", f"/executions/{first}/retry", {"from": "checkpoint"})
    assert (status, problem["errors"][0]["field"]) == (422, "from")
    again = request_retry_of(lane, job)
    assert lane.next_parts(again)["parts"] == ["all"]
    assert run_part(lane, again, "all")["resume"] is None


# overrides


@pytest.mark.parametrize("kind", ["run", "retry"])
def test_an_execution_can_have_its_own_timeout_and_resources(lane: LongLane, kind: str) -> None:
    job, container = start_part(lane, timeout_seconds=600, retry=ONE_ATTEMPT)
    container.conclude("failed", **FAILURE)
    failed = end(lane, job)["execution_id"]
    path = f"/executions/{failed}/retry" if kind == "retry" else f"/jobs/{job['job_id']}/run"
    resources = {"vcpu": 2, "memory_mb": 8192, "spot": True}
    status, answer = lane.world.request("POST", path, {"timeout_seconds": 7200, "resources": resources})
    assert status == 201
    lane.world.deliver_streams()
    other = {**job, "execution_id": answer["execution"]["execution_id"]}
    lane.next_parts(other)
    container = lane.container(other)
    grant = container.grant
    assert (grant["cpu"], grant["memory"], grant["capacity"][0]["CapacityProvider"]) == ("2048", "8192", "FARGATE_SPOT")
    assert container.claim()["seconds"] == 7200
    kept = lane.world.request("GET", f"/jobs/{job['job_id']}")[1]
    assert (kept["timeout_seconds"], kept["resources"]["vcpu"]) == (600, 1)


def test_a_short_execution_can_have_its_own_timeout(world: World) -> None:
    job_id = world.submit(task="test.show_context", timeout_seconds=600)["job_id"]
    world.run_until_idle()
    assert world.request("POST", f"/jobs/{job_id}/run", {"timeout_seconds": 30})[0] == 201
    world.run_until_idle()
    first, second = (one["result"]["value"]["seconds_left"] for one in world.executions(job_id))
    assert second <= 30 < first


@pytest.mark.parametrize("action", ["run", "retry"])
@pytest.mark.parametrize(
    ("submission", "body", "field", "message"),
    [
        ({}, {"timeout_seconds": 841}, "timeout_seconds", 'at most 840 in the short lane: lower it, or set "lane"'),
        ({}, {"timeout_seconds": 0}, "timeout_seconds", "greater than or equal to 1"),
        ({}, {"resources": {"vcpu": 1}}, "resources", 'requires "lane": "long"'),
        ({"lane": "long"}, {"resources": {"vcpu": 3}}, "resources.vcpu", "nearest to 3: 2 or 4"),
        ({"lane": "long"}, {"resources": {"vcpu": 8}}, "resources.vcpu", "it would never get a slot"),
        ({"lane": "long"}, {"from": "middle"}, "from", "one of checkpoint, start|unknown|Extra|permitted|known"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else "",
)
def test_an_invalid_override_is_rejected_with_its_field(
    world: World, action: str, submission: dict[str, Any], body: dict[str, Any], field: str, message: str
) -> None:
    job_id = world.submit(**submission)["job_id"]
    world.deliver_streams()
    [one] = world.executions(job_id)
    assert world.request("PUT", f"/executions/{one['execution_id']}/cancel")[0] == 200
    path = f"/jobs/{job_id}/run" if action == "run" else f"/executions/{one['execution_id']}/retry"
    for query in ("", "?dry_run=true"):
        status, problem = world.request("POST", f"{path}{query}", body)
        assert (status, problem["errors"][0]["field"]) == (422, field)
        assert any(one in problem["detail"] for one in message.split("|")), problem["detail"]
    assert len(world.executions(job_id)) == 1
