"""The commands of a developer, in this checkout or in a changed copy of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALLED = (".venv", "node_modules", ".build")
"""What a copy shares with this checkout."""
UNNEEDED = (".git", ".local", "cdk.out", "__pycache__", ".*_cache")


def run(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def changed_checkout(copy: Path, file: str, text: str) -> Path:
    """A copy of this checkout, with a line more in one of its files."""
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*INSTALLED, *UNNEEDED))
    for name in INSTALLED:
        (copy / name).symlink_to(ROOT / name)
    with (copy / file).open("a") as changed:
        changed.write(f"\n{text}\n")
    return copy
