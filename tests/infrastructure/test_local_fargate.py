"""The stand-in for Fargate on a real emulator: it runs each ECS task once and reports its start and its end."""

import io
import json
import os
import signal
import socket
import time
import zipfile
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
WORKER = "worker"
LOGS = "/punctual/runner"
# Prints "ready" and exits on SIGTERM; STUBBORN ignores SIGTERM.
POLITE = "trap 'echo leaving; exit 3' TERM; echo ready; while :; do sleep 0.05; done"
STUBBORN = "trap '' TERM; echo ready; while :; do sleep 0.05; done"


class Aws:
    """The clusters of an emulator, and the task state changes that EventBridge has delivered."""

    def __init__(self, endpoint: str) -> None:
        self.ecs, self.logs = client("ecs", endpoint), client("logs", endpoint)
        self._sqs, self._events = client("sqs", endpoint), client("events", endpoint)
        self._lambda = client("lambda", endpoint)
        self._received: list[dict[str, Any]] = []
        self.logs.create_log_group(logGroupName=LOGS)
        self._queue = self._sqs.create_queue(QueueName="task-changes")["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self._queue, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        pattern = {"source": ["punctual.fargate"], "detail-type": ["ECS Task State Change"]}
        self._events.put_rule(Name="task-changes", EventPattern=json.dumps(pattern))
        self._events.put_targets(Rule="task-changes", Targets=[{"Id": "queue", "Arn": arn}])

    def deploy(self, tasks: str) -> None:
        """Create the worker, with a layer, or update its code. `tasks` is the text of the package `tasks`."""
        code = zipped({"handler.py": "", "tasks/__init__.py": tasks})
        try:
            self._lambda.update_function_code(FunctionName=WORKER, ZipFile=code)
        except self._lambda.exceptions.ResourceNotFoundException:
            content = {"ZipFile": zipped({"python/punctual.py": "", "python/vendored.py": "VERSION = 7"})}
            layer = self._lambda.publish_layer_version(LayerName="engine", Content=content)["LayerVersionArn"]
            self._lambda.create_function(
                FunctionName=WORKER,
                Runtime="python3.13",
                Handler="handler.handler",
                Role="arn:aws:iam::000000000000:role/any",
                Code={"ZipFile": code},
                Layers=[layer],
            )

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
        """Start a task and return its ARN."""
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
        """The log lines of the task's container."""
        stream = f"runner/runner/{arn.rsplit('/', 1)[-1]}"
        try:
            reply = self.logs.get_log_events(logGroupName=LOGS, logStreamName=stream, startFromHead=True)
        except self.logs.exceptions.ResourceNotFoundException:
            return []
        return [event["message"] for event in reply["events"]]

    def changes(self, arn: str, status: str = "STOPPED") -> list[dict[str, Any]]:
        """The events that report the task's end, or its change to another status."""
        reply = self._sqs.receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10)
        for message in reply.get("Messages", []):
            self._received.append(json.loads(message["Body"])["detail"])
            self._sqs.delete_message(QueueUrl=self._queue, ReceiptHandle=message["ReceiptHandle"])
        return [detail for detail in self._received if (detail["taskArn"], detail["lastStatus"]) == (arn, status)]

    def wait_for_end(self, arn: str) -> dict[str, Any]:
        """Wait for the event that reports the task's end, and return it."""
        (detail,) = wait_for(lambda: self.changes(arn), f"the end of {arn}")
        return detail

    def wait_for_line(self, arn: str, line: str) -> None:
        wait_for(lambda: line in self.lines(arn), f"{line!r} of {arn}")


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
    """A cluster served by a stand-in."""
    stand_in = StandIn(places, emulator.endpoint, GRACE)
    stand_in.start("one", WORKER)
    try:
        yield "one"
    finally:
        stand_in.stop()


@pytest.fixture
def stand_in(aws: Aws, emulator: Emulator, tmp_path: Path) -> Iterator[StandIn]:
    """A separate stand-in, not started; tests start it for the cluster `two`."""
    stand_in = StandIn(Places(tmp_path), emulator.endpoint, GRACE)
    try:
        yield stand_in
    finally:
        stand_in.stop()
        for arn in aws.ecs.list_tasks(cluster="two")["taskArns"]:
            aws.ecs.stop_task(cluster="two", task=arn)


def test_a_task_runs_once_and_its_start_output_and_end_are_reported(aws: Aws, one: str) -> None:
    arn = aws.run(one, "sh", "-c", "echo hello; echo world >&2; exit 7")
    end = aws.wait_for_end(arn)
    assert end["containers"][0]["exitCode"] == 7
    assert end["containers"][0]["name"] == "runner"
    assert (end["stopCode"], end["stoppedReason"]) == ("EssentialContainerExited", "Essential container in task exited")
    assert end["clusterArn"].endswith(":cluster/one")
    assert aws.lines(arn) == ["hello", "world"]
    assert aws.describe(one, arn)["lastStatus"] == "STOPPED"
    later = aws.run(one, "true")  # the stand-in has polled again by then
    assert aws.wait_for_end(later)["containers"][0]["exitCode"] == 0
    assert len(aws.changes(arn)) == len(aws.changes(arn, "RUNNING")) == 1
    assert aws.lines(arn) == ["hello", "world"]


def test_a_container_gets_the_variables_of_its_definition_its_overrides_and_the_emulator(
    aws: Aws, one: str, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_USER", "1")
    show = "import os, json; print(json.dumps(dict(os.environ)))"
    arn = aws.run(one, "python", "-c", show, BOTH="2", PUNCTUAL_ASSIGNMENT="{}")
    assert aws.wait_for_end(arn)["containers"][0]["exitCode"] == 0, aws.lines(arn)
    (line,) = aws.lines(arn)
    variables = json.loads(line)
    assert (variables["FROM_DEFINITION"], variables["BOTH"], variables["PUNCTUAL_ASSIGNMENT"]) == ("1", "2", "{}")
    assert variables["AWS_ENDPOINT_URL"] == emulator.endpoint
    assert variables["PUNCTUAL_TASK_ARN"] == arn
    assert 0 < float(variables["PUNCTUAL_GRACE_SECONDS"]) < GRACE
    assert "SECRET_OF_THE_USER" not in variables


def test_punctuals_own_image_contains_the_deployed_code_and_its_layers(aws: Aws, one: str) -> None:
    aws.define("runner", "punctual-runner:local")
    show = "import tasks, punctual, vendored; print(tasks.VERSION, vendored.VERSION)"
    for version in ("1", "2"):
        aws.deploy(f"VERSION = {version}")
        arn = aws.run(one, "python", "-c", show, family="runner")
        assert aws.wait_for_end(arn)["containers"][0]["exitCode"] == 0, aws.lines(arn)
        assert aws.lines(arn) == [f"{version} 7"]


@pytest.mark.parametrize(("image", "module"), [("runner", "local"), ("runner", "cdk"), ("shell", "punctual")])
def test_no_image_contains_the_working_tree(aws: Aws, one: str, image: str, module: str) -> None:
    aws.deploy("")
    aws.define(image, f"punctual-{image}:local")
    arn = aws.run(one, "python", "-c", f"import {module}", family=image)
    assert aws.wait_for_end(arn)["containers"][0]["exitCode"] == 1
    assert f"ModuleNotFoundError: No module named '{module}'" in aws.lines(arn)


def test_punctuals_own_image_does_not_start_before_its_code_is_deployed(aws: Aws, stand_in: StandIn) -> None:
    aws.define("runner", "punctual-runner:local")
    stand_in.start("two", "no-such-function")
    end = aws.wait_for_end(aws.run("two", "true", family="runner"))
    assert end["stoppedReason"].startswith("CannotPullContainerError: ")


def test_code_of_earlier_deployments_is_removed_when_the_stand_in_starts(
    aws: Aws, stand_in: StandIn, tmp_path: Path
) -> None:
    code = Places(tmp_path).code
    for version in ("1", "2"):
        aws.deploy(f"VERSION = {version}")
        stand_in.start("two", WORKER)
    assert [file.read_text() for file in code.glob("*/tasks/__init__.py")] == ["VERSION = 2"]


def test_the_files_of_a_container_are_removed(aws: Aws, one: str, places: Places) -> None:
    arn = aws.run(one, "sh", "-c", "echo x > file; pwd")
    aws.wait_for_end(arn)
    (folder,) = aws.lines(arn)
    assert Path(folder).is_relative_to(places.containers)
    wait_for(lambda: not Path(folder).exists(), "its folder to be gone")


def test_a_killed_process_has_the_exit_code_that_docker_would_report(aws: Aws, one: str) -> None:
    arn = aws.run(one, "sh", "-c", "echo $$; exec sleep 60")
    (pid,) = wait_for(lambda: aws.lines(arn), "its process id")
    os.kill(int(pid), signal.SIGKILL)
    assert aws.wait_for_end(arn)["containers"][0]["exitCode"] == 128 + signal.SIGKILL


def test_stopping_a_task_sends_sigterm_to_its_container(aws: Aws, one: str) -> None:
    arn = aws.run(one, "sh", "-c", POLITE)
    aws.wait_for_line(arn, "ready")
    aws.ecs.stop_task(cluster=one, task=arn, reason="cancelled by ana")
    end = aws.wait_for_end(arn)
    assert end["containers"][0]["exitCode"] == 3
    assert (end["stopCode"], end["stoppedReason"]) == ("UserInitiated", "cancelled by ana")
    assert aws.lines(arn) == ["ready", "leaving"]


def test_a_task_that_ignores_sigterm_is_killed_with_its_child_processes(aws: Aws, one: str) -> None:
    arn = aws.run(one, "sh", "-c", f"sleep 60 & echo $!; {STUBBORN}")
    aws.wait_for_line(arn, "ready")
    child = int(aws.lines(arn)[0])
    aws.ecs.stop_task(cluster=one, task=arn)
    assert aws.wait_for_end(arn)["containers"][0]["exitCode"] == 128 + signal.SIGKILL
    wait_for(lambda: not is_alive(child), "its child to be gone")


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
    aws.define("broken", image)
    arn = aws.run(one, *command, family="broken")
    end = aws.wait_for_end(arn)
    assert end["stoppedReason"].startswith(reason)
    assert end["stopCode"] == "TaskFailedToStart"
    assert "exitCode" not in end["containers"][0]
    assert aws.describe(one, arn)["lastStatus"] == "STOPPED"
    assert aws.lines(arn) == aws.changes(arn, "RUNNING") == []


def test_a_task_without_its_log_group_is_not_started(aws: Aws, one: str) -> None:
    aws.define("no-log-group", group="/no/such/group")
    end = aws.wait_for_end(aws.run(one, "true", family="no-log-group"))
    assert end["stoppedReason"].startswith("ResourceInitializationError: ")


def test_stopping_the_stand_in_stops_its_tasks_and_reports_their_end(aws: Aws, stand_in: StandIn) -> None:
    stand_in.start("two", WORKER)
    polite, stubborn = (aws.run("two", "sh", "-c", script) for script in (POLITE, STUBBORN))
    for arn in (polite, stubborn):
        aws.wait_for_line(arn, "ready")
    assert stand_in.stop() is True
    assert stand_in.pid() is None
    assert aws.wait_for_end(polite)["containers"][0]["exitCode"] == 3
    assert aws.wait_for_end(stubborn)["containers"][0]["exitCode"] == 128 + signal.SIGKILL
    assert {aws.wait_for_end(arn)["stopCode"] for arn in (polite, stubborn)} == {"TerminationNotice"}
    assert aws.ecs.list_tasks(cluster="two")["taskArns"] == []
    assert stand_in.stop() is False


def test_orphans_of_a_killed_stand_in_are_killed_and_reported_and_not_run_again(
    aws: Aws, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.start("two", WORKER)
    arn = aws.run("two", "sh", "-c", f"echo $$; {POLITE}")
    aws.wait_for_line(arn, "ready")
    process = int(aws.lines(arn)[0])
    os.kill(stand_in.pid() or 0, signal.SIGKILL)
    wait_for(lambda: stand_in.pid() is None, "the stand-in to be dead")
    assert is_alive(process)
    stand_in.start("two", WORKER)
    end = aws.wait_for_end(arn)
    assert "ended while it ran this task" in end["stoppedReason"]
    wait_for(lambda: not is_alive(process), "its process to be gone")
    assert aws.wait_for_end(aws.run("two", "true"))["containers"][0]["exitCode"] == 0
    assert aws.lines(arn).count("ready") == 1
    wait_for(lambda: not list(Places(tmp_path).containers.iterdir()), "its files to be gone")


def test_the_stand_in_survives_a_restart_of_the_emulator_and_does_not_start_tasks_that_it_ended(tmp_path: Path) -> None:
    places = Places(tmp_path)
    emulator = Emulator(places, free_port())
    emulator.start()
    stand_in = StandIn(places, emulator.endpoint, GRACE)
    try:
        aws = Aws(emulator.endpoint)
        aws.define("shell")
        stand_in.start("default", WORKER)
        process = stand_in.pid() or 0
        os.kill(process, signal.SIGSTOP)
        before = aws.run("default", "echo", "started")
        emulator.stop()
        os.kill(process, signal.SIGCONT)
        wait_for(lambda: "polling failed" in places.fargate_log.read_text(), "the stand-in to log that polling failed")
        emulator.start()
        assert aws.wait_for_end(aws.run("default", "true"))["containers"][0]["exitCode"] == 0
        assert stand_in.pid() == process
        assert aws.lines(before) == []
    finally:
        stand_in.stop()
        emulator.stop()


def test_another_process_finds_the_running_stand_in(stand_in: StandIn, emulator: Emulator, tmp_path: Path) -> None:
    later = StandIn(Places(tmp_path), emulator.endpoint)
    assert later.pid() is None
    stand_in.start("two", WORKER)
    assert later.pid() == stand_in.pid()
    assert later.serves("two")
    assert not later.serves("one")
    assert not StandIn(Places(tmp_path), "http://127.0.0.1:1").serves("two")


def test_a_stand_in_that_does_not_start_is_reported_with_its_log(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.stand_in.ROOT", tmp_path)
    with pytest.raises(FargateFailed, match=r"did not start: see .*fargate\.log"):
        stand_in.start("two", WORKER)
    assert stand_in.pid() is None


def test_only_local_image_names_exist() -> None:
    def exists(image: str) -> bool:
        return EcsTask({}, {"containerDefinitions": [{"name": "runner", "image": image}]}).image_exists

    assert exists("punctual-runner:local")
    assert exists("punctual-shell:local")
    assert not exists("punctual-unknown:local")
    assert not exists("123456789012.dkr.ecr.us-east-1.amazonaws.com/punctual-runner:local")


def wait_for(find: Callable[[], T], what: str, seconds: float = 30) -> T:
    """Poll `find` until it returns something, and return that. Fails with `what` after the time limit."""
    end = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < end, f"not within {seconds} seconds: {what}"
        time.sleep(0.05)
    return found


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def is_alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
