"""Step Functions: runs of state machines and task tokens. The simulator executes the states.

For each state that waits for a callback, the simulator calls ``issue_token`` and reads the token's outcome later. It
ends a run with ``end``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from tests.simulator.aws.client import Response, operation
from tests.simulator.aws.errors import ServiceError
from tests.simulator.aws.table import ACCOUNT, REGION

RUNNING = "RUNNING"


@dataclass
class TaskToken:
    token: str
    run_arn: str
    heartbeat_at: datetime
    """The last heartbeat, or the instant of issue."""
    is_waiting: bool = True
    succeeded: bool = False
    output: str | None = None
    error: str | None = None
    cause: str | None = None


@dataclass
class Run:
    arn: str
    name: str
    machine_arn: str
    input: str
    started_at: datetime
    status: str = RUNNING
    stopped_at: datetime | None = None
    tokens: list[TaskToken] = field(default_factory=list)

    def to_response(self) -> Response:
        stopped = {} if self.stopped_at is None else {"stopDate": self.stopped_at}
        return {
            "executionArn": self.arn,
            "stateMachineArn": self.machine_arn,
            "name": self.name,
            "status": self.status,
            "startDate": self.started_at,
            **stopped,
        }


class StepFunctions:
    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.runs: dict[str, Run] = {}
        """By ARN, in the order of their start."""
        self.tokens: dict[str, TaskToken] = {}
        self._clock = clock

    def issue_token(self, run_arn: str) -> TaskToken:
        """A token for a state of a run that waits for a callback."""
        token = TaskToken(f"task-token-{len(self.tokens) + 1}", run_arn, self._clock())
        self.tokens[token.token] = token
        self.runs[run_arn].tokens.append(token)
        return token

    def end(self, run_arn: str, status: str) -> None:
        """End a run as ``SUCCEEDED``, ``FAILED``, ``TIMED_OUT`` or ``ABORTED``. Its tokens are no longer valid."""
        run = self.runs[run_arn]
        run.status, run.stopped_at = status, self._clock()
        for token in run.tokens:
            token.is_waiting = False

    @operation
    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> Response:
        """Start a run. Idempotent while a run with this name and input is running."""
        arn = f"arn:aws:states:{REGION}:{ACCOUNT}:execution:{stateMachineArn.split(':')[-1]}:{name}"
        run = self.runs.get(arn)
        if run is not None and (run.status != RUNNING or run.input != input):
            raise ServiceError("ExecutionAlreadyExists", f"Execution Already Exists: '{arn}'")
        if run is None:
            run = self.runs[arn] = Run(arn, name, stateMachineArn, input, self._clock())
        return {"executionArn": arn, "startDate": run.started_at}

    @operation
    def stop_execution(self, *, executionArn: str, error: str = "", cause: str = "") -> Response:  # noqa: ARG002
        """Stop a run. Succeeds without an effect if it has ended."""
        run = self._run(executionArn)
        if run.status == RUNNING:
            self.end(executionArn, "ABORTED")
        return {"stopDate": run.stopped_at}

    @operation
    def describe_execution(self, *, executionArn: str) -> Response:
        run = self._run(executionArn)
        return {**run.to_response(), "input": run.input}

    @operation
    def list_executions(
        self, *, stateMachineArn: str, statusFilter: str | None = None, maxResults: int | None = None
    ) -> Response:
        """The newest runs first. Without ``maxResults`` all of them: paging is not modelled."""
        runs = [
            run.to_response()
            for run in reversed(self.runs.values())
            if run.machine_arn == stateMachineArn and statusFilter in (None, run.status)
        ]
        return {"executions": runs[:maxResults]}

    @operation
    def send_task_success(self, *, taskToken: str, output: str) -> Response:
        token = self._take(taskToken)
        token.succeeded, token.output = True, output
        return {}

    @operation
    def send_task_failure(self, *, taskToken: str, error: str = "", cause: str = "") -> Response:
        token = self._take(taskToken)
        token.error, token.cause = error, cause
        return {}

    @operation
    def send_task_heartbeat(self, *, taskToken: str) -> Response:
        self._waiting(taskToken).heartbeat_at = self._clock()
        return {}

    def _take(self, taskToken: str) -> TaskToken:
        token = self._waiting(taskToken)
        token.is_waiting = False
        return token

    def _waiting(self, taskToken: str) -> TaskToken:
        token = self.tokens.get(taskToken)
        if token is None:
            raise ServiceError("InvalidToken", f"Invalid Token: '{taskToken}'")
        if not token.is_waiting:
            raise ServiceError("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
        return token

    def _run(self, arn: str) -> Run:
        run = self.runs.get(arn)
        if run is None:
            raise ServiceError("ExecutionDoesNotExist", f"Execution Does Not Exist: '{arn}'")
        return run
