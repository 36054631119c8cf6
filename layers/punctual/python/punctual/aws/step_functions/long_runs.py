"""The state machine of the long lane: its runs, the one-time schedules that start them, and those who wait for word."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from punctual.aws.dynamodb.items import instant_text
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import short_name

AHEAD = timedelta(seconds=60)
"""EventBridge Scheduler is precise to a minute. So it starts a run this much early, which then waits for the second."""

_ENDED = {"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"}


@dataclass(frozen=True, kw_only=True)
class LongRuns:
    """Undoing what belongs to one execution."""

    schedule_group: str
    states: Callable[[], Any]
    scheduler: Callable[[], Any]

    def disarm(self, execution_id: str) -> None:
        try:
            self.scheduler().delete_schedule(Name=short_name(execution_id), GroupName=self.schedule_group)
        except ClientError as error:
            _unless(error, "ResourceNotFoundException")

    def stop(self, run: str, reason: str) -> None:
        try:
            self.states().stop_execution(executionArn=run, error="Punctual.Cancelled", cause=reason)
        except ClientError as error:
            _unless(error, "ExecutionDoesNotExist", "ValidationException")


@dataclass(frozen=True, kw_only=True)
class LongStateMachine(LongRuns):
    """And setting it up."""

    arn: str
    schedule_role_arn: str

    def start(self, execution: Execution) -> None:
        try:
            self.states().start_execution(stateMachineArn=self.arn, name=_run_name(execution), input=_input(execution))
        except ClientError as error:
            _unless(error, "ExecutionAlreadyExists")

    def arm(self, execution: Execution) -> None:
        at = execution.released_at - AHEAD
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
            _unless(error, "ConflictException")
            self.scheduler().update_schedule(**schedule)  # with another jitter it fires at another time

    def armed(self) -> Iterator[str]:
        for page in self.scheduler().get_paginator("list_schedules").paginate(GroupName=self.schedule_group):
            yield from (schedule["Name"] for schedule in page["Schedules"])

    def running(self) -> Iterator[str]:
        pages = self.states().get_paginator("list_executions")
        for page in pages.paginate(stateMachineArn=self.arn, statusFilter="RUNNING"):
            yield from (run["executionArn"] for run in page["executions"])


@dataclass(frozen=True)
class FailedLongRuns:
    """The state machine runs that did not end well."""

    arn: str
    states: Callable[[], Any]

    def failed_since(self, since: datetime) -> int:
        """Of each kind the newest page is looked at, which is more than one minute ever has."""
        count = 0
        for status in ("FAILED", "TIMED_OUT"):
            answer = self.states().list_executions(stateMachineArn=self.arn, statusFilter=status, maxResults=100)
            count += sum(run["stopDate"] >= since for run in answer["executions"])
        return count


@dataclass(frozen=True)
class TaskTokens:
    """Those who wait with a task token."""

    states: Callable[[], Any]

    def succeed(self, token: str, answer: Mapping[str, Any]) -> bool:
        return self._tell("send_task_success", taskToken=token, output=json.dumps(answer))

    def fail(self, token: str, error: str, cause: str) -> bool:
        return self._tell("send_task_failure", taskToken=token, error=error, cause=cause[:30_000])

    def beat(self, token: str) -> bool:
        return self._tell("send_task_heartbeat", taskToken=token)

    def _tell(self, call: str, **arguments: Any) -> bool:
        if not arguments["taskToken"]:
            return False
        try:
            getattr(self.states(), call)(**arguments)
        except ClientError as error:
            _unless(error, *_ENDED)
            return False
        return True


def _run_name(execution: Execution) -> str:
    """The same for what is asked for twice; another for what was replaced, or forgotten and planned again.

    Step Functions never starts a second run of a name, also when the first has ended. A name has 80 characters at most.
    """
    planned = f"{execution.revision} {instant_text(execution.queued_at)} {execution.restarts}"
    return f"{short_name(execution.execution_id)}-{hashlib.sha256(planned.encode()).hexdigest()[:8]}"


def _input(execution: Execution) -> str:
    return json.dumps({"job_id": execution.job_id, "execution_id": execution.execution_id})


def _unless(error: ClientError, *expected: str) -> None:
    if error.response["Error"]["Code"] not in expected:
        raise error
