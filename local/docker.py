"""Docker, where there is one: then the emulator itself runs the containers."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from local.errors import DeployFailed
from local.places import ROOT
from local.processes import clean_environment

IMAGE = "punctual-runner:local"
ANSWER_SECONDS = 10


def engine_answers() -> bool:
    """Whether the emulator will find an engine. It asks with the package `docker`, in the same environment."""
    if find_spec("docker") is None or shutil.which("docker") is None:
        return False
    try:
        info = subprocess.run(
            ["docker", "info"], env=clean_environment(), capture_output=True, timeout=ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return info.returncode == 0


def build_image(log: Path) -> None:
    """Build the runner's image from ./Dockerfile, under the name that the task definition has on this machine."""
    with log.open("ab") as output:
        built = subprocess.run(
            ["docker", "build", "--tag", IMAGE, str(ROOT)],
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if built.returncode != 0:
        raise DeployFailed(f"`docker build` failed: see {log}.")
