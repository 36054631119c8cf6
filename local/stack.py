"""The local stack: start, deploy, stop."""

import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from local import stack_file
from local.deploy import Deployment, fingerprint
from local.emulator import Emulator, answers, exclusive, recorded_port
from local.errors import DeployFailed, NotRunning
from local.places import DEFAULT_PORT, Places
from local.progress import Progress
from local.replay import Replay
from local.saved_state import saved_at
from local.stand_in import StandIn
from local.traffic import Traffic, wait_until_quiet
from local.users import DemoUsers
from local.warm_up import warm_up

HEALTH_SECONDS = 60


class Stack:
    """One local stack: the emulator of a state folder, Punctual deployed to it, and the stand-in for Fargate."""

    def __init__(self, places: Places, port: int | None = None, progress: Progress | None = None) -> None:
        self.places = places
        self.emulator = Emulator(places, _choose_port(places, port))
        self._progress = progress or Progress(quiet=True)
        self.stand_in = StandIn(places, self.emulator.endpoint)
        self._deployment = Deployment(places, self.emulator.endpoint)

    @classmethod
    def at(cls, directory: Path, port: int | None = None) -> "Stack":
        """The stack with the state folder `directory`, without console output: for tests."""
        return cls(Places(directory.absolute()), port)

    def up(self) -> dict[str, Any]:
        """Start the stack, deploy changes, and return the content of `.local/stack.json`. Idempotent.

        On failure, an emulator that this call started is stopped again. An emulator that was running before continues.
        """
        self.places.create()
        busy = "Another `make up` is running for this folder: wait for it."
        with exclusive(self.places.directory / "up.lock", busy):
            stopped = saved_at(self.places.state)
            if stopped is None and self.emulator.pid() is None:
                self.places.reset()  # an emulator that was killed before it ever saved leaves only partial state
            known = stack_file.read(self.places)
            started = self._start()
            try:
                return self._bring_up(known, stopped if started else None)
            except BaseException:
                self._undo(known, started)
                raise

    def down(self) -> bool:
        """Stop the stack and keep its state. `False` if it was not running.

        First, no new work starts. Then the containers stop: they report to functions, and resume from their
        checkpoints after the next `up`. When all reports are processed, the emulator saves its state.
        """
        known = stack_file.read(self.places)
        if self.emulator.pid() is None:
            self.stand_in.stop()
            return False
        with suppress(BotoCoreError, ClientError):  # an emulator that fails is stopped regardless
            if known:
                self._traffic(known).hold_all()
        self.stand_in.stop()
        if known:
            wait_until_quiet(self.places.emulator_log)
        return self.emulator.stop()

    def require(self) -> dict[str, Any]:
        """The content of `.local/stack.json`. Raises `NotRunning` if the stack is not running."""
        known = stack_file.read(self.places)
        if known is None or self.emulator.pid() is None:
            raise NotRunning
        return known

    def _undo(self, known: dict[str, Any] | None, started: bool) -> None:
        """Restore the previous state after a failed `up`. After a failed first `up`, remove everything."""
        if started and known is None:
            self.stand_in.stop()
            self.emulator.stop()
            self.places.reset()
            return
        with suppress(BotoCoreError, ClientError):
            self._deployment.wait_until_complete()
            if known:
                self._traffic(known).release_all()
        if started:
            self.down()

    def _traffic(self, stack: dict[str, Any]) -> Traffic:
        return Traffic(self.emulator.endpoint, stack["functions"])

    def _start(self) -> bool:
        if self.emulator.pid() is not None:
            self._progress.say(f"Already running on port {self.emulator.port}.")
            return False
        self.stand_in.stop()  # a stand-in that outlived its emulator is useless
        with self._progress.step(f"emulator on {self.emulator.endpoint}"):
            self.emulator.start()
        return True

    def _bring_up(self, known: dict[str, Any] | None, stopped: datetime | None) -> dict[str, Any]:
        self._deploy(known)
        outputs = self._deployment.outputs()
        stack = stack_file.describe(
            outputs,
            endpoint=self.emulator.endpoint,
            tokens=self._tokens(outputs),
            pid=self.emulator.pid() or 0,
            fargate_pid=self._provide_containers(outputs["Cluster"], outputs["WorkerFunction"]),
        )
        # The API first: the backlog may keep this machine busy for a while.
        self._traffic(stack).release("api")
        with self._progress.step("API answers"):
            _wait_until_healthy(f"{stack['api_url']}/health")
        with self._progress.step("functions are warm"):
            warm_up(self.emulator.endpoint, stack["functions"])
        if known and stopped:
            self._resume(stack, stopped)
        else:
            self._traffic(stack).release_all()
        stack_file.write(self.places, stack)
        return stack

    def _resume(self, stack: dict[str, Any], stopped: datetime) -> None:
        with self._progress.step("executions resumed"):
            replay, traffic = Replay(stack, stopped), self._traffic(stack)
            replay.run()
            traffic.release("reconciler")
            restarted = replay.restart_runs()
            traffic.release_all()
            replay.wake_admission()
        if not restarted:
            self._progress.say("The reconciler failed: see `make logs`. It runs again within the hour.")

    def _provide_containers(self, cluster: str, worker: str) -> int | None:
        """Start the stand-in for Fargate, and return its process id.

        It replaces Docker even where Docker exists: a Docker container cannot reach an emulator on loopback.
        """
        if not self.stand_in.serves(cluster):
            with self._progress.step("containers run as processes"):
                self.stand_in.start(cluster, worker)
        return self.stand_in.pid()

    def _tokens(self, outputs: dict[str, str]) -> dict[str, str]:
        with self._progress.step("demo users and tokens"):
            users = DemoUsers(
                self.places,
                self.emulator.endpoint,
                pool=outputs["UserPoolId"],
                client_id=outputs["UserPoolClientId"],
            )
            users.ensure()
            users.allow_sign_in_at(
                stack_file.console_url(self.emulator.endpoint, outputs["ApiId"]), client_id=outputs["ConsoleClientId"]
            )
            return users.tokens()

    def _deploy(self, known: dict[str, Any] | None) -> None:
        wanted = fingerprint()
        exists = self._deployment.exists()
        if exists and self._deployment.deployed() == wanted:
            self._progress.say("Nothing to deploy: the stack is up to date.")
            return
        self.places.deploy_log.write_text("")
        if not self._deployment.is_bootstrapped():
            with self._progress.step("cdk bootstrap"):
                self._deployment.bootstrap()
        with self._progress.step("cdk deploy"):
            if exists and known:
                self._traffic(known).hold_scheduling()
                wait_until_quiet(self.places.emulator_log)
            self._deployment.deploy(wanted)


def _choose_port(places: Places, wanted: int | None) -> int:
    """The port of the running emulator, else `wanted`, else the last port, else the default."""
    last = recorded_port(places)
    if last and Emulator(places, last).pid() is not None:
        return last
    return wanted or last or DEFAULT_PORT


def _wait_until_healthy(url: str) -> None:
    end = time.monotonic() + HEALTH_SECONDS
    while not answers(url, timeout=HEALTH_SECONDS):
        if time.monotonic() > end:
            raise DeployFailed(f"The API did not answer at {url} within {HEALTH_SECONDS} s: see `make logs`.")
        time.sleep(0.2)
