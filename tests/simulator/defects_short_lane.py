"""Defects of plans, gates, claims and the api: see ``defects.py``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Any
from unittest import mock

from punctual.aws.dynamodb import gates
from punctual.aws.dynamodb.execution_table import ExecutionTable
from punctual.aws.dynamodb.executions import DynamoExecutions
from punctual.aws.dynamodb.items import Item
from punctual.aws.dynamodb.shards import DynamoShards
from punctual.aws.dynamodb.table import Table, WriteResult
from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.identity import due_key
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.gate import Gate, Waiter
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Priority
from punctual.domain.planning.disposal import Disposal, disposal_on_pause
from punctual.domain.status import FINAL, Status
from punctual.stages.api.submit import Submit
from punctual.stages.dispatch import send, sweep
from punctual.stages.dispatch.start_checks import StartChecks
from punctual.stages.plan import plan
from punctual.stages.plan.intake import Intake
from punctual.stages.run import work
from punctual.stages.run.gates import Gatekeeper
from punctual.stages.run.work import Worker
from punctual.stages.watch.shard_numbers import ShardNumbers

Patches = Iterator[Any]


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


def covered_by_nothing() -> Patches:
    """An edit removes a waiter although it covers a skipped execution."""

    def delete_if(table: Table, key: Any, condition: str, values: Any, **names: str) -> bool:
        return _delete_if(table, key, condition.replace(" AND attribute_not_exists(#covers)", ""), values, **names)

    yield mock.patch.object(Table, "delete_if", delete_if)


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


def taken_over_before_the_lease_expired() -> Patches:
    """A worker takes over an execution whose lease was renewed after the order to take over was sent."""

    def may_take_over(_: Worker, current: Execution, order: WorkOrder) -> bool:
        return current.status is Status.RUNNING and current.attempt == order.attempt - 1

    yield mock.patch.object(Worker, "_may_take_over", may_take_over)
    yield mock.patch.object(sweep, "LEASE_SUSPECT_AFTER", timedelta())  # an order for each execution that runs


def paused_job_continues() -> Patches:
    """The planner keeps the executions of a paused job."""
    yield mock.patch.object(plan, "disposal_on_pause", return_value=Disposal.KEEP)


def due_execution_of_a_paused_job_starts() -> Patches:
    """The planner keeps what was due before a pause and has not started."""

    def disposal(*arguments: Any) -> Disposal:
        found = disposal_on_pause(*arguments)
        return Disposal.KEEP if found is Disposal.SKIP else found

    yield mock.patch.object(plan, "disposal_on_pause", disposal)


def late_decision_accepted() -> Patches:
    """A worker ends an execution although another worker runs a later attempt."""

    def conclude(
        table: DynamoExecutions, one: Execution, decision: AttemptDecision, now: datetime, also: str, values: Item
    ) -> WriteResult:
        later = also.replace("#attempt = :attempt", "#attempt >= :attempt") if decision.status in FINAL else also
        return _conclude(table, one, decision, now, later, values)

    yield mock.patch.object(DynamoExecutions, "_conclude", conclude)


def removed_job_retries() -> Patches:
    """The removal of a job leaves out executions between attempts."""

    def stop(planner: plan.Planner, job_id: str, execution_id: str, reason: str) -> None:
        execution = planner.executions.get(job_id, execution_id)
        if execution is not None and execution.status is not Status.RETRYING:
            _stop(planner, job_id, execution_id, reason)

    yield mock.patch.object(plan.Planner, "stop", stop)


def dead_worker_not_noticed() -> Patches:
    """The executions that came due a minute ago are not checked."""
    yield mock.patch.object(StartChecks, "check_due", return_value=0)


def start_without_check() -> Patches:
    """The planner sets no timer for a start that is not at the due instant."""
    yield mock.patch.object(send, "start_check", return_value=None)


def shards_not_stored() -> Patches:
    """Functions write under another number of shards without having stored it."""
    yield mock.patch.object(DynamoShards, "_store", lambda _, needed: needed)


def former_shards_not_swept() -> Patches:
    """A number of shards is removed as soon as the monitor has another one."""
    yield mock.patch.object(ShardNumbers, "_is_drained", lambda one, number, *_: number != one.used)


def message_of_a_batch_lost() -> Patches:
    """The intake stores only the first message of a batch."""
    yield mock.patch.object(Intake, "take", lambda intake, messages: _take(intake, list(messages)[:1]))


def full_gate_without_rule() -> Patches:
    """An execution at a full gate neither waits nor is skipped: its worker gives up after some tries."""
    yield mock.patch.object(Gatekeeper, "_wait_or_skip", return_value=False)


_RUNS = (Status.RUNNING, Status.WAITING, Status.RETRYING, Status.STARTING)
_repair, _stop, _take = Gatekeeper.repair, plan.Planner.stop, Intake.take
_delete_if, _conclude = Table.delete_if, DynamoExecutions._conclude
