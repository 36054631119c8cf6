"""The AWS emulator: one process on loopback per state folder."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from os import SEEK_END
from pathlib import Path

from local import processes
from local.errors import EmulatorFailed, PortTaken
from local.places import REGION, ROOT, Places
from local.saved_state import move, repair

START_SECONDS = 60
STOP_SECONDS = 60
LINGER_SECONDS = 3
# The first log line after the emulator has saved its state.
SAVED = b"SFTP: stopped"
HOST = "127.0.0.1"
GUARD = ROOT / "local" / "guard.py"


class Emulator:
    """Starts, finds and stops the emulator of one state folder. The process holds a lock there while it runs."""

    def __init__(self, places: Places, port: int) -> None:
        self.places = places
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    def pid(self) -> int | None:
        """The process id, or `None` if the emulator is not running."""
        found = processes.holder(self.places.lock)
        return int(found["pid"]) if found else None

    def start(self) -> None:
        """Start the emulator and wait until it answers. On failure, stop it and raise."""
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
        """Stop the emulator and wait until it has saved its state. `False` if it was not running."""
        pid = self.pid()
        if pid is None:
            return False
        self._wait_for_save(pid)
        # The process does not exit while a state machine waits for a container, which can take days: kill it.
        processes.wait_until_released(self.places.lock, LINGER_SECONDS)
        processes.kill_session(pid)  # includes running functions, which need the emulator
        processes.wait_until_released(self.places.lock, LINGER_SECONDS)
        if self._process:
            self._process.wait()
        return True

    def _wait_for_save(self, pid: int) -> None:
        with self.places.emulator_log.open("rb") as log:
            log.seek(0, SEEK_END)
            processes.terminate(self.places.lock)
            said, end = b"", time.monotonic() + STOP_SECONDS
            while SAVED not in said and self.pid() is not None:
                if time.monotonic() > end:
                    raise EmulatorFailed(
                        f"The emulator (process {pid}) did not stop within {STOP_SECONDS} s: end it with `kill {pid}`."
                    )
                time.sleep(0.05)
                said += log.read()

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
        repair(self.places.state)

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self.places.emulator_log.open("ab") as log:
            process = processes.start(
                # -P: the modules of this package must not replace others with the same names.
                [sys.executable, "-P", str(GUARD)],
                lock=self.places.lock,
                cwd=self.places.directory,
                environment=self._environment(),
                output=log,
                port=self.port,
            )
        if process is None:
            raise EmulatorFailed("Another `make up` is already starting the emulator: wait for it.")
        return process

    def _environment(self) -> dict[str, str]:
        """A clean environment, because every function on the emulator inherits it."""
        return processes.clean_environment() | {
            "BIND_HOST": HOST,
            "GATEWAY_PORT": str(self.port),
            "MINISTACK_REGION": REGION,
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self.places.state),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(self.places.objects),
            "TMPDIR": str(self.places.scratch),
            "LAMBDA_WARM_TTL_SECONDS": "3600",  # how long idle instances stay: see warm_up.py
            "IOT_MTLS_ENABLED": "0",  # its listener would bind to all interfaces
            "SFTP_ENABLED": "0",
            "PYTHONUNBUFFERED": "1",
        }

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if process.poll() is not None:
                raise EmulatorFailed(f"The emulator exited during its start: see {self.places.emulator_log}.")
            if answers(f"{self.endpoint}/_ministack/health"):
                return
            time.sleep(0.1)
        raise EmulatorFailed(f"The emulator did not answer within {START_SECONDS} s: see {self.places.emulator_log}.")


def recorded_port(places: Places) -> int | None:
    """The port of the last emulator of this state folder."""
    port = processes.recorded(places.lock).get("port")
    return int(port) if port else None


def answers(url: str, timeout: float = 5) -> bool:
    """Whether a GET of `url` is answered with success."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            return bool(200 <= response.status < 300)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def exclusive(file: Path, sentence: str) -> Iterator[None]:
    """Hold a lock on `file`. Raises `EmulatorFailed` with `sentence` if another process holds it."""
    with file.open("a") as handle:
        if not processes.try_lock(handle.fileno()):
            raise EmulatorFailed(sentence)
        yield


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
