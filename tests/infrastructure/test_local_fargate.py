"""The stand-in for Fargate on a real emulator: what ECS is asked to run is run, once, and its end is told."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from local.aws import client
from local.ecs_task import EcsTask
from local.emulator import Emulator
from local.errors import FargateFailed
from local.places import Places
from local.stand_in import StandIn

T = TypeVar("T")
GRACE = 1.5
LOGS = "/punctual/runner"
# Says that it is ready, and leaves when it is asked to.
POLITE = "trap 'echo leaving; exit 3' TERM; echo ready; while :; do sleep 0.05; done"
STUBBORN = "trap '' TERM; echo ready; while :; do sleep 0.05; done"


class Aws:
    """The clusters of an emulator, and what EventBridge was told of their tasks."""

    def __init__(self, endpoint: str) -> None:
        self.ecs, self.logs = client("ecs", endpoint), client("logs", endpoint)
        self._sqs, self._events = client("sqs", endpoint), client("events", endpoint)
        self._told: list[dict[str, Any]] = []
        self.logs.create_log_group(logGroupName=LOGS)
        self._queue = self._sqs.create_queue(QueueName="told")["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self._queue, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        pattern = {"source": ["punctual.fargate"], "detail-type": ["ECS Task State Change"]}
        self._events.put_rule(Name="told", EventPattern=json.dumps(pattern))
        self._events.put_targets(Rule="told", Targets=[{"Id": "queue", "Arn": arn}])

    def define(self, family: str, image: str = "punctual-shell:local", group: str = LOGS, **more: Any) -> None:
        self.ecs.register_task_definition(
            family=family,
            requiresCompatibilities=["FARGATE"],
            cpu="1024",
            memory="2048",
            containerDefinitions=[
                {
                    "name": "runner",
                    "image": image,
                    "environment": [{"name": "FROM_DEFINITION", "value": "1"}, {"name": "BOTH", "value": "1"}],
                    "logConfiguration": {
                        "logDriver": "awslogs",
                        "options": {
                            "awslogs-group": group,
                            "awslogs-region": "us-east-1",
                            "awslogs-stream-prefix": "runner",
                        },
                    },
                    **more,
                }
            ],
        )

    def run(self, cluster: str, *command: str, family: str = "shell", **environment: str) -> str:
        """The ARN of a new task."""
        override = {
            "name": "runner",
            "command": list(command),
            "environment": [{"name": name, "value": value} for name, value in environment.items()],
        }
        reply = self.ecs.run_task(cluster=cluster, taskDefinition=family, overrides={"containerOverrides": [override]})
        return str(reply["tasks"][0]["taskArn"])

    def describe(self, cluster: str, arn: str) -> dict[str, Any]:
        return dict(self.ecs.describe_tasks(cluster=cluster, tasks=[arn])["tasks"][0])

    def lines(self, arn: str) -> list[str]:
        """What the task's container wrote."""
        stream = f"runner/runner/{arn.rsplit('/', 1)[-1]}"
        try:
            reply = self.logs.get_log_events(logGroupName=LOGS, logStreamName=stream, startFromHead=True)
        except self.logs.exceptions.ResourceNotFoundException:
            return []
        return [event["message"] for event in reply["events"]]

    def told(self, arn: str, status: str = "STOPPED") -> list[dict[str, Any]]:
        """What EventBridge was told of the task's end, or of another state."""
        reply = self._sqs.receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10)
        for message in reply.get("Messages", []):
            self._told.append(json.loads(message["Body"])["detail"])
            self._sqs.delete_message(QueueUrl=self._queue, ReceiptHandle=message["ReceiptHandle"])
        return [detail for detail in self._told if (detail["taskArn"], detail["lastStatus"]) == (arn, status)]

    def ended(self, arn: str) -> dict[str, Any]:
        """The same, awaited."""
        (detail,) = awaited(lambda: self.told(arn), f"the end of {arn}")
        return detail

    def wrote(self, arn: str, line: str) -> None:
        awaited(lambda: line in self.lines(arn), f"{line!r} of {arn}")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return Places(tmp_path_factory.mktemp("local"))


@pytest.fixture(scope="module")
def emulator(places: Places) -> Iterator[Emulator]:
    emulator = Emulator(places, free_port())
    emulator.start()
    try:
        yield emulator
    finally:
        emulator.stop()


@pytest.fixture(scope="module")
def aws(emulator: Emulator) -> Aws:
    aws = Aws(emulator.endpoint)
    for cluster in ("one", "two"):
        aws.ecs.create_cluster(clusterName=cluster)
    aws.define("shell")
    return aws


@pytest.fixture(scope="module")
def one(emulator: Emulator, places: Places) -> Iterator[str]:
    """A cluster with a stand-in that looks after it."""
    stand_in = StandIn(places, emulator.endpoint, GRACE)
    stand_in.start("one")
    try:
        yield "one"
    finally:
        stand_in.stop()


@pytest.fixture
def stand_in(aws: Aws, emulator: Emulator, tmp_path: Path) -> Iterator[StandIn]:
    """A stand-in of its own, not started; tests give it the cluster `two`."""
    stand_in = StandIn(Places(tmp_path), emulator.endpoint, GRACE)
    try:
        yield stand_in
    finally:
        stand_in.stop()
        for arn in aws.ecs.list_tasks(cluster="two")["taskArns"]:
            aws.ecs.stop_task(cluster="two", task=arn)


def test_a_task_is_run_once_and_its_start_its_output_and_its_end_are_told(aws: Aws, one: str) -> None:
    arn = aws.run(one, "sh", "-c", "echo hello; echo world >&2; exit 7")
    end = aws.ended(arn)
    assert end["containers"][0]["exitCode"] == 7
    assert end["containers"][0]["name"] == "runner"
    assert (end["stopCode"], end["stoppedReason"]) == ("EssentialContainerExited", "Essential container in task exited")
    assert end["clusterArn"].endswith(":cluster/one")
    assert aws.lines(arn) == ["hello", "world"]
    assert aws.describe(one, arn)["lastStatus"] == "STOPPED"
    later = aws.run(one, "true")  # it has looked again by then
    assert aws.ended(later)["containers"][0]["exitCode"] == 0
    assert len(aws.told(arn)) == len(aws.told(arn, "RUNNING")) == 1
    assert aws.lines(arn) == ["hello", "world"]


def test_a_container_knows_its_definition_its_order_and_the_emulator(
    aws: Aws, one: str, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_PERSON", "1")
    show = "import os, json, punctual, tasks; print(json.dumps(dict(os.environ)))"
    arn = aws.run(one, "python", "-c", show, BOTH="2", PUNCTUAL_ORDER="{}")
    assert aws.ended(arn)["containers"][0]["exitCode"] == 0, aws.lines(arn)
    (line,) = aws.lines(arn)
    known = json.loads(line)
    assert (known["FROM_DEFINITION"], known["BOTH"], known["PUNCTUAL_ORDER"]) == ("1", "2", "{}")
    assert known["AWS_ENDPOINT_URL"] == emulator.endpoint
    assert known["PUNCTUAL_TASK_ARN"] == arn
    assert 0 < float(known["PUNCTUAL_GRACE_SECONDS"]) < GRACE
    assert "SECRET_OF_THE_PERSON" not in known


def test_what_a_container_leaves_on_disk_is_removed(aws: Aws, one: str, places: Places) -> None:
    arn = aws.run(one, "sh", "-c", "echo x > file; pwd")
    aws.ended(arn)
    (folder,) = aws.lines(arn)
    assert Path(folder).is_relative_to(places.containers)
    awaited(lambda: not Path(folder).exists(), "its folder to be gone")


def test_a_killed_process_is_told_of_as_docker_would(aws: Aws, one: str) -> None:
    arn = aws.run(one, "sh", "-c", "echo $$; exec sleep 60")
    (pid,) = awaited(lambda: aws.lines(arn), "its process id")
    os.kill(int(pid), signal.SIGKILL)
    assert aws.ended(arn)["containers"][0]["exitCode"] == 128 + signal.SIGKILL


def test_a_stopped_task_is_asked_to_leave(aws: Aws, one: str) -> None:
    arn = aws.run(one, "sh", "-c", POLITE)
    aws.wrote(arn, "ready")
    aws.ecs.stop_task(cluster=one, task=arn, reason="cancelled by ana")
    end = aws.ended(arn)
    assert end["containers"][0]["exitCode"] == 3
    assert (end["stopCode"], end["stoppedReason"]) == ("UserInitiated", "cancelled by ana")
    assert aws.lines(arn) == ["ready", "leaving"]


def test_a_task_that_does_not_leave_is_killed_with_all_that_it_started(aws: Aws, one: str) -> None:
    arn = aws.run(one, "sh", "-c", f"sleep 60 & echo $!; {STUBBORN}")
    aws.wrote(arn, "ready")
    child = int(aws.lines(arn)[0])
    aws.ecs.stop_task(cluster=one, task=arn)
    assert aws.ended(arn)["containers"][0]["exitCode"] == 128 + signal.SIGKILL
    awaited(lambda: not is_alive(child), "its child to be gone")


@pytest.mark.parametrize(
    ("image", "command", "reason"),
    [
        (
            "punctual-unknown:local",
            ["true"],
            "CannotPullContainerError: pull image manifest has been retried 1 time(s)",
        ),
        ("docker.io/library/alpine", ["true"], "CannotPullContainerError: pull image manifest has been retried"),
        ("punctual-shell:local", ["no-such-program"], "CannotStartContainerError: "),
        ("punctual-shell:local", [], "CannotStartContainerError: "),
    ],
)
def test_a_container_that_cannot_be_started_has_a_reason_and_no_exit_code(
    aws: Aws, one: str, image: str, command: list[str], reason: str
) -> None:
    aws.define("odd", image)
    arn = aws.run(one, *command, family="odd")
    end = aws.ended(arn)
    assert end["stoppedReason"].startswith(reason)
    assert end["stopCode"] == "TaskFailedToStart"
    assert "exitCode" not in end["containers"][0]
    assert aws.describe(one, arn)["lastStatus"] == "STOPPED"
    assert aws.lines(arn) == aws.told(arn, "RUNNING") == []


def test_a_task_without_its_log_group_is_not_started(aws: Aws, one: str) -> None:
    aws.define("mute", group="/no/such/group")
    end = aws.ended(aws.run(one, "true", family="mute"))
    assert end["stoppedReason"].startswith("ResourceInitializationError: ")


def test_what_its_own_stop_interrupts_is_asked_to_leave_and_told_of(aws: Aws, stand_in: StandIn) -> None:
    stand_in.start("two")
    polite, stubborn = (aws.run("two", "sh", "-c", script) for script in (POLITE, STUBBORN))
    for arn in (polite, stubborn):
        aws.wrote(arn, "ready")
    assert stand_in.stop() is True
    assert stand_in.pid() is None
    assert aws.ended(polite)["containers"][0]["exitCode"] == 3
    assert aws.ended(stubborn)["containers"][0]["exitCode"] == 128 + signal.SIGKILL
    assert {aws.ended(arn)["stopCode"] for arn in (polite, stubborn)} == {"TerminationNotice"}
    assert aws.ecs.list_tasks(cluster="two")["taskArns"] == []
    assert stand_in.stop() is False


def test_what_a_dead_stand_in_left_over_is_killed_and_told_of_not_run_again(
    aws: Aws, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.start("two")
    arn = aws.run("two", "sh", "-c", f"echo $$; {POLITE}")
    aws.wrote(arn, "ready")
    process = int(aws.lines(arn)[0])
    os.kill(stand_in.pid() or 0, signal.SIGKILL)
    awaited(lambda: stand_in.pid() is None, "it to be dead")
    assert is_alive(process)
    stand_in.start("two")
    end = aws.ended(arn)
    assert "ended while it ran this task" in end["stoppedReason"]
    awaited(lambda: not is_alive(process), "its process to be gone")
    assert aws.ended(aws.run("two", "true"))["containers"][0]["exitCode"] == 0
    assert aws.lines(arn).count("ready") == 1
    awaited(lambda: not list(Places(tmp_path).containers.iterdir()), "its files to be gone")


def test_it_outlives_a_restart_of_the_emulator_and_does_not_begin_what_that_ended(tmp_path: Path) -> None:
    places = Places(tmp_path)
    emulator = Emulator(places, free_port())
    emulator.start()
    stand_in = StandIn(places, emulator.endpoint, GRACE)
    try:
        aws = Aws(emulator.endpoint)
        aws.define("shell")
        stand_in.start("default")
        process = stand_in.pid() or 0
        os.kill(process, signal.SIGSTOP)
        before = aws.run("default", "echo", "begun")
        emulator.stop()
        os.kill(process, signal.SIGCONT)
        awaited(lambda: "in trouble" in places.fargate_log.read_text(), "it to miss the emulator")
        emulator.start()
        assert aws.ended(aws.run("default", "true"))["containers"][0]["exitCode"] == 0
        assert stand_in.pid() == process
        assert aws.lines(before) == []
    finally:
        stand_in.stop()
        emulator.stop()


def test_it_is_found_again_by_whoever_comes_later(stand_in: StandIn, emulator: Emulator, tmp_path: Path) -> None:
    later = StandIn(Places(tmp_path), emulator.endpoint)
    assert later.pid() is None
    stand_in.start("two")
    assert later.pid() == stand_in.pid()
    assert later.serves("two")
    assert not later.serves("one")
    assert not StandIn(Places(tmp_path), "http://127.0.0.1:1").serves("two")


def test_one_that_does_not_start_is_said_in_one_sentence(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.stand_in.ROOT", tmp_path)
    with pytest.raises(FargateFailed, match=r"did not start: see .*fargate\.log"):
        stand_in.start("two")
    assert stand_in.pid() is None


def test_the_image_names_of_this_machine_are_known() -> None:
    def known(image: str) -> bool:
        return EcsTask({}, {"containerDefinitions": [{"name": "runner", "image": image}]}).image_exists

    assert known("punctual-runner:local")
    assert known("punctual-shell:local")
    assert not known("punctual-unknown:local")
    assert not known("123456789012.dkr.ecr.us-east-1.amazonaws.com/punctual-runner:local")


def awaited(find: Callable[[], T], what: str, seconds: float = 30) -> T:
    """What `find` finds, asked again and again until it finds something or the time is up."""
    end = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < end, f"not within {seconds} seconds: {what}"
        time.sleep(0.05)
    return found


def is_alive(pid: int) -> bool:
    """Whether there is such a process, other than one that only waits to be buried."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
