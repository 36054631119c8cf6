"""Defects of the long lane: see ``defects.py``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest import mock

from punctual.aws.dynamodb import parts
from punctual.aws.dynamodb.conducted_parts import DynamoConductedParts
from punctual.aws.dynamodb.items import instant_text
from punctual.aws.dynamodb.long_executions import DynamoLongExecutions
from punctual.aws.dynamodb.parts import DynamoParts
from punctual.aws.dynamodb.table import Table
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import job_of
from punctual.domain.lane import Lane
from punctual.domain.long_lane.assignment import Assignment
from punctual.domain.long_lane.parts_status import outcome_when_cancelled
from punctual.domain.status import FINAL, LIVE_STATUSES, Status
from punctual.stages.long_lane import report
from punctual.stages.long_lane.conduct import Conductor
from punctual.stages.long_lane.end_part import PartEnder
from punctual.stages.settle.after_execution import Settler

Patches = Iterator[Any]


def waiting_execution_restarted() -> Patches:
    """The reconciler acts on an outdated read: it queues an execution that waits at a gate meanwhile."""

    def detach(table: DynamoLongExecutions, execution: Execution, reason: str, now: datetime) -> bool:
        is_unchanged = "#run_arn = :run_arn" if execution.run_arn else "attribute_not_exists(#run_arn)"
        changes = {"queued_at": instant_text(now), "reason": reason}
        key = {"job_id": execution.job_id, "execution_id": execution.execution_id}
        values = {"run_arn": execution.run_arn} if execution.run_arn else {}
        return table._move(
            key, Status.QUEUED, changes, remove=["run_arn"], sources=LIVE_STATUSES, also=is_unchanged, values=values
        ).applied

    yield mock.patch.object(DynamoLongExecutions, "detach_run", detach)


def two_runs_of_one_execution() -> Patches:
    """A state machine run continues after the execution waited at a gate and got another run.

    Neither its attachment nor its writes compare the run: one comparison would make the other needless.
    """

    def attach(table: DynamoLongExecutions, job_id: str, execution_id: str, run_arn: str, now: datetime) -> Any:
        attached = _attach_run(table, job_id, execution_id, run_arn, now)
        if attached is not None:
            return attached
        current = table.get(job_id, execution_id)
        is_live = current is not None and current.status not in FINAL and current.lane is Lane.LONG
        return current if is_live and current is not None and current.waits_at is None else None

    yield mock.patch.object(DynamoLongExecutions, "attach_run", attach)
    yield mock.patch.object(DynamoConductedParts, "_attached_check", _exists)


def slot_request_replaced() -> Patches:
    """A request for a slot replaces the ticket of the one before, even if its own run no longer waits for it."""

    def update_request(table: Table, key: Any, **changes: Any) -> dict[str, Any]:
        if "tickets" in changes.get("add", {}):
            changes = {**changes, "set": {**changes.get("set", {}), **changes["add"]}, "add": {}}
        return _update_request(table, key, **changes)

    yield mock.patch.object(Table, "update_request", update_request)


def cancellation_left_to_the_run() -> Patches:
    """The settler never ends a cancelled execution: it hangs as long as its state machine run does."""

    def stop_requested(settler: Settler, execution: Execution) -> None:
        for part in settler.parts.of(execution.execution_id):
            settler._stop_part(part, execution.cancel_at or settler.clock(), execution.cancel_reason or "cancelled")

    yield mock.patch.object(Settler, "stop_requested", stop_requested)


def success_lost_to_a_cancellation() -> Patches:
    """The settler ends an execution without a running part, although a part has succeeded since it read them."""

    def stop_requested(settler: Settler, execution: Execution) -> None:
        if execution.lane is not Lane.LONG or execution.cancel_at is None:
            return
        reason, found = execution.cancel_reason or "cancelled", settler.parts.of(execution.execution_id)
        for part in found:
            settler._stop_part(part, execution.cancel_at, reason)
        current = settler.parts.of(execution.execution_id)
        if not any(part.status is Status.RUNNING for part in current):
            settler.executions.close(execution, outcome_when_cancelled(current, reason), settler.clock())

    yield mock.patch.object(Settler, "stop_requested", stop_requested)


def backoff_cut_short() -> Patches:
    """A new state machine run requests a slot for a part that is still in backoff."""

    def request_slot(conductor: Conductor, execution_id: str, name: str, ticket: str, run_arn: str) -> None:
        part = conductor.parts.get(execution_id, name)
        if part is None or not conductor.parts.request_slot(part, ticket, run_arn, conductor.clock()):
            conductor.callbacks.fail([ticket], "Punctual.Stale", "it needs no slot now")

    yield mock.patch.object(Conductor, "request_slot", request_slot)


def token_of_the_second_container_lost() -> Patches:
    """The run that waits for a second container of the same attempt gets neither heartbeats nor an answer."""
    yield mock.patch.object(PartEnder, "share_token", return_value=None)


def parts_added_during_a_cancellation() -> Patches:
    """The conductor stores parts although the execution was asked to stop meanwhile."""
    yield mock.patch.object(DynamoConductedParts, "_attached_check", _is_attached)


def long_execution_without_places() -> Patches:
    """The conductor starts the parts of an execution without a place at its gates."""
    yield mock.patch.object(Conductor, "_acquire_gates", return_value=True)


def long_execution_started_early() -> Patches:
    """The conductor creates the parts of an execution as soon as its state machine run has started."""

    def next_parts(conductor: Conductor, *of: str) -> Any:
        return _next_parts(replace(conductor, clock=lambda: conductor.clock() + timedelta(seconds=90)), *of)

    yield mock.patch.object(Conductor, "next_parts", next_parts)


def container_of_an_ended_execution() -> Patches:
    """A container may claim a part although its execution has ended."""
    yield mock.patch.object(report, "FINAL", frozenset())


def late_report_accepted() -> Patches:
    """A container ends a part although another container runs a later attempt of it.

    Three comparisons prevent it: each would make the others needless.
    """

    def transition(table: DynamoParts, *arguments: Any, **options: Any) -> dict[str, Any]:
        request = _transition(table, *arguments, **options)
        condition = request["ConditionExpression"].replace("#attempt = :attempt", "#attempt >= :attempt")
        return {**request, "ConditionExpression": condition}

    def running(assignment: Assignment) -> dict[str, Any]:
        values = {"running": str(Status.RUNNING), "attempt": assignment.attempt}
        return {"condition": "#status = :running AND #attempt >= :attempt", "values": values}

    yield mock.patch.object(DynamoParts, "_transition", transition)
    yield mock.patch.object(parts, "_running_condition", running)
    yield mock.patch.object(Assignment, "matches", lambda _, part: part is not None)


_transition = DynamoParts._transition
_next_parts, _attach_run, _update_request = Conductor.next_parts, DynamoLongExecutions.attach_run, Table.update_request


def _exists(self: DynamoConductedParts, execution_id: str, _: str) -> dict[str, Any]:
    key = {"job_id": job_of(execution_id), "execution_id": execution_id}
    return {"ConditionCheck": self.executions.check_request(key, "attribute_exists(#execution_id)", {})}


def _is_attached(self: DynamoConductedParts, execution_id: str, run_arn: str) -> dict[str, Any]:
    key = {"job_id": job_of(execution_id), "execution_id": execution_id}
    return {"ConditionCheck": self.executions.check_request(key, "#run_arn = :run_arn", {"run_arn": run_arn})}
