"""Processes that live on when whoever started them is gone, and that are found again.

Such a process holds a lock on a file for as long as it lives, and the file says its process id. So a recorded
process id is never mistaken for another program's.
"""

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from local.errors import LocalError

RECORD_SECONDS = 2
KEPT = ("PATH", "HOME", "LANG")


def clean_environment() -> dict[str, str]:
    """What every process here may know of the person's own environment."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def holder(lock: Path) -> dict[str, Any] | None:
    """What is recorded of the process that holds `lock`, with its `pid`; `None` if there is none."""
    if not lock.exists():
        return None
    with lock.open("r+") as file:
        if try_lock(file.fileno()):
            return None
    end = time.monotonic() + RECORD_SECONDS
    while not (found := recorded(lock)):  # it is just being started
        if time.monotonic() > end:
            raise LocalError(f"Some process holds {lock}, and does not say which.")
        time.sleep(0.01)
    return found


def recorded(lock: Path) -> dict[str, Any]:
    """What is recorded of the last process that held `lock`, alive or not."""
    try:
        return dict(json.loads(lock.read_text()))
    except (OSError, ValueError):
        return {}


def start(
    command: list[str],
    *,
    lock: Path,
    cwd: Path,
    environment: Mapping[str, str],
    output: IO[bytes] | int,
    **details: Any,
) -> subprocess.Popen[bytes] | None:
    """Start `command` in a session of its own, holding `lock`, which records `details` too.

    `None` if another process holds it. Raises `OSError` if there is no such program.
    """
    with lock.open("a+") as file:
        if not try_lock(file.fileno()):
            return None
        file.truncate(0)
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[file.fileno()],
            start_new_session=True,
        )
        file.write(json.dumps({"pid": process.pid, **details}))
        return process


def terminate(lock: Path) -> None:
    """Ask whoever holds `lock` to end."""
    if found := holder(lock):
        with suppress(ProcessLookupError):
            os.kill(found["pid"], signal.SIGTERM)


def gone(lock: Path, seconds: float) -> bool:
    """Wait until nobody holds `lock`; `False` if somebody still does after so many seconds."""
    end = time.monotonic() + seconds
    while holder(lock) is not None:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def kill_session(pid: int) -> None:
    """End at once what is left of the session that `pid` was started with."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
