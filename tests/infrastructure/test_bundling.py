"""Bundling of assets: without Docker, and without build files in the source tree."""

from pathlib import Path

import pytest

from cdk import bundling
from cdk.settings import LOCAL, PROD


def test_the_bundle_of_a_function_contains_its_handler_and_the_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundling, "ROOT", tmp_path)
    _write(tmp_path / "functions/worker/handler.py", tmp_path / "tasks/echo.py")
    _write(tmp_path / "tasks/__pycache__/echo.pyc", tmp_path / "functions/worker/__pycache__/handler.pyc")
    output = tmp_path / "output"
    output.mkdir()
    assert bundling.TasksBeside(tmp_path / "functions/worker").try_bundle(str(output))
    shipped = {str(file.relative_to(output)) for file in output.rglob("*") if file.is_file()}
    assert shipped == {"handler.py", "tasks/echo.py"}


def test_wheels_are_installed_once_per_set_of_pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[list[str]] = []

    def install(command: list[str], **_: object) -> None:
        installed.append(command)
        target = Path(command[command.index("--target") + 1])
        _write(target / "package/module.py", target / "package/tests/test_module.py", target / "bin/tool")

    monkeypatch.setattr(bundling, "WHEELS", tmp_path / "wheels")
    monkeypatch.setattr(bundling.subprocess, "run", install)
    lock = tmp_path / "functions.lock"
    lock.write_text("package==1 --hash=sha256:1\n")
    for synth in ("first", "second"):
        output = tmp_path / synth
        output.mkdir()
        assert bundling.Wheels(lock, PROD.platform).try_bundle(str(output))
        shipped = {str(file.relative_to(output)) for file in output.rglob("*") if file.is_file()}
        assert shipped == {"python/package/module.py"}
    (command,) = installed
    assert command[command.index("--python-platform") + 1] == "aarch64-manylinux2014"
    assert command[command.index("--python-version") + 1] == "3.13"
    assert "--require-hashes" in command


def test_the_emulator_uses_wheels_for_this_machine(tmp_path: Path) -> None:
    lock = tmp_path / "functions.lock"
    lock.write_text("package==1 --hash=sha256:1\n")
    assert "--python-platform" not in bundling.Wheels(lock, LOCAL.platform).command(tmp_path)


def test_pins_and_platform_are_part_of_the_wheel_fingerprint(tmp_path: Path) -> None:
    lock = tmp_path / "functions.lock"
    fingerprints = set()
    for pins in ("package==1\n", "package==2\n"):
        lock.write_text(pins)
        fingerprints |= {bundling.Wheels(lock, stage.platform).fingerprint for stage in (LOCAL, PROD)}
    assert len(fingerprints) == 4


def _write(*files: Path) -> None:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
