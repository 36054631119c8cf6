"""Refuses to deploy modules of `tasks/` that the functions could not import."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

from cdk.bundling import ROOT, Wheels
from cdk.lock import FOR_FUNCTIONS
from cdk.settings import LOCAL

IMPORTER = Path(__file__).with_name("import_tasks.py")
ENGINE = ROOT / "layers" / "punctual" / "python"


class TasksBroken(Exception):
    """Some modules cannot be imported. The message names file, line and fix of each."""


def check_tasks(root: Path = ROOT, lock: Path = FOR_FUNCTIONS) -> None:
    """Import each module of `root/tasks` with the packages of `lock`. Raises `TasksBroken`."""
    vendor = Wheels(lock, LOCAL.platform).folder()
    folders = (root, ENGINE, vendor, sysconfig.get_path("purelib"))
    # -I and -S hide the packages of this machine, which are not deployed.
    command = [sys.executable, "-I", "-S", str(IMPORTER), *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        broken = json.loads(done.stdout)
    except ValueError:
        text = f"The import of tasks/ ended its process with exit code {done.returncode}, so nothing was deployed:"
        raise TasksBroken(f"{text}\n{done.stderr.strip()}") from None
    if broken:
        raise TasksBroken("\n".join(["These modules of tasks/ cannot be imported, so nothing was deployed:", *broken]))
