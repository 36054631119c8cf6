"""Starts, finds and stops the process of the stand-in for Fargate (local/fargate.py)."""

import subprocess
import sys
import time

from local import processes
from local.container import kill_orphans
from local.errors import FargateFailed
from local.fargate import READY
from local.places import ROOT, Places

START_SECONDS = 60
LONGEST_GRACE = 10.0
"""The maximum stop timeout of a container, even if its task definition allows minutes."""
# Additional time for the last reports.
STOP_SECONDS = 20


class StandIn:
    """The stand-in of one state folder. The process holds a lock there while it runs."""

    def __init__(self, places: Places, endpoint: str, longest_grace: float = LONGEST_GRACE) -> None:
        self._places = places
        self._endpoint = endpoint
        self._longest_grace = longest_grace
        self._process: subprocess.Popen[bytes] | None = None

    def pid(self) -> int | None:
        """The process id, or `None` if the stand-in is not running."""
        found = processes.holder(self._places.fargate_lock)
        return int(found["pid"]) if found else None

    def serves(self, cluster: str) -> bool:
        """Whether the stand-in is running for this cluster of this emulator."""
        found = processes.holder(self._places.fargate_lock) or {}
        return (found.get("endpoint"), found.get("cluster")) == (self._endpoint, cluster)

    def start(self, cluster: str, worker: str) -> None:
        """Start it for `cluster`, replacing one for another cluster, and wait until it polls for tasks.

        Containers run the deployed code of the function `worker`.
        """
        self.stop()
        for folder in (self._places.containers, self._places.code):
            folder.mkdir(parents=True, exist_ok=True)
        if self._places.fargate_log.exists():
            self._places.fargate_log.replace(self._places.fargate_log.with_suffix(".old.log"))
        process = self._process = self._spawn(cluster, worker)
        end = time.monotonic() + START_SECONDS
        while READY not in self._places.fargate_log.read_text(errors="replace"):
            if process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise FargateFailed(f"The stand-in for Fargate did not start: see {self._places.fargate_log}.")
            time.sleep(0.05)

    def stop(self) -> bool:
        """Stop it and its containers, and kill processes that do not stop in time. `False` if it was not running."""
        pid = self.pid()
        processes.terminate(self._places.fargate_lock)
        if pid is not None and not processes.wait_until_released(
            self._places.fargate_lock, self._longest_grace + STOP_SECONDS
        ):
            processes.kill_session(pid)
        if self._process:
            self._process.wait()
        kill_orphans(self._places.containers)
        return pid is not None

    def _spawn(self, cluster: str, worker: str) -> subprocess.Popen[bytes]:
        with self._places.fargate_log.open("ab") as log:
            process = processes.start(
                [
                    *(sys.executable, "-m", "local.fargate"),
                    *("--endpoint", self._endpoint, "--cluster", cluster, "--worker", worker),
                    *("--folder", str(self._places.containers), "--code", str(self._places.code)),
                    *("--longest-grace", str(self._longest_grace)),
                ],
                lock=self._places.fargate_lock,
                cwd=ROOT,
                environment=processes.clean_environment(),
                output=log,
                endpoint=self._endpoint,
                cluster=cluster,
            )
        if process is None:
            raise FargateFailed("Another `make up` is already starting the stand-in for Fargate: wait for it.")
        return process
