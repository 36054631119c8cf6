"""`make up` for its user: on a running stack, and when it cannot start."""

from __future__ import annotations

import socket
import stat
from collections import Counter
from pathlib import Path

import pytest

from local.errors import PortTaken
from local.stack import Stack
from local.warm_up import INSTANCES
from tests.e2e.checkout import changed_checkout, run
from tests.e2e.conftest import free_port
from tests.e2e.processes import children, listening
from tests.e2e.punctual import Punctual

LOOPBACK = "0100007F"  # 127.0.0.1 as /proc/net/tcp shows it


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_the_stack_file_is_readable_only_by_its_owner_and_has_all_that_a_client_needs(
    punctual: Punctual, stack: Stack
) -> None:
    path = stack.places.directory / "stack.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {"api_url", "endpoint_url", "region", "tokens", "tables", "queues", "functions"} <= set(punctual.stack)
    assert set(punctual.stack["tokens"]) == {"admin", "operator", "viewer", "payments"}
    tables = {
        *("jobs", "executions", "parts", "timers", "gates", "signals"),
        *("logs", "statistics", "operations", "idempotency", "revisions"),
    }
    assert set(punctual.stack["tables"]) == tables


def test_the_emulator_listens_on_loopback_only(punctual: Punctual, stack: Stack) -> None:
    assert listening(punctual.stack["pid"]) == [(LOOPBACK, stack.emulator.port)]


def test_the_first_burst_of_a_fresh_stack_finds_warm_workers(punctual: Punctual) -> None:
    instances = Counter(
        name
        for name in INSTANCES
        for line in children(punctual.stack["pid"]).values()
        if f"{name.title()}Function" in line
    )
    assert instances >= Counter(INSTANCES)


def test_a_second_up_reports_the_running_stack_and_changes_nothing(punctual: Punctual, stack: Stack) -> None:
    before = punctual.stack
    deployed_at = (stack.places.directory / "deploy.log").stat().st_mtime_ns
    second = run("local", "up", PUNCTUAL_LOCAL_DIR=str(stack.places.directory))
    assert second.returncode == 0, second.stderr
    assert f"Already running on port {stack.emulator.port}" in second.stdout
    assert (stack.places.directory / "deploy.log").stat().st_mtime_ns == deployed_at
    now = stack.require()
    assert {name: now[name] for name in ("pid", "api_url", "tables", "functions")} == {
        name: before[name] for name in ("pid", "api_url", "tables", "functions")
    }


def test_a_port_in_use_is_reported_and_nothing_is_left_behind(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken, match=f"Port {port} is in use"):
            Stack.at(tmp_path / "state", port).up()
        result = run("local", "--port", str(port), "up", PUNCTUAL_LOCAL_DIR=str(tmp_path / "state"))
    assert result.returncode == 1
    assert f"Port {port} is in use by another program" in result.stderr
    assert "Traceback" not in result.stderr
    assert Stack.at(tmp_path / "state").emulator.pid() is None


def test_a_missing_node_is_reported() -> None:
    result = run("local.install", PATH="/nowhere")
    assert result.returncode == 1
    assert "Punctual needs Node 20 or newer" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("file", "text", "cause"),
    [
        ("cdk/stack.py", 'raise RuntimeError("this stack is broken on purpose")', "this stack is broken on purpose"),
        (
            "tasks/report.py",
            "import pandas",
            "tasks/report.py, line 2: ModuleNotFoundError: No module named 'pandas': add pandas to layers/vendor/"
            "requirements.txt",
        ),
    ],
)
def test_a_failed_deploy_is_reported_with_its_cause_and_leaves_nothing_running(
    tmp_path: Path, file: str, text: str, cause: str
) -> None:
    copy = changed_checkout(tmp_path / "copy", file, text)
    port = free_port()
    result = run("local", "--port", str(port), "up", cwd=copy)
    assert result.returncode == 1
    assert cause in result.stderr
    assert is_free(port)
    assert not (copy / ".local" / "stack.json").exists()
