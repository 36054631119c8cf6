"""Defects that earlier versions of Punctual had, put back one at a time: the simulator must find each.

Each defect removes the part of the engine that prevents it. ``python -m tests.simulator.defects`` prints the first
violation of each in the short runs of its profile, and ``python -m tests.simulator 1 1000 --defect NAME`` searches in
runs in which anything may happen.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from types import SimpleNamespace
from typing import Any
from unittest import mock

from punctual.aws.dynamodb import gates
from punctual.aws.dynamodb.conducted_parts import DynamoConductedParts
from punctual.aws.dynamodb.execution_table import ExecutionTable
from punctual.aws.dynamodb.executions import DynamoExecutions
from punctual.aws.dynamodb.items import instant_text
from punctual.aws.dynamodb.long_executions import DynamoLongExecutions
from punctual.aws.dynamodb.table import Table, WriteResult
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.identity import due_key, job_of
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.gate import Gate, Waiter
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Lane, Priority
from punctual.domain.long_lane.parts_status import outcome_when_cancelled
from punctual.domain.planning.disposal import Disposal
from punctual.domain.status import LIVE_STATUSES, Status
from punctual.stages.api.submit import Submit
from punctual.stages.dispatch import sweep
from punctual.stages.long_lane import report
from punctual.stages.long_lane.conduct import Conductor
from punctual.stages.plan import plan
from punctual.stages.plan.intake import Intake
from punctual.stages.run import work
from punctual.stages.run.gates import Gatekeeper
from punctual.stages.run.work import Worker
from punctual.stages.settle.after_execution import Settler
from tests.simulator.profiles import PROFILES
from tests.simulator.simulation import Outcome, simulate

Patches = Iterator[Any]
SEEDS = 60
"""How many short runs are tried for a defect. Most defects are found by one of the first ten."""


def two_at_once() -> Patches:
    """A waiter gets a place although the gate is full."""
    yield mock.patch.object(gates, "HAS_ROOM", "attribute_not_exists(#holder) AND :limit = :limit")


def place_handed_on() -> Patches:
    """A waiter gets its place first and is woken then. If the wake-up is refused, the next waiter gets the place.

    The repair of that protocol belongs to it: the present one would evict a holder that was not woken yet.
    """

    def wake(table: gates.DynamoGates, waiter: Waiter, gate: str, waiting: Execution, now: datetime) -> bool:
        return table._transact({"Update": table.executions.queue_request(waiter, gate, waiting, now)})

    def grant(table: gates.DynamoGates, gate: Gate, waiter: Waiter, waiting: Execution, now: datetime) -> bool:
        given = table._update(
            gate.name,
            waiter.execution_id,
            set={"holder": waiter.claim_number},
            add={"count": 1},
            condition=gates.HAS_ROOM,
            values={"limit": gate.limit},
        )
        key, (condition, values) = gates._waiter_key(gate.name, waiter.turn), gates._same(waiter)
        if not table._transact({"Update": given}, {"Delete": table.table.delete_request(key, condition, values)}):
            return False
        if not wake(table, waiter, gate.name, waiting, now):
            table.release(gate.name, waiter.execution_id, None)
        return True

    def repair(one: Gatekeeper, share: int, shares: int) -> Iterator[Execution]:
        """Wake the waiters that have got a place."""
        assert isinstance(one.gates, gates.DynamoGates)
        for name, state in chain.from_iterable(page.items() for page in one.gates.gates(share, shares)):
            for current in one.executions.read_many(state.holders).values():
                if current.waits_at == name:
                    waiter = Waiter(current.execution_id, "", current.attempt + 1, current.revision)
                    wake(one.gates, waiter, name, current, one.clock())
        return _repair(one, share, shares)

    yield mock.patch.object(gates.DynamoGates, "grant", grant)
    yield mock.patch.object(Gatekeeper, "repair", repair)


def edit_plans_the_past() -> Patches:
    """The new schedule is planned from the last instant of the earlier one."""

    def planning_resumes_after(job: Job, last_planned: datetime | None) -> datetime:
        return last_planned or job.created_at - MILLISECOND

    yield mock.patch.object(Job, "planning_resumes_after", planning_resumes_after)


def place_kept_while_retrying() -> Patches:
    """An execution between attempts may keep its place at a key."""
    yield mock.patch.object(Execution, "may_hold", lambda one, _: one.status in (Status.QUEUED, *_RUNS))


def waiter_never_woken() -> Patches:
    """Only the process that has released a place gives it to the next waiter: the repair does not."""

    class GatekeeperWithoutGrant(Gatekeeper):
        def grant(self, name: str) -> None:
            del name

    def repair(one: Gatekeeper, share: int, shares: int) -> Iterator[Execution]:
        return _repair(GatekeeperWithoutGrant(one.gates, one.executions, one.clock), share, shares)

    yield mock.patch.object(Gatekeeper, "repair", repair)


def own_claim_not_recognised() -> Patches:
    """A write whose response was lost, and that botocore has repeated, counts as refused."""

    def move(table: ExecutionTable, key: Any, target: Status, changes: Any, **conditions: Any) -> WriteResult:
        return table.table.apply(table._transition(key, target, changes, **conditions))

    yield mock.patch.object(ExecutionTable, "_move", move)


def two_jobs_for_one_key() -> Patches:
    """The ids of submitted jobs do not depend on the ``Idempotency-Key``."""

    def build(submit: Submit, submission: Any, caller: Any, _number: int, keyed: Any, now: datetime) -> Job:
        return submit.builder.build(submission, caller, keyed.at if keyed else now)

    yield mock.patch.object(Submit, "_build", build)


def retry_stored_and_refused() -> Patches:
    """The write of a manual retry has no token by which DynamoDB recognises its repetition."""

    def add_once(table: DynamoExecutions, execution: Execution) -> bool:
        return table.add(execution) is None

    yield mock.patch.object(DynamoExecutions, "add_once", add_once)


def limit_of_an_earlier_revision() -> Patches:
    """A place that a work order from before an edit has taken is kept although the edit has lowered the limit."""
    yield mock.patch.object(gates, "KEEPS_PLACE", "#holder = :was AND :limit = :limit")


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


def covered_by_nothing() -> Patches:
    """An edit removes a waiter although it covers a skipped execution."""

    def delete_if(table: Table, key: Any, condition: str, values: Any, **names: str) -> bool:
        return _delete_if(table, key, condition.replace(" AND attribute_not_exists(#covers)", ""), values, **names)

    yield mock.patch.object(Table, "delete_if", delete_if)


def two_runs_of_one_execution() -> Patches:
    """A state machine run continues after the execution waited at a gate and got another run.

    Neither its attachment nor its writes compare the run: one comparison would make the other needless.
    """

    def attach(table: DynamoLongExecutions, job_id: str, execution_id: str, run_arn: str, now: datetime) -> Any:
        attached = _attach_run(table, job_id, execution_id, run_arn, now)
        if attached is not None:
            return attached
        current = table.get(job_id, execution_id)
        is_live = current is not None and current.status not in _ENDED and current.lane is Lane.LONG
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
    yield mock.patch.object(report.Reporter, "_share_token", return_value=None)


def parts_added_during_a_cancellation() -> Patches:
    """The conductor stores parts although the execution was asked to stop meanwhile."""
    yield mock.patch.object(DynamoConductedParts, "_attached_check", _is_attached)


def order_reversed() -> Patches:
    """A free place goes to the last waiter of the queue."""

    def first_waiter(table: gates.DynamoGates, name: str) -> Waiter | None:
        pages = table.table.query("#gate = :gate", {"gate": f"queue#{name}"}, consistent=True, descending=True)
        return next((gates._waiter(item) for page in pages for item in page), None)

    yield mock.patch.object(gates.DynamoGates, "first_waiter", first_waiter)


def waiting_does_not_raise_the_priority() -> Patches:
    """The queue of a gate is sorted by priority first, so that executions of high priority starve the others."""

    def queue_key(execution_id: str, earliest_start: datetime, priority: Priority) -> str:
        return f"{list(Priority).index(priority)}#{due_key(earliest_start)}#{execution_id}"

    yield mock.patch.object(work, "queue_key", queue_key)


def alone_behind_all_others() -> Patches:
    """An execution that waits alone is overtaken by all executions that wait under a later rule."""
    yield mock.patch.object(gates, "ONLY", "only")


def stale_read_of_the_queue() -> Patches:
    """The process that gives a place reads the queue eventually consistently."""

    def first_waiter(table: gates.DynamoGates, name: str) -> Waiter | None:
        page = next(table.table.query("#gate = :gate", {"gate": f"queue#{name}"}, page_size=1))
        return gates._waiter(page[0]) if page else None

    yield mock.patch.object(gates.DynamoGates, "first_waiter", first_waiter)


def rate_ignored() -> Patches:
    """An execution starts without a reservation at its rate limit."""
    yield mock.patch.object(Gatekeeper, "_may_start_now", return_value=True)


def long_execution_without_places() -> Patches:
    """The conductor starts the parts of an execution without a place at its gates."""
    yield mock.patch.object(Conductor, "_acquire_gates", return_value=True)


def long_execution_started_early() -> Patches:
    """The conductor creates the parts of an execution as soon as its state machine run has started."""

    def next_parts(conductor: Conductor, *of: str) -> Any:
        return _next_parts(replace(conductor, clock=lambda: conductor.clock() + timedelta(seconds=90)), *of)

    yield mock.patch.object(Conductor, "next_parts", next_parts)


def taken_over_before_the_lease_expired() -> Patches:
    """A worker takes over an execution whose lease was renewed after the order to take over was sent."""

    def may_take_over(_: Worker, current: Execution, order: WorkOrder) -> bool:
        return current.status is Status.RUNNING and current.attempt == order.attempt - 1

    yield mock.patch.object(Worker, "_may_take_over", may_take_over)
    yield mock.patch.object(sweep, "LEASE_SUSPECT_AFTER", timedelta())  # an order for each execution that runs


def paused_job_continues() -> Patches:
    """The planner keeps the executions of a paused job."""
    yield mock.patch.object(plan, "disposal_on_pause", return_value=Disposal.KEEP)


def removed_job_retries() -> Patches:
    """The removal of a job leaves out executions between attempts."""

    def stop(planner: plan.Planner, job_id: str, execution_id: str, reason: str) -> None:
        execution = planner.executions.get(job_id, execution_id)
        if execution is not None and execution.status is not Status.RETRYING:
            _stop(planner, job_id, execution_id, reason)

    yield mock.patch.object(plan.Planner, "stop", stop)


def message_of_a_batch_lost() -> Patches:
    """The intake stores only the first message of a batch."""
    yield mock.patch.object(Intake, "take", lambda intake, messages: _take(intake, list(messages)[:1]))


def full_gate_without_rule() -> Patches:
    """An execution at a full gate neither waits nor is skipped: its worker gives up after some tries."""
    yield mock.patch.object(Gatekeeper, "_wait_or_skip", return_value=False)


def container_of_an_ended_execution() -> Patches:
    """A container may claim a part although its execution has ended."""
    yield mock.patch.object(report, "FINAL", frozenset())


def restarted_execution_sent_to_workers() -> Patches:
    """The dispatcher sends work orders for executions of the long lane that the reconciler has just queued again."""
    yield mock.patch.object(sweep, "Lane", SimpleNamespace(LONG=None))


_RUNS = (Status.RUNNING, Status.WAITING, Status.RETRYING, Status.STARTING)
_ENDED = frozenset(Status) - {Status.SCHEDULED, Status.QUEUED, *_RUNS}
_repair, _stop = Gatekeeper.repair, plan.Planner.stop
_next_parts, _take = Conductor.next_parts, Intake.take
_delete_if, _update_request = Table.delete_if, Table.update_request
_attach_run = DynamoLongExecutions.attach_run


def _exists(self: DynamoConductedParts, execution_id: str, _: str) -> dict[str, Any]:
    key = {"job_id": job_of(execution_id), "execution_id": execution_id}
    return {"ConditionCheck": self.executions.check_request(key, "attribute_exists(#execution_id)", {})}


def _is_attached(self: DynamoConductedParts, execution_id: str, run_arn: str) -> dict[str, Any]:
    key = {"job_id": job_of(execution_id), "execution_id": execution_id}
    return {"ConditionCheck": self.executions.check_request(key, "#run_arn = :run_arn", {"run_arn": run_arn})}


DEFECTS: dict[str, Callable[[], Patches]] = {
    one.__name__: one
    for one in (
        two_at_once,
        order_reversed,
        waiting_does_not_raise_the_priority,
        alone_behind_all_others,
        stale_read_of_the_queue,
        place_handed_on,
        edit_plans_the_past,
        place_kept_while_retrying,
        waiter_never_woken,
        own_claim_not_recognised,
        two_jobs_for_one_key,
        retry_stored_and_refused,
        limit_of_an_earlier_revision,
        waiting_execution_restarted,
        covered_by_nothing,
        two_runs_of_one_execution,
        slot_request_replaced,
        cancellation_left_to_the_run,
        success_lost_to_a_cancellation,
        backoff_cut_short,
        token_of_the_second_container_lost,
        parts_added_during_a_cancellation,
        rate_ignored,
        long_execution_without_places,
        long_execution_started_early,
        taken_over_before_the_lease_expired,
        paused_job_continues,
        removed_job_retries,
        message_of_a_batch_lost,
        full_gate_without_rule,
        container_of_an_ended_execution,
        restarted_execution_sent_to_workers,
    )
}


FOUND_IN = {
    "two_at_once": "executions wait for a key",
    "order_reversed": "executions of all priorities wait for a key",
    "waiting_does_not_raise_the_priority": "executions of all priorities wait for a key",
    "alone_behind_all_others": "the overlap rule changes while executions wait",
    "stale_read_of_the_queue": "executions of all priorities wait for a key",
    "place_handed_on": "a place is passed to the next waiter",
    "edit_plans_the_past": "the schedule is edited",
    "place_kept_while_retrying": "attempts fail and messages come twice",
    "waiter_never_woken": "processes die at a gate",
    "own_claim_not_recognised": "workers die and responses are lost",
    "two_jobs_for_one_key": "clients repeat requests",
    "retry_stored_and_refused": "executions are retried manually",
    "limit_of_an_earlier_revision": "limits are lowered",
    "covered_by_nothing": "one execution waits behind another",
    "two_runs_of_one_execution": "long executions replace each other at a full lane",
    "slot_request_replaced": "slots are requested twice",
    "cancellation_left_to_the_run": "a long execution is cancelled between attempts",
    "waiting_execution_restarted": "long executions wait while the reconciler reads",
    "restarted_execution_sent_to_workers": "the index of running executions is stale",
    "success_lost_to_a_cancellation": "a long execution is cancelled at its end",
    "backoff_cut_short": "state machine runs are stopped",
    "token_of_the_second_container_lost": "containers are started twice",
    "parts_added_during_a_cancellation": "a long execution is cancelled at its beginning",
    "rate_ignored": "rates",
    "long_execution_without_places": "long executions replace each other",
    "long_execution_started_early": "long executions start later",
    "taken_over_before_the_lease_expired": "leases expire",
    "paused_job_continues": "jobs are paused and removed",
    "removed_job_retries": "jobs are paused and removed",
    "message_of_a_batch_lost": "messages",
    "full_gate_without_rule": "executions wait for a key",
    "container_of_an_ended_execution": "a container starts after the end",
}
"""The profile in which each defect is found. The others show only in runs in which anything may happen."""


@contextmanager
def put_back(name: str) -> Iterator[None]:
    """Put a defect back for the duration of the block."""
    with ExitStack() as stack:
        for patch in DEFECTS[name]():
            stack.enter_context(patch)
        yield


def search(name: str, profile: str) -> Outcome | None:
    """The first short run of a profile that finds a defect."""
    with put_back(name):
        outcomes = (simulate(seed, profile=PROFILES[profile]) for seed in range(SEEDS))
        return next((one for one in outcomes if one.violations), None)


def main() -> None:
    """Print, as JSON, the first violation of each defect that has a profile."""
    gc.set_threshold(100_000)
    for name, profile in FOUND_IN.items():
        found = search(name, profile)
        print(json.dumps({"defect": name, "seed": found and found.seed, "violation": found and found.violations[0]}))


if __name__ == "__main__":
    main()
