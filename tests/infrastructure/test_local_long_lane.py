"""`make down` and `make up` in the long lane: its containers, its state machines, its functions."""

import json
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from local import stack_file
from local.aws import client
from local.emulator import Emulator
from local.places import Places
from local.replay import Replay
from local.stack import Stack
from local.traffic import Traffic
from tests.e2e.punctual import wait_for

STOPPED = datetime(2030, 1, 1, 12, tzinfo=UTC)
RECENT, LONG_AGO = "2030-01-01T11:59:59.000Z", "2030-01-01T09:00:00.000Z"


class AnyOutput(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return f"<{name}>"


@pytest.fixture
def described() -> dict[str, Any]:
    return stack_file.describe(AnyOutput(), endpoint="http://127.0.0.1:1", tokens={}, pid=1, fargate_pid=2)


class Lambda:
    """A Lambda client that records which functions are held and which are invoked."""

    class exceptions:
        class ResourceNotFoundException(Exception):
            pass

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.reading: dict[str, bool] = {}
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.held_when_called: list[set[str]] = []
        self.fails = False

    def put_function_concurrency(self, *, FunctionName: str, ReservedConcurrentExecutions: int) -> None:
        assert ReservedConcurrentExecutions == 0
        self.held.add(FunctionName)

    def delete_function_concurrency(self, *, FunctionName: str) -> None:
        self.held.discard(FunctionName)

    def list_event_source_mappings(self, *, FunctionName: str) -> dict[str, Any]:
        return {"EventSourceMappings": [{"UUID": f"source of {FunctionName}"}]}

    def update_event_source_mapping(self, *, UUID: str, Enabled: bool) -> None:
        self.reading[UUID] = Enabled

    def invoke(self, *, FunctionName: str, Payload: str) -> dict[str, Any]:
        self.called.append((FunctionName, json.loads(Payload)))
        self.held_when_called.append(set(self.held))
        return {"FunctionError": "Unhandled"} if self.fails else {}


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Lambda:
    functions = Lambda()
    monkeypatch.setattr("local.traffic.client", lambda *_: functions)
    return functions


def part(name: str, status: str, **more: str) -> dict[str, Any]:
    return {"part": {"S": name}, "status": {"S": status}, **{key: {"S": value} for key, value in more.items()}}


PARTS = [
    part("waiting", "waiting"),
    part("starting", "starting"),
    part("running", "running"),
    part("retrying", "retrying"),
    part("ended", "succeeded", ended_at=RECENT),
    part("ended long ago", "succeeded", ended_at=LONG_AGO),
    {"part": {"S": "the counters of the lane"}},
]


def replay(described: dict[str, Any], functions: Lambda, monkeypatch: pytest.MonkeyPatch, **tables: Any) -> Replay:
    replay = Replay(described, STOPPED)
    monkeypatch.setattr(replay, "_scan", lambda table: iter(tables.get(table, [])))
    monkeypatch.setattr(replay, "_lambda", functions)
    return replay


def test_the_stack_file_describes_the_long_lane(described: dict[str, Any]) -> None:
    assert described["tables"]["parts"] == "<PartsTable>"
    assert {"conductor", "reporter", "admission", "reconciler"} <= set(described["functions"])
    assert described["functions"]["admission"] == "<AdmissionFunction>"
    assert described["log_groups"]["runner"] == "<RunnerLogGroup>"
    assert described["queues"]["admission_dead_letters"] == "<AdmissionDeadLetterQueueUrl>"
    assert described["cluster"] == "<Cluster>"
    assert described["state_machine_arn"] == "<StateMachineArn>"
    assert described["schedule_group"] == "<ScheduleGroup>"
    assert described["fargate_pid"] == 2


def test_holding_traffic_stops_new_work_but_not_the_functions_that_finish_running_work(
    described: dict[str, Any], functions: Lambda
) -> None:
    traffic = Traffic("http://127.0.0.1:1", described["functions"])
    traffic.hold_all()
    assert functions.held == {"<ApiFunction>", "<DispatcherFunction>", "<AdmissionFunction>", "<ReconcilerFunction>"}
    assert functions.reading["source of <AdmissionFunction>"] is False
    traffic.release_all()
    assert functions.held == set()
    assert set(functions.reading.values()) == {True}


def test_the_api_answers_while_functions_are_replaced(described: dict[str, Any], functions: Lambda) -> None:
    Traffic("http://127.0.0.1:1", described["functions"]).hold_scheduling()
    assert "<ApiFunction>" not in functions.held
    assert "<AdmissionFunction>" in functions.held


def test_a_stack_from_before_the_long_lane_can_be_held_and_released(functions: Lambda) -> None:
    old = {name: name for name in ("api", "planner", "dispatcher", "worker", "settler", "intake")}
    traffic = Traffic("http://127.0.0.1:1", old)
    traffic.hold_all()
    assert functions.held == {"api", "dispatcher"}
    traffic.release_all()
    assert functions.held == set()


def test_containers_stop_after_new_work_is_held_and_before_the_emulator_stops(
    described: dict[str, Any], functions: Lambda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack, steps = Stack.at(tmp_path), []
    stack_file.write(stack.places, described)

    def stop_containers() -> bool:
        steps.append("containers stopped")
        assert "<AdmissionFunction>" in functions.held
        assert "<ReporterFunction>" not in functions.held
        return True

    def stop_emulator() -> bool:
        steps.append("emulator stopped")
        return True

    monkeypatch.setattr(stack.emulator, "pid", lambda: 1)
    monkeypatch.setattr(stack.emulator, "stop", stop_emulator)
    monkeypatch.setattr(stack.stand_in, "stop", stop_containers)
    monkeypatch.setattr("local.stack.wait_until_quiet", lambda _: steps.append("streams and queues quiet"))
    assert stack.down()
    assert steps == ["containers stopped", "streams and queues quiet", "emulator stopped"]


def test_a_stand_in_that_outlived_its_emulator_is_stopped_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack, stopped = Stack.at(tmp_path), []
    monkeypatch.setattr(stack.stand_in, "stop", lambda: stopped.append(True))
    assert stack.down() is False
    assert stopped == [True]


def test_after_a_restart_the_reconciler_restarts_runs_before_admission_grants_slots(
    described: dict[str, Any], functions: Lambda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = Stack.at(tmp_path)
    Traffic("http://127.0.0.1:1", described["functions"]).hold_all()
    monkeypatch.setattr("local.stack.Replay", lambda *_: replay(described, functions, monkeypatch, parts=PARTS))
    stack._resume(described, STOPPED)
    (first, event), (second, batch) = functions.called
    assert (first, event) == ("<ReconcilerFunction>", {"grace_seconds": 0})
    assert second == "<AdmissionFunction>"
    assert functions.held_when_called == [
        {"<ApiFunction>", "<DispatcherFunction>", "<AdmissionFunction>"},
        set(),
    ]
    replayed = [record["dynamodb"]["NewImage"]["part"]["S"] for record in batch["Records"]]
    assert replayed == ["waiting", "starting", "retrying", "ended"]
    assert {record["eventSourceARN"].split("/")[1] for record in batch["Records"]} == {"<PartsTable>"}


def test_the_emulator_stops_while_a_state_machine_is_waiting(tmp_path: Path) -> None:
    emulator = Emulator(Places(tmp_path), free_port())
    emulator.start()
    try:
        states = client("stepfunctions", emulator.endpoint)
        waiting = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": True}}}
        each = {"Type": "Map", "ItemsPath": "$", "ItemProcessor": waiting, "End": True}
        definition = json.dumps({"StartAt": "Each", "States": {"Each": each}})
        role = "arn:aws:iam::000000000000:role/any"
        machine = states.create_state_machine(name="long", definition=definition, roleArn=role)["stateMachineArn"]
        run = states.start_execution(stateMachineArn=machine, input="[1]")["executionArn"]

        def entered() -> bool:
            events = states.get_execution_history(executionArn=run)["events"]
            return "MapStateEntered" in {one["type"] for one in events}

        wait_for(entered, 30, "the state machine to wait")
        assert emulator.stop()
        emulator.start()
        # The run was saved as failed; the reconciler starts a new one.
        assert states.describe_execution(executionArn=run)["status"] == "FAILED"
    finally:
        emulator.stop()


def test_a_failure_of_the_reconciler_is_reported(
    described: dict[str, Any], functions: Lambda, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions.fails = True
    assert not replay(described, functions, monkeypatch).restart_runs()


def test_the_ends_of_executions_of_both_lanes_are_replayed_to_the_settler(
    described: dict[str, Any], functions: Lambda, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = {"job_id": {"S": "a"}, "status": {"S": "succeeded"}, "ended_at": {"S": RECENT}}
    executions = [
        {**ended, "execution_id": {"S": "long"}, "lane": {"S": "long"}, "needs_follow_up": {"BOOL": True}},
        {**ended, "execution_id": {"S": "short"}, "lane": {"S": "short"}},
    ]
    replay(described, functions, monkeypatch, executions=executions).run()
    ((function, batch),) = functions.called
    assert function == "<SettlerFunction>"
    assert [record["dynamodb"]["NewImage"]["execution_id"]["S"] for record in batch["Records"]] == ["long", "short"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
