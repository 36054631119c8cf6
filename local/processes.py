"""Background processes that outlive the command that started them.

Such a process holds a lock on a file while it runs, and the file contains its process id. So a recorded process id is
never mistaken for another program's.
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
    """The variables that background processes inherit from the user's environment."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def holder(lock: Path) -> dict[str, Any] | None:
    """The record of the process that holds `lock`, with its `pid`; `None` if the lock is free."""
    if not lock.exists():
        return None
    with lock.open("r+") as file:
        if try_lock(file.fileno()):
            return None
    end = time.monotonic() + RECORD_SECONDS
    while not (found := recorded(lock)):  # the process is being started
        if time.monotonic() > end:
            raise LocalError(f"{lock} is locked by a process that has not recorded its id.")
        time.sleep(0.01)
    return found


def recorded(lock: Path) -> dict[str, Any]:
    """The record of the last process that held `lock`, running or not."""
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
    """Start `command` in its own session, holding `lock`, and record its id and `details` in the lock file.

    Returns `None` if another process holds the lock. Raises `OSError` if the program does not exist.
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
    """Send SIGTERM to the process that holds `lock`, if any."""
    if found := holder(lock):
        with suppress(ProcessLookupError):
            os.kill(found["pid"], signal.SIGTERM)


def wait_until_released(lock: Path, seconds: float) -> bool:
    """Wait until `lock` is free; `False` if it is still held after `seconds`."""
    end = time.monotonic() + seconds
    while holder(lock) is not None:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def kill_session(pid: int) -> None:
    """Kill all processes in the session of `pid`."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
