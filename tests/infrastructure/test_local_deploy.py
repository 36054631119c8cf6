"""`make up`: when it deploys and installs, and the file that describes the stack to clients."""

import subprocess
from pathlib import Path

import pytest

from local import deploy, install, stack_file


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(deploy, "ROOT", tmp_path)
    monkeypatch.setattr(install, "ROOT", tmp_path)
    for source in ("functions/worker/handler.py", "tasks/echo.py", "app.py"):
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / source).write_text("1")
    return tmp_path


@pytest.mark.parametrize("source", ["functions/worker/handler.py", "tasks/echo.py", "app.py", "tasks/new.py"])
def test_a_change_of_the_stacks_sources_is_deployed(checkout: Path, source: str) -> None:
    before = deploy.fingerprint()
    (checkout / source).write_text("2")
    assert deploy.fingerprint() != before


def test_bytecode_files_are_not_a_change(checkout: Path) -> None:
    before = deploy.fingerprint()
    (checkout / "tasks/__pycache__").mkdir()
    (checkout / "tasks/__pycache__/echo.cpython-311.pyc").write_text("")
    assert deploy.fingerprint() == before


def test_the_api_url_needs_no_escaping_anywhere() -> None:
    url = stack_file.api_url("http://127.0.0.1:4566", "a1b2c3")
    assert url == "http://127.0.0.1:4566/_aws/execute-api/a1b2c3"


def test_the_stack_file_contains_the_addresses_that_a_client_needs() -> None:
    class AnyOutput(dict[str, str]):
        def __missing__(self, name: str) -> str:
            return f"<{name}>"

    described = stack_file.describe(AnyOutput(), endpoint="http://127.0.0.1:4566", tokens={"admin": "t"}, pid=1)
    assert described["tables"]["executions"] == "<ExecutionsTable>"
    assert described["queues"]["high"] == "<HighQueueUrl>"
    assert described["queues"]["planner_dead_letters"] == "<PlannerDeadLetterQueueUrl>"
    assert described["functions"]["worker"] == "<WorkerFunction>"
    assert {"api_url", "endpoint_url", "region", "tokens", "results_bucket", "pid"} <= set(described)


@pytest.mark.parametrize(
    ("found", "advice"), [(False, "install Node and try again"), (True, "the installed version is v18.3.0")]
)
def test_a_missing_or_old_node_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], found: bool, advice: str
) -> None:
    old = subprocess.CompletedProcess([], 0, stdout="v18.3.0\n")
    monkeypatch.setattr(install.shutil, "which", lambda _: "node" if found else None)
    monkeypatch.setattr(install.subprocess, "run", lambda *_, **__: old)
    assert install.main() == 1
    message = capsys.readouterr().err.strip()
    assert "Punctual needs Node 20 or newer" in message
    assert advice in message
    assert "\n" not in message


def test_packages_are_installed_once_per_set_of_pins(checkout: Path) -> None:
    pins, folder, installed = checkout / "pins.txt", checkout / "packages", []

    def install_packages() -> None:
        folder.mkdir(exist_ok=True)
        installed.append(pins.read_text())

    for text in ("one", "one", "two"):
        pins.write_text(text)
        install.once(folder, ("pins.txt",), "packages", install_packages)
    assert installed == ["one", "two"]
