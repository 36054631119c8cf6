"""The state machine of the long lane: its runs, the one-time schedules that start them, and its task tokens.

A *run* is an execution in the sense of Step Functions: one pass of the state machine, for one execution of a job.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from punctual.aws.dynamodb.items import instant_text
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import short_name

SCHEDULE_LEAD = timedelta(seconds=60)
"""EventBridge Scheduler is precise to a minute: it starts a run this early, and the run waits for the exact second."""

_NO_LONGER_WAITING = {"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"}


@dataclass(frozen=True, kw_only=True)
class LongRuns:
    """Removes the schedule and stops the run of an execution. Both are idempotent."""

    schedule_group: str
    states: Callable[[], Any]
    scheduler: Callable[[], Any]

    def delete_schedule(self, execution_id: str) -> None:
        try:
            self.scheduler().delete_schedule(Name=short_name(execution_id), GroupName=self.schedule_group)
        except ClientError as error:
            _raise_unless(error, "ResourceNotFoundException")

    def stop(self, run_arn: str, reason: str) -> None:
        try:
            self.states().stop_execution(executionArn=run_arn, error="Punctual.Cancelled", cause=reason)
        except ClientError as error:
            _raise_unless(error, "ExecutionDoesNotExist", "ValidationException")


@dataclass(frozen=True, kw_only=True)
class LongStateMachine(LongRuns):
    """Starts runs, now or by a one-time schedule, and lists them."""

    arn: str
    schedule_role_arn: str

    def start(self, execution: Execution) -> None:
        try:
            self.states().start_execution(stateMachineArn=self.arn, name=_run_name(execution), input=_input(execution))
        except ClientError as error:
            _raise_unless(error, "ExecutionAlreadyExists")

    def create_schedule(self, execution: Execution) -> None:
        at = execution.earliest_start - SCHEDULE_LEAD
        schedule = {
            "Name": short_name(execution.execution_id),
            "GroupName": self.schedule_group,
            "Description": f"Starts {execution.execution_id}",
            "ScheduleExpression": f"at({at:%Y-%m-%dT%H:%M:%S})",
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
            "Target": {"Arn": self.arn, "RoleArn": self.schedule_role_arn, "Input": _input(execution)},
        }
        try:
            self.scheduler().create_schedule(**schedule)
        except ClientError as error:
            _raise_unless(error, "ConflictException")
            self.scheduler().update_schedule(**schedule)  # an edit of the job's jitter moves the instant

    def scheduled(self) -> Iterator[str]:
        for page in self.scheduler().get_paginator("list_schedules").paginate(GroupName=self.schedule_group):
            yield from (schedule["Name"] for schedule in page["Schedules"])

    def running(self) -> Iterator[str]:
        pages = self.states().get_paginator("list_executions")
        for page in pages.paginate(stateMachineArn=self.arn, statusFilter="RUNNING"):
            yield from (run["executionArn"] for run in page["executions"])


@dataclass(frozen=True)
class FailedLongRuns:
    """Counts the state machine runs that failed or timed out."""

    arn: str
    states: Callable[[], Any]

    def failed_since(self, since: datetime) -> int:
        """The number of runs that failed since ``since``, at most 100 of each status.

        Reads only the newest page of each status: more than the runs that end within the minute that the monitor asks
        for.
        """
        count = 0
        for status in ("FAILED", "TIMED_OUT"):
            answer = self.states().list_executions(stateMachineArn=self.arn, statusFilter=status, maxResults=100)
            count += sum(run["stopDate"] >= since for run in answer["executions"])
        return count


@dataclass(frozen=True)
class StepFunctionsCallbacks:
    """Answers the states that wait for a task token."""

    states: Callable[[], Any]

    def succeed(self, tokens: Iterable[str], answer: Mapping[str, Any]) -> bool:
        return self._send("send_task_success", tokens, output=json.dumps(answer))

    def fail(self, tokens: Iterable[str], error: str, cause: str) -> bool:
        return self._send("send_task_failure", tokens, error=error, cause=cause[:30_000])

    def heartbeat(self, tokens: Iterable[str]) -> bool:
        return self._send("send_task_heartbeat", tokens)

    def _send(self, call: str, tokens: Iterable[str], **arguments: Any) -> bool:
        accepted = [self._send_to(call, token, **arguments) for token in sorted(tokens)]
        return any(accepted)

    def _send_to(self, call: str, token: str, **arguments: Any) -> bool:
        try:
            getattr(self.states(), call)(taskToken=token, **arguments)
        except ClientError as error:
            _raise_unless(error, *_NO_LONGER_WAITING)
            return False
        return True


def _run_name(execution: Execution) -> str:
    """The name of the run of ``execution``, which makes ``start`` idempotent.

    Step Functions starts at most one run of a name, even after that run has ended. The name changes when the execution
    is edited, restarted, or removed and planned again. A name has at most 80 characters.
    """
    planned = f"{execution.revision} {instant_text(execution.queued_at)} {execution.restarts}"
    return f"{short_name(execution.execution_id)}-{hashlib.sha256(planned.encode()).hexdigest()[:8]}"


def _input(execution: Execution) -> str:
    return json.dumps({"job_id": execution.job_id, "execution_id": execution.execution_id})


def _raise_unless(error: ClientError, *expected: str) -> None:
    if error.response["Error"]["Code"] not in expected:
        raise error


if TYPE_CHECKING:
    from punctual.ports.long_lane import Callbacks, StateMachineRuns, StateMachines
    from punctual.ports.monitoring import LongRunFailures

    _state_machine_runs: type[StateMachineRuns] = LongRuns
    _state_machines: type[StateMachines] = LongStateMachine
    _long_run_failures: type[LongRunFailures] = FailedLongRuns
    _callbacks: type[Callbacks] = StepFunctionsCallbacks
