"""Stream records that are replayed to the functions after a restart of the emulator."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from local.replay import Replay

STOPPED = datetime(2030, 1, 1, 12, tzinfo=UTC)
RECENT, LONG_AGO = "2030-01-01T11:59:59.000Z", "2030-01-01T09:00:00.000Z"
STACK = {
    "endpoint_url": "http://127.0.0.1:1",
    "tables": {"jobs": "jobs-table", "executions": "executions-table", "timers": "timers-table"},
    "functions": {"planner": "planner", "settler": "settler"},
}


class World:
    """A replay over given items; `records` lists function, table and item of each replayed record."""

    def __init__(self, jobs: list[dict[str, Any]], executions: list[dict[str, Any]]) -> None:
        self.records: list[tuple[str, str, dict[str, Any]]] = []
        self._items = {"jobs": jobs, "executions": executions}

    def replay(self, monkeypatch: pytest.MonkeyPatch) -> None:
        replay = Replay(STACK, STOPPED)
        monkeypatch.setattr(replay, "_scan", lambda table: iter(self._items[table]))
        monkeypatch.setattr(replay, "_lambda", self)
        replay.run()

    def invoke(self, *, FunctionName: str, Payload: str) -> None:
        for record in json.loads(Payload)["Records"]:
            table = record["eventSourceARN"].split("/")[1]
            image = "OldImage" if table == "timers-table" else "NewImage"
            self.records.append((FunctionName, table, record["dynamodb"][image]))

    def replayed(self, function: str, table: str) -> list[str]:
        key = {"jobs-table": "job_id", "executions-table": "execution_id", "timers-table": "due"}[table]
        return [item[key]["S"] for reader, source, item in self.records if (reader, source) == (function, table)]


def job(job_id: str, *, updated_at: str = RECENT, state: str = "active") -> dict[str, Any]:
    return {"job_id": {"S": job_id}, "updated_at": {"S": updated_at}, "state": {"S": state}}


def execution(job_id: str, number: int, status: str, **more: Any) -> dict[str, Any]:
    return {
        "scheduled_at": {"S": "2100-01-01T00:00:00.000Z"},
        "job_id": {"S": job_id},
        "execution_id": {"S": f"{number}-{job_id}"},
        "status": {"S": status},
        **{name: {"BOOL": value} if isinstance(value, bool) else {"S": value} for name, value in more.items()},
    }


def test_the_numbers_of_shards_are_no_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([], [{"job_id": {"S": "#shards"}, "execution_id": {"S": "#shards"}, "until_1": {"S": RECENT}}])
    world.replay(monkeypatch)
    assert world.records == []


def test_a_job_without_an_execution_is_replayed_to_the_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([job("a"), job("b")], [execution("b", 1, "scheduled", is_leader=True)])
    world.replay(monkeypatch)
    assert world.replayed("planner", "jobs-table") == ["a"]


def test_a_recently_deleted_job_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([job("a", state="deleted")], [execution("a", 1, "scheduled", is_leader=True)])
    world.replay(monkeypatch)
    assert world.replayed("planner", "jobs-table") == ["a"]


def test_an_old_job_is_not_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([job("a", updated_at=LONG_AGO)], [])
    world.replay(monkeypatch)
    assert world.records == []


def test_an_overdue_execution_is_replayed_as_an_expired_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    overdue = execution("a", 1, "scheduled", is_leader=True, scheduled_at="2020-01-01T00:00:00.000Z")
    world = World([], [overdue, execution("b", 2, "scheduled", is_leader=True)])
    world.replay(monkeypatch)
    assert world.replayed("planner", "timers-table") == ["2020-01-01T00:00:00.000Z#1-a#due"]


def test_queued_and_retrying_executions_are_replayed_to_the_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    executions = [execution("a", 1, "queued"), execution("a", 2, "retrying"), execution("a", 3, "running")]
    world = World([], executions)
    world.replay(monkeypatch)
    assert world.replayed("planner", "executions-table") == ["1-a", "2-a"]


def test_a_running_execution_that_was_asked_to_stop_is_replayed_to_the_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([], [execution("a", 1, "running", cancel_at=RECENT), execution("a", 2, "running")])
    world.replay(monkeypatch)
    assert world.replayed("planner", "executions-table") == ["1-a"]


def test_a_skipped_leader_without_a_successor_is_replayed_to_the_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    leaders = [execution("a", number, "skipped", is_leader=True, revision="1") for number in (1, 2)]
    world = World([], [*leaders, execution("b", 3, "skipped", revision="1")])
    world.replay(monkeypatch)
    assert world.replayed("planner", "executions-table") == ["2-a"]


def test_only_the_last_execution_of_a_job_is_replayed_as_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([], [execution("a", number, "queued", is_leader=True) for number in (1, 2, 3)])
    world.replay(monkeypatch)
    leaders = [item["execution_id"]["S"] for _, _, item in world.records if "is_leader" in item]
    assert leaders == ["3-a"]


def test_a_recent_end_is_replayed_to_the_settler(monkeypatch: pytest.MonkeyPatch) -> None:
    executions = [
        execution("a", 1, "succeeded", needs_follow_up=True, ended_at=RECENT),
        execution("b", 1, "succeeded", needs_follow_up=True, ended_at=LONG_AGO),
        execution("c", 1, "succeeded", is_leader=True, ended_at=RECENT),
    ]
    world = World([], executions)
    world.replay(monkeypatch)
    assert world.replayed("settler", "executions-table") == ["1-a", "1-c"]
