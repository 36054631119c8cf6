"""Bulk operations on jobs and executions."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest

from punctual import Context
from punctual.aws import clients as aws
from punctual.domain.errors import GateContention
from punctual.stages.api.cancel import Cancel
from punctual.stages.api.job_state import JobStateChanger
from punctual.stages.operations import process, select
from punctual.stages.operations.act import Actor
from tests.integration.fixture_tasks import TASK_BODIES, Killed
from tests.integration.world import World

HOURLY = {"cron": "0 * * * *"}
NUMBERS = itertools.count()


def submit_jobs(world: World, count: int, **fields: Any) -> list[str]:
    names = [f"job {next(NUMBERS)}" for _ in range(count)]
    jobs = [{"task": "echo", "schedule": HOURLY, "name": name, **fields} for name in names]
    status, answer = world.request("POST", "/jobs/batch", {"jobs": jobs})
    assert status == 201, answer
    return [one["job_id"] for one in answer["items"]]


def bulk(world: World, kind: str, body: Any, query: str = "", **options: Any) -> tuple[int, Any]:
    return world.request("POST", f"/{kind}/bulk{query}", body, **options)


def start(world: World, kind: str, **body: Any) -> str:
    status, operation = bulk(world, kind, body)
    assert status == 202, operation
    operation_id: str = operation["operation_id"]
    return operation_id


def get(world: World, operation_id: str) -> dict[str, Any]:
    status, operation = world.request("GET", f"/operations/{operation_id}")
    assert status == 200, operation
    return dict(operation)


def counts(operation: dict[str, Any]) -> tuple[str, int, int, int, int]:
    return tuple(operation[name] for name in ("state", "total", "done", "skipped", "failed"))  # type: ignore[return-value]


def finish(world: World, operation_id: str) -> tuple[str, int, int, int, int]:
    world.deliver_bulk()
    return counts(get(world, operation_id))


def state_of(world: World, job_id: str) -> str:
    return str(world.request("GET", f"/jobs/{job_id}")[1]["state"])


def error_of(answer: tuple[int, Any]) -> tuple[int, str | None, str]:
    status, problem = answer
    [error] = problem["errors"]
    return status, error["field"], error["message"]


def failed_executions(world: World, count: int) -> list[str]:
    jobs = [{"task": "fail", "retry": {"max_attempts": 1}} for _ in range(count)]
    ids = [one["job_id"] for one in world.request("POST", "/jobs/batch", {"jobs": jobs})[1]["items"]]
    world.run_until_idle()
    return [world.executions(job_id)[0]["execution_id"] for job_id in ids]


# jobs


def test_a_bulk_pause_by_filter_pauses_what_matches(world: World) -> None:
    matching, other = submit_jobs(world, 30, task="echo"), submit_jobs(world, 1, priority="high")
    operation_id = start(world, "jobs", action="pause", filter={"priority": ["normal"], "name": "job"})
    assert counts(get(world, operation_id)) == ("running", 30, 0, 0, 0)
    assert finish(world, operation_id) == ("succeeded", 30, 30, 0, 0)
    assert {state_of(world, job_id) for job_id in matching} == {"paused"}
    assert state_of(world, other[0]) == "active"
    found = get(world, operation_id)
    assert (found["created_by"], found["filter"]) == (
        "operator@data-quality",
        {"priority": ["normal"], "name": "job"},
    )
    assert (found["kind"], found["action"], found["failures"], found["skips"]) == ("jobs", "pause", [], [])
    assert found["ended_at"] is not None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"action": "cancel"}, {"state": "cancelled"}),
        ({"action": "delete"}, {"state": "deleted"}),
        ({"action": "priority", "priority": "high"}, {"state": "active", "priority": "high"}),
        ({"action": "run"}, {"state": "active"}),
    ],
)
def test_each_action_is_applied_once_to_every_job(world: World, body: Any, expected: Any) -> None:
    jobs = submit_jobs(world, 3)
    operation_id = start(world, "jobs", **body, ids=jobs)
    assert finish(world, operation_id) == ("succeeded", 3, 3, 0, 0)
    world.run_until_idle()
    for job_id in jobs:
        job = world.request("GET", f"/jobs/{job_id}")[1]
        assert {name: job[name] for name in expected} == expected
        runs = [one for one in world.executions(job_id) if one["origin"] == "run"]
        assert len(runs) == (body["action"] == "run")


def test_a_bulk_resume_resumes_paused_jobs(world: World) -> None:
    jobs = submit_jobs(world, 2)
    for job_id in jobs:
        world.request("POST", f"/jobs/{job_id}/pause")
    assert finish(world, start(world, "jobs", action="resume", ids=jobs)) == ("succeeded", 2, 2, 0, 0)
    assert {state_of(world, job_id) for job_id in jobs} == {"active"}


def test_items_that_fail_or_are_skipped_are_named_with_the_reason(world: World) -> None:
    [ended, deleted] = submit_jobs(world, 2)
    world.request("PUT", f"/jobs/{ended}/cancel")
    foreign = world.request("POST", "/jobs", {"task": "echo", "schedule": HOURLY}, team="other")[1]["job_id"]
    missing = "01m7j3myg0ab16wzvq72dx3zvq"
    operation_id = start(world, "jobs", action="pause", ids=[ended, foreign, missing, deleted, deleted])
    assert finish(world, operation_id) == ("failed", 4, 1, 1, 2)
    found = get(world, operation_id)
    assert [one["id"] for one in found["failures"]] == [foreign, missing]
    assert "belongs to 'other'" in found["failures"][0]["reason"]
    assert found["failures"][1]["reason"] == f"there is no job '{missing}'"
    assert found["skips"] == [{"id": ended, "reason": f"job '{ended}' is cancelled: it cannot be paused"}]
    assert state_of(world, foreign) == "active"


def test_a_filter_selects_only_jobs_of_the_callers_teams(world: World) -> None:
    own = submit_jobs(world, 1)
    world.request("POST", "/jobs", {"task": "echo", "schedule": HOURLY}, team="other")
    assert bulk(world, "jobs", {"action": "pause", "filter": {"task": "echo"}}, "?dry_run=true")[1]["ids"] == own
    answer = bulk(world, "jobs", {"action": "pause", "filter": {"owner": "other"}})
    assert error_of(answer)[:2] == (403, "filter.owner")
    world.deliver_streams()
    everything = {"action": "pause", "filter": {"task": "echo"}}
    assert bulk(world, "jobs", everything, "?dry_run=true", groups="admin")[1]["count"] == 2
    assert bulk(world, "jobs", everything, role="viewer")[0] == 403


def test_a_dry_run_returns_the_count_and_the_first_ids_and_stores_nothing(world: World) -> None:
    jobs = submit_jobs(world, 120)
    status, answer = bulk(world, "jobs", {"action": "delete", "filter": {"task": "echo"}}, "?dry_run=true")
    assert (status, answer["dry_run"], answer["count"], len(answer["ids"])) == (200, True, 120, 100)
    assert set(answer["ids"]) <= set(jobs)
    assert (world.items("operations"), world.receive("bulk")) == ([], [])


def test_an_operation_by_filter_leaves_out_what_is_created_later(world: World) -> None:
    submit_jobs(world, 1)
    operation_id = start(world, "jobs", action="pause", filter={"task": "echo"})
    [later] = submit_jobs(world, 1)
    assert finish(world, operation_id) == ("succeeded", 1, 1, 0, 0)
    assert state_of(world, later) == "active"


def test_a_filter_that_matches_nothing_ends_at_once(world: World) -> None:
    operation_id = start(world, "jobs", action="pause", filter={"task": "sleep"})
    assert counts(get(world, operation_id)) == ("succeeded", 0, 0, 0, 0)
    assert world.receive("bulk") == []


def test_a_filter_that_matches_too_much_is_rejected(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    submit_jobs(world, 3)
    world.function("api")
    monkeypatch.setattr(select, "MAX_ITEMS", 2)
    answer = bulk(world, "jobs", {"action": "pause", "filter": {"task": "echo"}})
    assert error_of(answer) == (422, "filter", "matches more than 2 items: narrow it")


def test_a_selection_that_takes_too_long_is_rejected(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    submit_jobs(world, 1)
    world.function("api")
    real = select.Selector._read_jobs

    def slow(selector: Any, where: Any) -> Any:
        world.pass_time(16)
        return real(selector, where)

    monkeypatch.setattr(select.Selector, "_read_jobs", slow)
    answer = bulk(world, "jobs", {"action": "pause", "filter": {"task": "echo"}})
    assert error_of(answer)[:2] == (422, "filter")
    assert "too many records to read in 15 seconds" in error_of(answer)[2]


@pytest.mark.parametrize(
    ("kind", "body", "field", "text"),
    [
        (
            "jobs",
            {"action": "retry", "ids": ["a"]},
            "action",
            "must be one of run, cancel, pause, resume, priority, delete",
        ),
        ("executions", {"action": "pause", "ids": ["a"]}, "action", "must be one of cancel, retry"),
        ("jobs", {"action": "pauze", "ids": ["a"]}, "action", "priority, delete: did you mean 'pause'?"),
        ("jobs", {"action": "pause"}, "ids", "give either ids, up to 1,000, or a filter"),
        ("jobs", {"action": "pause", "ids": ["a"], "filter": {"task": "x"}}, "ids", "give either ids"),
        ("jobs", {"action": "pause", "ids": []}, "ids", "must have at least 1 item"),
        ("jobs", {"action": "pause", "ids": ["01m7j3myg0ab16wzvq72dx3zvq", "x"]}, "ids.1", "'x' is not the id"),
        ("executions", {"action": "retry", "ids": ["01m7j3myg0ab16wzvq72dx3zvq"]}, "ids.0", "is not the id"),
        ("jobs", {"action": "pause", "filter": {}}, "filter", "must have at least one field"),
        ("jobs", {"action": "pause", "filter": {"statuss": []}}, "filter.statuss", "is not a known field"),
        ("jobs", {"action": "priority", "filter": {"task": "x"}}, "priority", "is for the action priority"),
        ("jobs", {"action": "pause", "priority": "low", "filter": {"task": "x"}}, "priority", "is for the action"),
        (
            "executions",
            {"action": "retry", "grace_seconds": 1, "ids": ["x"]},
            "grace_seconds",
            "is only for the action",
        ),
        ("executions", {"action": "retry", "filter": {"from": "monday"}}, "filter.from", "is not an instant"),
        ("jobs", {"action": "pause", "filter": {"tag": ["orders"]}}, "filter.tag", "orders"),
        (
            "executions",
            {"action": "retry", "filter": {"from": "2026-11-02T00:00:00Z", "to": "2026-11-01T00:00:00Z"}},
            "filter.to",
            "must not be before from",
        ),
    ],
)
def test_an_invalid_request_is_rejected_and_stores_nothing(
    world: World, kind: str, body: Any, field: str, text: str
) -> None:
    answer = error_of(bulk(world, kind, body))
    assert answer[:2] == (422, field)
    assert text in answer[2]
    assert world.items("operations") == []


# executions


def test_a_bulk_retry_runs_failed_executions_again(world: World) -> None:
    failed = failed_executions(world, 3)
    operation_id = start(world, "executions", action="retry", filter={"status": ["failed"], "task": "fail"})
    assert finish(world, operation_id) == ("succeeded", 3, 3, 0, 0)
    world.run_until_idle()
    retries = [one for one in world.request("GET", "/executions?limit=100")[1]["items"] if one["origin"] == "retry"]
    assert sorted(one["retry_of"] for one in retries) == sorted(failed)


def test_a_bulk_cancel_cancels_live_executions_and_skips_ended_ones(world: World) -> None:
    [failed] = failed_executions(world, 1)
    jobs = submit_jobs(world, 2, schedule={"every_seconds": 200})
    world.deliver_streams()
    planned = [world.executions(job_id)[0]["execution_id"] for job_id in jobs]
    operation_id = start(world, "executions", action="cancel", grace_seconds=0, ids=[failed, *planned])
    assert finish(world, operation_id) == ("succeeded", 3, 2, 1, 0)
    assert {world.execution(one)["status"] for one in planned} == {"cancelled"}
    assert "already ended as failed" in get(world, operation_id)["skips"][0]["reason"]


def fail(_context: Context) -> None:
    raise RuntimeError("as the test wants")


@pytest.fixture
def two_failures(world: World) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two failed executions that differ in each field of a filter but the status, beside a planned one."""
    first = {"name": "nightly", "task": "fail", "tags": {"dataset": "orders"}, "deadline": {"within_seconds": 60}}
    second = {"name": "weekly", "task": "test.scripted", "schedule": HOURLY}
    once = {"retry": {"max_attempts": 1}}
    jobs = [world.request("POST", "/jobs", {**first, **once})[1]]
    world.run_until_idle()
    world.pass_time(10)
    jobs.append(world.request("POST", "/jobs", {**second, **once}, team="other")[1])
    assert world.request("POST", f"/jobs/{jobs[1]['job_id']}/run", team="other")[0] == 201
    module = world.function("worker")
    module.worker = replace(module.worker, worker_id="other")
    TASK_BODIES.append(fail)
    world.run_until_idle()
    failed = {one["job_id"]: one for one in world.request("GET", "/executions?status=failed")[1]["items"]}
    return failed[jobs[0]["job_id"]], failed[jobs[1]["job_id"]]


def selected(world: World, kind: str, **fields: Any) -> list[str]:
    """The ids that a dry run of an administrator selects."""
    action = {"jobs": "pause", "executions": "retry"}[kind]
    status, answer = bulk(world, kind, {"action": action, "filter": fields}, "?dry_run=true", groups="admin")
    assert status == 200, answer
    assert answer["count"] == len(answer["ids"])
    return list(answer["ids"])


def test_each_field_of_a_filter_selects_executions(
    world: World, two_failures: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    first, second = two_failures
    of_first: dict[str, Any] = {name: first[name] for name in ("job_id", "owner", "task", "worker_id")}
    of_first |= {"job_name": "night", "tag": ["dataset:orders"], "origin": ["schedule"], "deadline": ["missed"]}
    of_first["to"] = second["scheduled_at"]
    found = {name: selected(world, "executions", status=["failed"], **{name: of_first[name]}) for name in of_first}
    assert found == {name: [first["execution_id"]] for name in of_first}
    since = {"from": second["scheduled_at"]}
    assert selected(world, "executions", status=["failed"], **since) == [second["execution_id"]]
    assert len(selected(world, "executions", status=["failed"])) == 2
    assert len(selected(world, "executions", to="2026-11-17T00:00:00Z")) == 3


def test_each_field_of_a_filter_selects_jobs(world: World) -> None:
    first = {"name": "nightly", "task": "fail", "tags": {"dataset": "orders"}, "priority": "high"}
    [job_id] = submit_jobs(world, 1, **first)
    world.request("POST", f"/jobs/{job_id}/pause")
    other = {"name": "weekly", "task": "echo", "schedule": HOURLY}
    assert world.request("POST", "/jobs", other, team="other")[0] == 201
    world.deliver_streams()
    of_first: dict[str, Any] = {"owner": "data-quality", "task": "fail", "name": "night", "tag": ["dataset:orders"]}
    of_first |= {"state": ["paused"], "priority": ["high"]}
    found = {name: selected(world, "jobs", **{name: of_first[name]}) for name in of_first}
    assert found == {name: [job_id] for name in of_first}


# the list, abort and undo


def test_operations_are_listed_newest_first_in_pages(world: World) -> None:
    jobs = submit_jobs(world, 1)
    started = []
    for _ in range(3):
        started.append(start(world, "jobs", action="run", ids=jobs))
        world.pass_time(1)
    status, page = world.request("GET", "/operations?limit=2", role="viewer")
    assert (status, [one["operation_id"] for one in page["items"]]) == (200, started[:0:-1])
    _, rest = world.request("GET", f"/operations?cursor={page['cursor']}")
    assert ([one["operation_id"] for one in rest["items"]], rest["cursor"]) == (started[:1], None)
    assert world.request("GET", "/operations/01m7j3myg0ab16wzvq72dx3zvq")[0] == 404
    assert world.request("GET", "/operations/x")[0] == 404


def test_an_aborted_operation_ends_before_its_next_step(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    submit_jobs(world, 60)
    operation_id = start(world, "jobs", action="pause", filter={"task": "echo"})
    world.function("bulk")
    monkeypatch.setattr(process, "MAX_STEPS", 1)
    [message] = world.receive("bulk")
    world.call("bulk", {"Records": [message]})
    path = f"/operations/{operation_id}/abort"
    assert world.request("POST", f"{path}?dry_run=true")[1]["count"] == 35
    assert world.request("POST", path, team="other")[0] == 403
    status, operation = world.request("POST", path)
    assert (status, operation["aborted_by"]) == (202, "operator@data-quality")
    assert world.request("POST", path)[1] == operation
    assert finish(world, operation_id) == ("aborted", 60, 25, 0, 0)
    assert world.request("POST", path)[0] == 202
    states = [one["state"] for one in world.request("GET", "/jobs?limit=100&owner=data-quality")[1]["items"]]
    assert (states.count("paused"), states.count("active")) == (25, 35)


def test_an_operation_that_has_ended_cannot_be_aborted(world: World) -> None:
    operation_id = start(world, "jobs", action="run", ids=submit_jobs(world, 1))
    world.deliver_bulk()
    answer = world.request("POST", f"/operations/{operation_id}/abort")
    assert error_of(answer)[::2] == (409, "the operation has already ended: it succeeded")


def test_an_undone_pause_resumes_only_what_it_paused_and_nobody_changed(world: World) -> None:
    names = ("untouched", "paused before", "resumed", "paused again", "edited", "cancelled")
    jobs = dict(zip(names, submit_jobs(world, len(names)), strict=True))
    world.request("POST", f"/jobs/{jobs['paused before']}/pause")
    operation_id = start(world, "jobs", action="pause", ids=list(jobs.values()))
    assert finish(world, operation_id) == ("succeeded", 6, 5, 1, 0)
    for name in ("resumed", "paused again"):
        world.request("POST", f"/jobs/{jobs[name]}/resume")
    world.request("POST", f"/jobs/{jobs['paused again']}/pause")
    world.request("PATCH", f"/jobs/{jobs['edited']}", {"priority": "high"})
    world.request("PUT", f"/jobs/{jobs['cancelled']}/cancel")
    path = f"/operations/{operation_id}/undo"
    assert world.request("POST", f"{path}?dry_run=true")[1]["ids"] == [jobs["untouched"]]
    status, undo = world.request("POST", path)
    assert (status, undo["action"], undo["undo_of"]) == (202, "resume", operation_id)
    assert finish(world, undo["operation_id"]) == ("succeeded", 6, 2, 4, 0)
    assert {name: state_of(world, job_id) for name, job_id in jobs.items()} == {
        "untouched": "active",
        "paused before": "paused",
        "resumed": "active",
        "paused again": "paused",
        "edited": "paused",
        "cancelled": "cancelled",
    }


def test_a_job_that_a_second_operation_pauses_is_not_resumed_by_undoing_the_first(world: World) -> None:
    [job_id] = submit_jobs(world, 1)
    first = start(world, "jobs", action="pause", ids=[job_id])
    world.deliver_bulk()
    world.request("POST", f"/jobs/{job_id}/resume")
    second = start(world, "jobs", action="pause", ids=[job_id])
    world.deliver_bulk()
    finish(world, world.request("POST", f"/operations/{first}/undo")[1]["operation_id"])
    assert state_of(world, job_id) == "paused"
    finish(world, world.request("POST", f"/operations/{second}/undo")[1]["operation_id"])
    assert state_of(world, job_id) == "active"


def test_a_job_paused_again_during_the_undo_stays_paused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    [job_id] = submit_jobs(world, 1)
    first = start(world, "jobs", action="pause", ids=[job_id])
    world.deliver_bulk()
    undo = world.request("POST", f"/operations/{first}/undo")[1]["operation_id"]
    world.function("bulk")
    real, calls = JobStateChanger._find_changeable, []

    def pause_again(changer: Any, *arguments: Any) -> Any:
        job = real(changer, *arguments)
        if not calls:
            calls.append(1)
            world.request("POST", f"/jobs/{job_id}/resume")
            world.request("POST", f"/jobs/{job_id}/pause")
        return job

    monkeypatch.setattr(JobStateChanger, "_find_changeable", pause_again)
    assert finish(world, undo) == ("succeeded", 1, 0, 1, 0)
    assert state_of(world, job_id) == "paused"


def test_only_a_pause_that_has_ended_can_be_undone(world: World) -> None:
    [job_id] = submit_jobs(world, 1)
    run, pause = (start(world, "jobs", action=action, ids=[job_id]) for action in ("run", "pause"))
    answers = [world.request("POST", f"/operations/{one}/undo") for one in (run, pause)]
    assert [error_of(one)[0] for one in answers] == [409, 409]
    assert [error_of(one)[2].partition(":")[0] for one in answers] == [
        "the operation is a run",
        "the operation is running",
    ]


# faults


class Count:
    """Kills the process at the n-th write of the operations table, or counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, dies_at: int | None, after: bool) -> None:
        self.writes, self.dies_at, self.after = 0, dies_at, after
        for client, name in ((aws.dynamodb(), "transact_write_items"), (aws.sqs(), "send_message")):
            monkeypatch.setattr(client, name, self._wrap(getattr(client, name)))

    def _wrap(self, real: Any) -> Any:
        def call(**request: Any) -> Any:
            self.writes += 1
            dies = self.writes == self.dies_at
            if dies and not self.after:
                raise Killed
            answer = real(**request)
            if dies:
                raise Killed
            return answer

        return call


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("dies_at", range(1, 7))
def test_a_bulk_run_survives_a_crash_at_each_write(
    world: World, monkeypatch: pytest.MonkeyPatch, dies_at: int, after: bool
) -> None:
    """Three steps, one per invocation: each advances the operation, then sends a message."""
    jobs = submit_jobs(world, 6)
    world.function("bulk")
    monkeypatch.setattr(process, "MAX_STEPS", 1)
    monkeypatch.setattr("punctual.aws.dynamodb.operations.STEP_SIZE", 2)
    operation_id = start(world, "jobs", action="run", ids=jobs)
    with monkeypatch.context() as faults:
        Count(faults, dies_at, after)
        died = False
        while not died:
            [message] = world.receive("bulk")
            try:
                world.call("bulk", {"Records": [message]})
            except Killed:
                died = True
    for _ in range(3):  # SQS redelivers nothing here: the monitor revives the operation
        world.pass_time(121)
        world.monitor_tick()
        world.deliver_bulk()
    assert counts(get(world, operation_id)) == ("succeeded", 6, 6, 0, 0)
    assert [len([one for one in world.executions(job_id) if one["origin"] == "run"]) for job_id in jobs] == [1] * 6


def test_a_run_that_is_repeated_after_a_crash_counts_although_its_job_was_deleted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = submit_jobs(world, 2)
    operation_id = start(world, "jobs", action="run", ids=jobs)
    [message] = world.receive("bulk")
    world.function("bulk")
    with monkeypatch.context() as faults:
        Count(faults, 1, after=False)
        with pytest.raises(Killed):
            world.call("bulk", {"Records": [message]})
    for job_id in jobs:
        assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.call("bulk", {"Records": [message]})
    assert counts(get(world, operation_id)) == ("succeeded", 2, 2, 0, 0)


@pytest.mark.parametrize("action", ["pause", "delete", "cancel", "priority"])
def test_a_step_that_is_repeated_after_a_crash_counts_once(
    world: World, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    jobs = submit_jobs(world, 3)
    options = {"priority": "high"} if action == "priority" else {}
    operation_id = start(world, "jobs", action=action, ids=jobs, **options)
    [message] = world.receive("bulk")
    world.function("bulk")
    with monkeypatch.context() as faults:
        Count(faults, 1, after=False)
        with pytest.raises(Killed):
            world.call("bulk", {"Records": [message]})
    world.call("bulk", {"Records": [message]})
    assert counts(get(world, operation_id)) == ("succeeded", 3, 3, 0, 0)


def test_a_retry_that_is_repeated_after_a_crash_stores_one_execution(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = failed_executions(world, 2)
    operation_id = start(world, "executions", action="retry", ids=failed)
    [message] = world.receive("bulk")
    world.function("bulk")
    with monkeypatch.context() as faults:
        Count(faults, 1, after=False)
        with pytest.raises(Killed):
            world.call("bulk", {"Records": [message]})
    world.run_until_idle()  # the retries end before the step is repeated
    world.call("bulk", {"Records": [message]})
    assert counts(get(world, operation_id)) == ("succeeded", 2, 2, 0, 0)
    found = [one for one in world.request("GET", "/executions?limit=100")[1]["items"] if one["origin"] == "retry"]
    assert len(found) == 2


def test_a_duplicate_message_changes_nothing(world: World) -> None:
    jobs = submit_jobs(world, 3)
    operation_id = start(world, "jobs", action="run", ids=jobs)
    [message] = world.receive("bulk")
    for _ in range(2):
        world.call("bulk", {"Records": [message]})
    assert counts(get(world, operation_id)) == ("succeeded", 3, 3, 0, 0)
    assert [len(world.executions(job_id)) for job_id in jobs] == [1] * 3


def test_of_two_concurrent_invocations_one_stores_the_step(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = submit_jobs(world, 2)
    operation_id = start(world, "jobs", action="run", ids=jobs)
    [message] = world.receive("bulk")
    world.function("bulk")
    real, calls = Actor.act, []

    def act(actor: Any, operation: Any, item_id: str) -> Any:
        result = real(actor, operation, item_id)
        calls.append(item_id)
        if len(calls) == 2:  # the first invocation has done its items, and the second one overtakes it
            world.call("bulk", {"Records": [message]})
        return result

    monkeypatch.setattr(Actor, "act", act)
    assert world.call("bulk", {"Records": [message]}) == {"batchItemFailures": []}
    assert len(calls) == 4
    assert counts(get(world, operation_id)) == ("succeeded", 2, 2, 0, 0)
    assert [len(world.executions(job_id)) for job_id in jobs] == [1] * 2


def test_a_concurrent_retry_by_the_same_operation_counts_as_done(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = failed_executions(world, 1)
    operation_id = start(world, "executions", action="retry", ids=failed)
    [message] = world.receive("bulk")
    handler = world.function("bulk")
    rerun = handler.actor.rerun
    real, calls = type(rerun)._stored_by, []

    def stored_by(one: Any, keyed: Any, execution_id: str) -> Any:
        found = real(one, keyed, execution_id)
        if not calls:
            calls.append(1)
            operation = handler.processor.operations.get(operation_id)
            handler.actor.act(operation, execution_id)  # another process retries it now
        return found

    monkeypatch.setattr(type(rerun), "_stored_by", stored_by)
    world.call("bulk", {"Records": [message]})
    assert counts(get(world, operation_id)) == ("succeeded", 1, 1, 0, 0)


def test_an_operation_whose_first_message_was_lost_is_begun_by_the_monitor(world: World) -> None:
    operation_id = start(world, "jobs", action="pause", ids=submit_jobs(world, 1))
    assert len(world.receive("bulk")) == 1
    world.monitor_tick()
    assert world.receive("bulk") == []
    world.pass_time(121)
    world.monitor_tick()
    assert finish(world, operation_id) == ("succeeded", 1, 1, 0, 0)
    world.pass_time(300)
    world.monitor_tick()
    assert world.receive("bulk") == []


def test_a_repeated_request_starts_one_operation(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    submit_jobs(world, 2)
    body, key = {"action": "pause", "filter": {"task": "echo"}}, {"Idempotency-Key": "k"}
    world.function("api")
    with monkeypatch.context() as faults:
        Count(faults, 2, after=False)  # after the operation was stored, before its message is sent
        with pytest.raises(Killed):
            bulk(world, "jobs", body, headers=key)
    submit_jobs(world, 1)
    status, operation = bulk(world, "jobs", body, headers=key)
    assert (status, operation["total"]) == (202, 2)
    assert finish(world, operation["operation_id"]) == ("succeeded", 2, 2, 0, 0)
    assert bulk(world, "jobs", body, headers=key)[1]["state"] == "succeeded"
    assert len(world.request("GET", "/operations")[1]["items"]) == 1


def test_a_fault_of_aws_repeats_the_step_and_a_defect_fails_the_item(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = submit_jobs(world, 2)
    operation_id = start(world, "jobs", action="pause", ids=jobs)
    [message] = world.receive("bulk")
    world.function("bulk")
    with monkeypatch.context() as faults:
        faults.setattr(aws.dynamodb(), "update_item", refuse)
        answer = world.call("bulk", {"Records": [message]})
        assert answer == {"batchItemFailures": [{"itemIdentifier": message["messageId"]}]}
    real = JobStateChanger.change_state

    def defective(changer: Any, job_id: str, *arguments: Any, **options: Any) -> Any:
        if job_id == jobs[0]:
            raise KeyError(job_id)
        return real(changer, job_id, *arguments, **options)

    monkeypatch.setattr(JobStateChanger, "change_state", defective)
    world.call("bulk", {"Records": [message]})
    found = get(world, operation_id)
    assert counts(found) == ("failed", 2, 1, 0, 1)
    assert found["failures"] == [{"id": jobs[0], "reason": "internal error: KeyError"}]


def refuse(**_: Any) -> Any:
    from botocore.exceptions import ClientError

    raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow down"}}, "UpdateItem")


def test_an_item_that_keeps_changing_fails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = failed_executions(world, 1)
    operation_id = start(world, "executions", action="cancel", ids=failed)
    world.function("bulk")

    def contend(*_: Any) -> Any:
        raise GateContention("gate x: no stable read after 10 tries")

    monkeypatch.setattr(Cancel, "cancel", contend)
    assert finish(world, operation_id) == ("failed", 1, 0, 0, 1)


def test_an_unreadable_message_goes_to_the_dead_letter_queue(world: World) -> None:
    for body in ("{broken", "[]", "{}"):
        world.sqs.send_message(QueueUrl=world.queues["bulk"], MessageBody=body)
    world.deliver_bulk()
    assert len(world.receive("bulk-dead")) == 3


def test_a_message_about_an_expired_operation_is_ignored(world: World) -> None:
    body = json.dumps({"operation_id": "01m7j3myg0ab16wzvq72dx3zvq"})
    world.sqs.send_message(QueueUrl=world.queues["bulk"], MessageBody=body)
    assert world.deliver_bulk() == 1


def test_an_undo_fails_if_the_ids_of_the_pause_have_expired(world: World) -> None:
    operation_id = start(world, "jobs", action="pause", ids=submit_jobs(world, 2))
    world.deliver_bulk()
    undo = world.request("POST", f"/operations/{operation_id}/undo")[1]["operation_id"]
    world.dynamodb.delete_item(
        TableName="operations", Key={"operation": {"S": operation_id}, "entry": {"S": "items#0000"}}
    )
    assert finish(world, undo) == ("failed", 2, 0, 0, 2)


def test_a_large_operation_takes_several_invocations_and_lists_the_first_100_problems(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.function("bulk")
    monkeypatch.setattr(process, "MAX_STEPS", 10)
    ids = [f"01m7j3myg0ab16wzvq72d{number:05}" for number in range(600)]
    operation_id = start(world, "jobs", action="run", ids=ids)
    assert world.deliver_bulk() == 3
    found = get(world, operation_id)
    assert counts(found) == ("failed", 600, 0, 0, 600)
    assert [one["id"] for one in found["failures"]] == ids[:100]


def test_10_000_selected_jobs_are_stored_and_read_in_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [f"01m7j3myg0ab16wzvq72d{number:05}" for number in range(10_000)]
    world.function("api")
    monkeypatch.setattr(select.Selector, "select", lambda *_: ids)
    operation_id = start(world, "jobs", action="run", filter={"task": "echo"})
    assert counts(get(world, operation_id)) == ("running", 10_000, 0, 0, 0)
    handler = world.function("bulk")
    operation = handler.processor.operations.get(operation_id)
    read = [
        item
        for position in range(0, 10_000, 25)
        for item in handler.processor.operations.items(replace(operation, position=position))
    ]
    assert read == ids
    assert handler.processor.operations.all_items(operation) == ids
