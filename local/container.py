"""A container simulated as a process: its environment, start, stop and end."""

import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from local import processes
from local.aws import DUMMY_CREDENTIALS
from local.container_log import ContainerLog
from local.deployed_code import DeployedCode
from local.ecs_task import EcsTask, task_id
from local.places import REGION

# The share of the stop timeout that a task may use: the rest is a margin before SIGKILL.
USABLE_GRACE = 0.8


@dataclass(frozen=True)
class End:
    """How a container ended, in the terms of ECS. Without an exit code, it never started."""

    reason: str
    code: str
    exit_code: int | None = None


EXITED = End("Essential container in task exited", "EssentialContainerExited")


@dataclass(frozen=True)
class Host:
    """Settings shared by all containers of this machine."""

    folder: Path
    endpoint: str
    longest_grace: float
    logs: Any
    code: DeployedCode


class Container:
    """The process of one task, from its start until `end` returns how it ended."""

    def __init__(self, task: EcsTask, host: Host) -> None:
        self.task = task
        self.log = ContainerLog(host.logs, task.log)
        self.start_reported = False
        self._host = host
        self._grace = min(task.stop_seconds, host.longest_grace)
        self._process: subprocess.Popen[bytes] | None = None
        self._end: End | None = None
        self._because: End | None = None
        self._kill_at: float | None = None

    def start(self) -> None:
        """Start the process. If that fails, the container has ended with the reason that AWS would give."""
        if not self.task.image_exists:
            retried = "pull image manifest has been retried 1 time(s)"
            self._fail_start(f"CannotPullContainerError: {retried}: failed to resolve ref {self.task.image}")
            return
        try:
            search_path = self._host.code.paths() if self.task.is_runner else []
        except ClientError as error:
            self._fail_start(f"CannotPullContainerError: {error}")
            return
        try:
            self.log.create()
            self._spawn(search_path)
        except ClientError as error:
            self._fail_start(f"ResourceInitializationError: failed to validate logger args: {error}")
        except OSError as error:
            self._fail_start(f"CannotStartContainerError: failed to create task: {error}")

    @property
    def has_started(self) -> bool:
        return self._process is not None

    @property
    def stopping(self) -> bool:
        return self._kill_at is not None

    def stop(self, because: End | None = None) -> None:
        """Send SIGTERM, and SIGKILL after the grace period. `because` is the reason if ECS did not request the stop."""
        if self.end() is None and self._process:
            self._because = because
            self._kill_at = time.monotonic() + self._grace
            self._process.send_signal(signal.SIGTERM)

    def end(self) -> End | None:
        """How the container ended, or `None`. At its end, all processes of its session are killed."""
        if self._end is None and self._process:
            if self._kill_at is not None and time.monotonic() > self._kill_at:
                self._process.kill()
            status = self._process.poll()
            if status is not None:
                processes.kill_session(self._process.pid)
                self._end = replace(self._because or EXITED, exit_code=_exit_code(status))
        return self._end

    def _fail_start(self, reason: str) -> None:
        self._end = End(reason, "TaskFailedToStart")

    def _spawn(self, search_path: list[Path]) -> None:
        folder, lock = places_of(self._host.folder, self.task.arn)
        folder.mkdir(parents=True, exist_ok=True)
        environment = self._environment(folder) | {"PYTHONPATH": os.pathsep.join(map(str, search_path))}
        process = processes.start(
            _found(self.task.command, environment["PATH"]),
            lock=lock,
            cwd=folder,
            environment=environment,
            output=subprocess.PIPE,
            task=self.task.arn,
        )
        if process is None or process.stdout is None:
            raise OSError("the task is already running")
        self._process = process
        self.log.read(process.stdout)
        logging.info("%s started as process %d: %s", self.task.id, process.pid, " ".join(self.task.command))

    def _environment(self, folder: Path) -> dict[str, str]:
        return {
            "PATH": os.defpath,
            **processes.clean_environment(),
            **self.task.environment,
            **DUMMY_CREDENTIALS,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self._host.endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(folder),
            "PUNCTUAL_TASK_ARN": self.task.arn,
            "PUNCTUAL_GRACE_SECONDS": str(max(1, int(self._grace * USABLE_GRACE))),
        }


def places_of(folder: Path, arn: str) -> tuple[Path, Path]:
    """The working folder of a task's process, and the lock that the process holds."""
    return folder / task_id(arn), folder / f"{task_id(arn)}.lock"


def remove(folder: Path, arn: str) -> None:
    """Remove the files of a task's process."""
    own, lock = places_of(folder, arn)
    shutil.rmtree(own, ignore_errors=True)
    lock.unlink(missing_ok=True)


def kill_orphans(folder: Path) -> list[str]:
    """Kill the processes of a crashed stand-in, and return the ARNs of all tasks whose end it did not report."""
    found = []
    for lock in folder.glob("*.lock"):
        if left := processes.holder(lock):
            logging.info("killed orphaned process %d", left["pid"])
            processes.kill_session(left["pid"])
        if arn := processes.recorded(lock).get("task"):
            found.append(str(arn))
    return found


def _exit_code(status: int) -> int:
    """Docker's exit code: 128 plus the signal number if a signal ended the process."""
    return status if status >= 0 else 128 - status


def _found(command: list[str], path: str) -> list[str]:
    """The command with the absolute path of its program. Python is the interpreter of this process."""
    if not command:
        raise OSError("no command specified")
    program, *arguments = command
    if program in ("python", "python3"):
        return [sys.executable, *arguments]
    found = shutil.which(program, path=path)
    if found is None:
        raise OSError(f'exec: "{program}": executable file not found in $PATH')
    return [found, *arguments]
