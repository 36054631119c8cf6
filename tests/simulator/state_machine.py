"""Step Functions: interprets the state machine of the long lane, as deployed, state by state.

Only what that state machine uses is interpreted; anything else raises ``NotImplementedError``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from punctual.domain.instant import from_text
from tests.simulator.aws.account import Account
from tests.simulator.aws.states import RUNNING, Run, TaskToken
from tests.simulator.event_sources import Invoker
from tests.simulator.kernel import Process

DEFINITION = json.loads((Path(__file__).parents[2] / "cdk" / "state_machines" / "long.asl.json").read_text())
LAMBDA, LAMBDA_CALLBACK, ECS_CALLBACK = (
    "arn:aws:states:::lambda:invoke",
    "arn:aws:states:::lambda:invoke.waitForTaskToken",
    "arn:aws:states:::ecs:runTask.waitForTaskToken",
)
SERVICE_ERROR = "Lambda.ServiceException"
SLOT_TIMEOUTS = (None, None, None, 200)
"""After how many seconds a request for a slot times out; ``None``: after the two weeks of the definition."""
BEGINNING = datetime.min.replace(tzinfo=UTC)
NO_CAPACITY = timedelta(minutes=1)
"""How long Fargate has no capacity: longer than the state repeats a start."""
Data = dict[str, Any]


class StateError(Exception):
    def __init__(self, name: str, cause: str = "") -> None:
        super().__init__(f"{name}: {cause}")
        self.name, self.cause = name, cause


@dataclass
class StateMachines:
    account: Account
    invoker: Invoker
    start_container: Callable[[str, str], None]
    """Called with the ARN of an ECS task and its cluster after ``RunTask``."""
    _no_capacity_until: datetime = BEGINNING
    _driven: dict[str, list[Process]] = field(default_factory=dict)
    """The processes of each run, by ARN."""

    def poll(self) -> None:
        """Drive new runs, end stopped runs, and continue runs whose callbacks have arrived."""
        for arn, run in self.account.states.runs.items():
            if arn not in self._driven and run.status == RUNNING:
                self._driven[arn] = []
                self._spawn(run, f"run {run.name[:19]}{run.name[-12:]}", partial(self._drive, run))
            elif run.status != RUNNING and self._driven.get(arn):
                processes, self._driven[arn] = self._driven[arn], []
                for process in processes:
                    process.kill("its run has ended")
            elif any(not token.is_waiting for token in run.tokens):
                for process in self._driven.get(arn, ()):
                    process.poke()

    def _spawn(
        self, run: Run, name: str, act: Callable[[], Any], ends: Callable[[Process], None] | None = None
    ) -> None:
        process = self.invoker.kernel.start(name, act, ends=ends or (lambda _: None))
        self._driven[run.arn].append(process)

    def _drive(self, run: Run) -> None:
        try:
            self._execute(run, DEFINITION, json.loads(run.input), {"Execution": {"Id": run.arn}})
            status = "SUCCEEDED"
        except StateError as error:
            self.invoker.kernel.log(f"run {run.name} failed: {error}")
            status = "FAILED"
        self.account.states.end(run.arn, status)
        self._driven[run.arn] = []

    def _execute(self, run: Run, machine: Data, data: Data, context: Data) -> Data:
        name = machine["StartAt"]
        while True:
            state = machine["States"][name]
            self.invoker.kernel.log(f"{self._current.name}: {name}")
            kind, following = state["Type"], state.get("Next")
            if kind == "Succeed":
                return data
            if kind == "Choice":
                following = _choose(state, data)
            elif kind == "Wait":
                self._wait_until(from_text(_path(state["TimestampPath"], data)))
            elif kind == "Pass":
                data = _fill(state["Parameters"], data, context)
            elif kind == "Map":
                data = self._map(run, state, data, context)
            else:
                data, caught = self._task(run, state, data, context)
                following = caught or following
            if state.get("End"):
                return data
            name = following

    def _map(self, run: Run, state: Data, data: Data, context: Data) -> Data:
        items = list(_jsonata(state["Items"], data, None))
        limit = _jsonata(state["MaxConcurrency"], data, None)
        waiting, running, errors = list(items), [0], list[Exception]()
        parent = self._current

        def ended(process: Process) -> None:
            running[0] -= 1
            if process.error is not None:
                errors.append(process.error)
            parent.poke()

        while waiting or running[0]:
            while waiting and running[0] < limit and not errors:
                item = waiting.pop(0)
                selected = {name: _jsonata(text, data, item) for name, text in state["ItemSelector"].items()}
                running[0] += 1
                branch = partial(self._execute, run, state["ItemProcessor"], selected, context)
                self._spawn(run, f"{parent.name} {item}", branch, ended)
            if errors:
                raise errors[0]
            parent.block()
        return {name: _jsonata(text, data, None) for name, text in state["Output"].items()}

    def _task(self, run: Run, state: Data, data: Data, context: Data) -> tuple[Data, str | None]:
        """Perform a task with its retries. Returns the data, and the next state if an error was caught."""
        retries: dict[int, int] = {}
        while True:
            try:
                result = self._attempt(run, state, data, context)
                break
            except StateError as error:
                delay = _retry_delay(state, error, retries)
                if delay is not None:
                    self._current.suspend(delay)
                    continue
                for catch in state.get("Catch", ()):
                    if _catches(catch["ErrorEquals"], error):
                        caught = {"Error": error.name, "Cause": error.cause}
                        return {**data, catch["ResultPath"].removeprefix("$."): caught}, catch["Next"]
                raise
        if "ResultSelector" in state:
            result = _fill(state["ResultSelector"], result, context)
        return {**data, state["ResultPath"].removeprefix("$."): result}, None

    def _attempt(self, run: Run, state: Data, data: Data, context: Data) -> Any:
        resource = state["Resource"]
        if resource == LAMBDA:
            return {"Payload": self._invoke(_fill(state["Parameters"], data, context)["Payload"])}
        token = self.account.states.issue_token(run.arn)
        parameters = _fill(state["Parameters"], data, {**context, "Task": {"Token": token.token}})
        if resource == LAMBDA_CALLBACK:
            self._invoke(parameters["Payload"])
        elif resource == ECS_CALLBACK:
            self._run_task(parameters)
        else:
            raise NotImplementedError(resource)
        return self._await(token, state, data)

    def _invoke(self, payload: Data) -> Any:
        """Invoke the conductor and wait. Step Functions may miss the answer and try again while the first call runs."""
        process, results = self._current, list[Process]()
        where = f"states/{payload['do']}"

        def ended(child: Process) -> None:
            results.append(child)
            process.poke()

        self.invoker.invoke("conductor", json.loads(json.dumps(payload)), ended)
        if self.invoker.faults.happens("duplicate", where):
            process.suspend(0.02)
            raise StateError(SERVICE_ERROR, "the answer was missed")
        while not results:
            process.block()
        [child] = results
        if child.is_dead or child.error is not None:
            raise StateError("Lambda.Unknown", repr(child.error))
        return child.result

    def _run_task(self, parameters: Data) -> None:
        where, now = "states/run_task", self.invoker.kernel.now
        if now < self._no_capacity_until or self.invoker.faults.happens("throttle", where):
            if now >= self._no_capacity_until:
                self._no_capacity_until = now + NO_CAPACITY
            raise StateError("ECS.AmazonECSException", "Capacity is unavailable at this time")
        request = {name[0].lower() + name[1:]: value for name, value in parameters.items()}
        answer = self.account.ecs.run_task(**request)
        self.start_container(answer["tasks"][0]["taskArn"], request["cluster"])
        if self.invoker.faults.happens("lost", where):
            raise StateError("ECS.SdkClientException", "the answer was missed")

    def _await(self, token: TaskToken, state: Data, data: Data) -> Any:
        """Wait for the callback, a missed heartbeat, or the timeout."""
        kernel, process = self.invoker.kernel, self._current
        seconds = state.get("TimeoutSeconds") or _path(state["TimeoutSecondsPath"], data)
        if "TimeoutSeconds" in state:
            seconds = self.invoker.faults.choices.any("slot/timeout", SLOT_TIMEOUTS) or seconds
        timeout_at = kernel.now + timedelta(seconds=seconds)
        beat = (
            timedelta(seconds=_path(state["HeartbeatSecondsPath"], data)) if "HeartbeatSecondsPath" in state else None
        )
        while token.is_waiting:
            until = min(timeout_at, token.heartbeat_at + beat) if beat else timeout_at
            if kernel.now >= until:
                token.is_waiting = False
                raise StateError("States.Timeout" if kernel.now >= timeout_at else "States.HeartbeatTimeout")
            process.poke_at(until)
            process.block()
        if token.succeeded:
            return json.loads(token.output or "null")
        raise StateError(token.error or "", token.cause or "")

    def _wait_until(self, when: datetime) -> None:
        process = self._current
        while self.invoker.kernel.now < when:
            process.poke_at(when)
            process.block()

    @property
    def _current(self) -> Process:
        process = self.invoker.kernel.current
        assert process is not None
        return process


def _choose(state: Data, data: Data) -> str:
    for choice in state["Choices"]:
        value = _path(choice["Variable"], data)
        if value == choice.get("StringEquals", choice.get("BooleanEquals")):
            return str(choice["Next"])
    return str(state["Default"])


def _retry_delay(state: Data, error: StateError, retries: dict[int, int]) -> float | None:
    for number, rule in enumerate(state.get("Retry", ())):
        if _catches(rule["ErrorEquals"], error):
            tries = retries[number] = retries.get(number, 0) + 1
            if tries > rule["MaxAttempts"]:
                return None
            delay = rule["IntervalSeconds"] * rule["BackoffRate"] ** (tries - 1)
            return float(min(delay, rule["MaxDelaySeconds"]))
    return None


def _catches(names: list[str], error: StateError) -> bool:
    is_timeout = error.name in ("States.Timeout", "States.HeartbeatTimeout")
    return error.name in names or "States.ALL" in names or ("States.TaskFailed" in names and not is_timeout)


def _fill(template: Any, data: Data, context: Data) -> Any:
    """Replace the references in a template: names that end with ``.$``."""
    if isinstance(template, list):
        return [_fill(one, data, context) for one in template]
    if not isinstance(template, Mapping):
        return template
    filled: Data = {}
    for name, value in template.items():
        if name.endswith(".$"):
            source = context if value.startswith("$$") else data
            filled[name.removesuffix(".$")] = _path(value.replace("$$", "$", 1), source)
        else:
            filled[name] = _fill(value, data, context)
    return filled


def _path(path: str, data: Any) -> Any:
    for name in path.removeprefix("$").split("."):
        if name:
            data = data[name]
    return data


def _jsonata(text: str, data: Data, item: Any) -> Any:
    expression = text.removeprefix("{%").removesuffix("%}").strip()
    if expression == "$states.context.Map.Item.Value":
        return item
    if expression.startswith("$states.input"):
        return _path(expression.removeprefix("$states.input"), data)
    raise NotImplementedError(text)
