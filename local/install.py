"""Installs the dependencies of `make up` and `make test` once. Uses only the standard library."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
NODE_MODULES = ROOT / "node_modules"
PYTHON_INPUTS = ("requirements.txt", "requirements-dev.txt", "constraints.txt")
NODE_INPUTS = ("package.json", "package-lock.json")
OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 20


class CannotInstall(Exception):
    """Printed without a traceback."""


def main() -> int:
    """Install missing or changed dependencies. On failure, print one sentence and return 1."""
    try:
        _check_python()
        _check_node()
        once(VENV, PYTHON_INPUTS, "Python packages in .venv", _install_python)
        once(NODE_MODULES, NODE_INPUTS, "CDK command line in node_modules", _install_node)
    except CannotInstall as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _check_python() -> None:
    if sys.version_info < OLDEST_PYTHON:
        raise CannotInstall(
            "Punctual needs Python {}.{} or newer; {} is {}.{}. Choose one with `make … PYTHON=python3.13`.".format(
                *OLDEST_PYTHON, sys.executable, *sys.version_info
            )
        )


def _check_node() -> None:
    needed = f"Punctual needs Node {OLDEST_NODE} or newer, with npm, to run the CDK"
    if not shutil.which("node") or not shutil.which("npm"):
        raise CannotInstall(f"{needed}: install Node and try again.")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    match = re.match(r"v(\d+)\.", version)
    if not match or int(match.group(1)) < OLDEST_NODE:
        raise CannotInstall(f"{needed}; the installed version is {version or 'unknown'}.")


def once(folder: Path, inputs: tuple[str, ...], title: str, install: Callable[[], None]) -> None:
    """Install into `folder`, unless its stamp shows that it was installed from the same inputs."""
    stamp = folder / ".installed"
    wanted = _fingerprint(inputs)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"… {title}", end="", flush=True)
    start = time.monotonic()
    install()
    stamp.write_text(wanted)
    print(f"\r✓ {title} {time.monotonic() - start:.1f} s")


def _install_python() -> None:
    if not _works(PYTHON):
        shutil.rmtree(VENV, ignore_errors=True)
        _run("The virtual environment", [sys.executable, "-m", "venv", str(VENV)])
    limits = ["--constraint", "constraints.txt"]
    _run("pip", [str(PYTHON), "-m", "pip", "install", "--quiet", *limits, "uv"])
    uv = [str(PYTHON), "-m", "uv", "pip", "install", "--quiet", "--python", str(PYTHON)]
    _run("uv", [*uv, *limits, "--requirement", "requirements-dev.txt"])


def _install_node() -> None:
    _run("npm", ["npm", "ci", "--no-progress"])


def _works(python: Path) -> bool:
    if not python.exists():
        return False
    return subprocess.run([str(python), "-c", "import pip"], capture_output=True, check=False).returncode == 0


def _run(what: str, command: list[str]) -> None:
    environment = {**os.environ, "UV_LINK_MODE": "copy", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode != 0:
        raise CannotInstall(f"{what} failed:\n{done.stdout.strip()[-2000:]}")


def _fingerprint(inputs: tuple[str, ...]) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for name in inputs:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
