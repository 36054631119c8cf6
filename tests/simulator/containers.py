"""Fargate: the containers of the long lane. Each is a process that calls the reporter as Punctual's runner does."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from punctual.aws.reporter_client import ReporterClient, ReporterUnreachable
from punctual.domain.long_lane.assignment import VARIABLE, Assignment, read_assignment
from tests.simulator.aws.account import Account
from tests.simulator.aws.ecs import Task
from tests.simulator.event_sources import Invoker
from tests.simulator.kernel import Process

START_SECONDS = (4.0, 20.0, 70.0)
DURATIONS = (15.0, 2.0, 60.0, 200.0)
"""Seconds that the task of a part runs."""
OUTCOMES = ("succeeded", "failed", "fatal")
HEARTBEAT = 10.0
KILL_AFTER = 120.0
"""Seconds after a stop request in which ECS kills the container."""


@dataclass
class Containers:
    account: Account
    invoker: Invoker
    observed: Callable[[Assignment], AbstractContextManager[None]]
    """Entered while the task of a part runs."""
    reports: dict[Process, int]
    """The attempt whose container has called the reporter."""
    running: dict[str, Process] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.account.functions.functions["reporter"] = self._call_reporter

    def start(self, task_arn: str, _cluster: str) -> None:
        faults, task = self.invoker.faults, self.account.ecs.tasks[task_arn]
        seconds = faults.choices.pick(f"container/{_number(task_arn)}/start", START_SECONDS, 0.3)
        self.invoker.kernel.after(seconds, partial(self._run, task))

    def poll(self) -> None:
        """Wake the containers that were asked to stop."""
        for arn, process in self.running.items():
            task = self.account.ecs.tasks[arn]
            if task.is_stop_requested and "kill_at" not in task.details:
                task.details["kill_at"] = self.invoker.kernel.now + timedelta(seconds=KILL_AFTER)
                self.invoker.kernel.after(KILL_AFTER, partial(process.kill, "ECS stops it"))
                process.poke()

    def _run(self, task: Task) -> None:
        if task.is_stop_requested:
            self._stopped(task, None, "")
            return
        self._send_event(task, "RUNNING")
        process = self.invoker.kernel.start(
            f"container-{_number(task.arn)}", partial(self._main, task), ends=partial(self._ended, task)
        )
        self.running[task.arn] = process

    def _main(self, task: Task) -> None:
        """What ``punctual.runtime.container.main`` does."""
        environment = _environment(task)
        assignment = read_assignment(environment[VARIABLE])
        client = self.account.client("lambda")
        reporter = ReporterClient("reporter", assignment, client, sleep=self._current.suspend)
        work = reporter.call_with_retries("claim", token=environment["PUNCTUAL_TASK_TOKEN"], task_arn=task.arn)
        if work["ok"]:
            with self.observed(assignment):
                outcome = self._work(task, reporter, work["parameters"].get("seconds"), work["seconds"])
            reporter.call_with_retries("conclude", result={"outcome": outcome, "value": None, "error": _error(outcome)})

    def _work(self, task: Task, reporter: ReporterClient, at_least: float | None, at_most: float) -> str:
        """Run the task: heartbeats and checkpoints, until it ends, is asked to stop, or its timeout is over."""
        kernel, choices = self.invoker.kernel, self.invoker.faults.choices
        where, assignment = f"container/{_number(task.arn)}", reporter.assignment
        seconds = choices.pick(f"{where}/seconds", DURATIONS, 0.5) if self.invoker.faults.enabled else DURATIONS[0]
        seconds = max(seconds, at_least or 0) if self.invoker.faults.enabled else seconds
        is_too_slow, ends_at = seconds > at_most, kernel.now + timedelta(seconds=min(seconds, at_most))
        while kernel.now < ends_at:
            process = self._current
            process.poke_at(min(ends_at, kernel.now + timedelta(seconds=HEARTBEAT)))
            process.block()
            if kernel.now >= ends_at:
                break
            try:
                if choices.happens(f"{where}/checkpoint", 0.3):
                    reply = reporter.call("checkpoint", state={"attempt": assignment.attempt})
                else:
                    reply = reporter.call("heartbeat", progress=None)
            except ReporterUnreachable:
                continue
            if not reply["ok"]:
                return "interrupted"
            if reply["stop_in"] is not None:
                return "cancelled"
            if reply["preempt_reason"] or task.is_stop_requested:
                return "interrupted"
        return "timed_out" if is_too_slow else choices.pick(f"{where}/outcome", OUTCOMES, 0.3)

    def _ended(self, task: Task, process: Process) -> None:
        self.running.pop(task.arn, None)
        self._stopped(task, 137 if process.is_dead else 0 if process.error is None else 1, "EssentialContainerExited")

    def _stopped(self, task: Task, exit_code: int | None, stop_code: str) -> None:
        task.stop("stopped", "UserInitiated" if task.is_stop_requested else stop_code, exit_code)
        self._send_event(task, "STOPPED")

    def _send_event(self, task: Task, status: str) -> None:
        """EventBridge delivers the state change of a task to the observer: at least once, and perhaps late."""
        detail = {"taskArn": task.arn, "lastStatus": status, "overrides": task.overrides}
        if status == "STOPPED":
            detail |= {name: task.details[name] for name in ("stoppedReason", "stopCode", "containers")}
        event = {"detail-type": "ECS Task State Change", "detail": detail}
        copies = 2 if self.invoker.faults.happens("duplicate", "ecs") else 1
        for _ in range(copies):
            self.invoker.kernel.after(0.3 + self.invoker.faults.lag("ecs"), partial(self._deliver, event))

    def _deliver(self, event: dict[str, Any]) -> None:
        def ended(process: Process) -> None:
            if process.is_dead or process.error is not None:  # EventBridge retries
                self.invoker.kernel.after(5, partial(self._deliver, event))

        self.invoker.invoke("observer", json.loads(json.dumps(event)), ended)

    def _call_reporter(self, event: dict[str, Any]) -> Any:
        """A synchronous invocation by a container."""
        caller, results = self._current, list[Process]()

        def ended(child: Process) -> None:
            results.append(child)
            caller.poke()

        self.reports[self.invoker.invoke("reporter", event, ended)] = event["assignment"]["attempt"]
        while not results:
            caller.block()
        [child] = results
        if child.is_dead:
            raise RuntimeError("the function ended without an answer")
        if child.error is not None:
            raise child.error
        return child.result

    @property
    def _current(self) -> Process:
        process = self.invoker.kernel.current
        assert process is not None
        return process


def _environment(task: Task) -> dict[str, str]:
    [override] = task.request["overrides"]["ContainerOverrides"]
    return {one["Name"]: one["Value"] for one in override["Environment"]}


def _error(outcome: str) -> dict[str, Any] | None:
    return None if outcome == "succeeded" else {"type": "Error", "message": "as chosen", "trace": None}


def _number(task_arn: str) -> int:
    return int(task_arn.rpartition("/")[2], 16)
