"""The local AWS: one process on loopback that belongs to one state folder."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from local.errors import EmulatorFailed, PortTaken
from local.places import REGION, Places
from local.saved_state import mend, move

START_SECONDS = 60
STOP_SECONDS = 60
HOST = "127.0.0.1"


class Emulator:
    """Starts, finds and stops the emulator of one state folder.

    The running process holds a lock on a file in that folder for as long as it lives, whatever happens
    to whoever started it. So a recorded process id is never mistaken for another program's.
    """

    def __init__(self, places: Places, port: int) -> None:
        self.places = places
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    def pid(self) -> int | None:
        """The process id if it runs, else `None`."""
        if not self.places.lock.exists():
            return None
        with self.places.lock.open("r+") as file:
            if _try_lock(file.fileno()):
                return None
            return int(json.loads(file.read())["pid"])

    def start(self) -> None:
        """Start it and return when it answers. Leaves nothing behind if it does not."""
        if not _is_free(self.port):
            raise PortTaken(self.port)
        self._prepare()
        self._process = self._spawn()
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> bool:
        """Ask it to save its state and end; wait until it did. `False` if it was not running."""
        pid = self.pid()
        if pid is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + STOP_SECONDS
        while self.pid() is not None:
            if time.monotonic() > end:
                raise EmulatorFailed(f"The emulator (process {pid}) did not stop in {STOP_SECONDS} s.")
            time.sleep(0.05)
        if self._process:
            self._process.wait()
        # A function that was at work has lost its AWS: it ends too. The group is that of the emulator's session.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        return True

    def _prepare(self) -> None:
        self.places.create()
        for folder in (self.places.state, self.places.objects):
            folder.mkdir(exist_ok=True)
        shutil.rmtree(self.places.scratch, ignore_errors=True)
        self.places.scratch.mkdir()
        if self.places.emulator_log.exists():
            self.places.emulator_log.replace(self.places.emulator_log.with_suffix(".old.log"))
        last = recorded_port(self.places)
        if last and last != self.port:
            move(self.places.state, last, self.port)
        mend(self.places.state)

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self.places.lock.open("a+") as lock, self.places.emulator_log.open("ab") as log:
            if not _try_lock(lock.fileno()):
                raise EmulatorFailed("Another `make up` is starting the emulator already.")
            process = subprocess.Popen(
                [sys.executable, "-m", "ministack"],
                cwd=self.places.directory,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[lock.fileno()],
                start_new_session=True,
            )
            lock.truncate(0)
            lock.write(json.dumps({"pid": process.pid, "port": self.port}))
            return process

    def _environment(self) -> dict[str, str]:
        """A clean one: every function on this emulator inherits it."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {
            "BIND_HOST": HOST,
            "GATEWAY_PORT": str(self.port),
            "MINISTACK_REGION": REGION,
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self.places.state),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(self.places.objects),
            "TMPDIR": str(self.places.scratch),
            "IOT_MTLS_ENABLED": "0",  # it would listen on every interface
            "SFTP_ENABLED": "0",
            "PYTHONUNBUFFERED": "1",
        }

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if process.poll() is not None:
                raise EmulatorFailed(f"The emulator ended at once: see {self.places.emulator_log}.")
            if answers(f"{self.endpoint}/_ministack/health"):
                return
            time.sleep(0.1)
        raise EmulatorFailed(f"The emulator did not answer in {START_SECONDS} s: see {self.places.emulator_log}.")


def recorded_port(places: Places) -> int | None:
    """The port of the last emulator that this folder had."""
    try:
        return int(json.loads(places.lock.read_text())["port"])
    except (OSError, ValueError, KeyError):
        return None


def answers(url: str, timeout: float = 5) -> bool:
    """Whether a GET of `url` is answered with success."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            return bool(200 <= response.status < 300)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def exclusive(file: Path, sentence: str) -> Iterator[None]:
    """Hold `file` while inside, or raise with `sentence` if somebody else does."""
    with file.open("a") as handle:
        if not _try_lock(handle.fileno()):
            raise EmulatorFailed(sentence)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
