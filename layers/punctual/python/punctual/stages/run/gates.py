"""Gates: limit how many executions run at once, let others wait in a queue, and transfer freed places to waiters.

Transitions: at a full gate, ``queued`` becomes ``waiting``, or ``skipped`` if the gate's rule says so. ``waiting``
becomes ``queued`` when a place is transferred. A rate limit postpones the start; the execution stays ``queued``.

No wake-up is lost. A waiter is marked ``waiting``, appended to the queue, and then retries the gate. The holder that
releases its place reads the queue before and after. Whatever the order, one of the two sees the other. A place is
transferred to the first waiter in one write and is never free in between, so no later execution overtakes the queue. If
a process crashes in between, ``repair`` completes its work within a minute, or the redelivered order does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.lease import CANCEL_GRACE, LEASE_SUSPECT_AFTER, MAX_CONTAINER_STOP_GRACE
from punctual.domain.identity import job_of
from punctual.domain.jobs.gate import (
    OF_BACKFILL,
    OF_JOB,
    ONLY,
    Entrant,
    Gate,
    Waiter,
    WhenFull,
    is_within_grace,
    key_in_use,
    queue_key,
)
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, PENDING_STATUSES, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.gates import GatedExecutions, Gates

MAX_CONFLICT_RETRIES = 10
"""How often a read-and-write is repeated when concurrent writers change the same item."""


class GateContention(RuntimeError):
    """Concurrent writers kept changing a gate or an execution. The caller's message is delivered again later."""


@dataclass(frozen=True)
class Gatekeeper:
    gates: Gates
    executions: GatedExecutions
    clock: Clock

    def acquire(self, entrant: Entrant, gates: Iterable[Gate]) -> bool:
        """Take a place at every gate and return whether the execution may run. Idempotent.

        If not, the execution waits, was postponed by a rate limit, or was skipped, and its record says so. Gates are
        passed in the order given. Raises ``GateContention``.
        """
        for gate in gates:
            if gate.limit is not None and not self._enter(gate, entrant):
                return False
            if gate.rate is not None and not entrant.has_reserved_start and not self._in_time(gate, entrant):
                return False  # it keeps the places it holds: the rate limit lets no other execution start earlier
        return True

    def line_up(self, executions: Sequence[Execution]) -> None:
        """Assign the places of a backfill's gate in execution order, before any of the executions is stored.

        So the order of the stream records does not matter. An execution that is not stored afterwards is passed over.
        Executions with upstreams get no place: they arrive in the order in which their upstreams finish.
        """
        gate = _of_backfill(executions[0]) if executions else None
        if gate is None or gate.limit is None or executions[0].has_pending_upstreams:
            return
        for one in executions[: gate.limit]:
            self.gates.enter(gate, one.execution_id)
        waiters = [Waiter(one.execution_id, _turn(one)) for one in executions[gate.limit :]]
        self.gates.form_line(gate.name, waiters, self.clock())

    def is_its_turn(self, execution: Execution) -> bool:
        """Whether a work order may be sent for an execution; if its backfill's gate is full, the execution waits.

        Always true for an execution that is not part of a backfill, or that had an attempt.
        """
        gate = _of_backfill(execution)
        if gate is None or execution.status is not Status.QUEUED or execution.attempt or execution.run_arn:
            return True
        entrant = Entrant(
            execution_id=execution.execution_id, turn=_turn(execution), revision=execution.revision, tried=0
        )
        return self.acquire(entrant, [gate])

    def give_up(self, execution: Execution) -> None:
        """Release the backfill place of an execution that was not stored, because its id existed already."""
        gate = _of_backfill(execution)
        if gate is not None:
            self.gates.step_out(gate.name, Waiter(execution.execution_id, _turn(execution)))
            self.release(execution.execution_id, [gate])

    def release(self, execution_id: str, gates: Iterable[Gate]) -> None:
        """Transfer the places of an execution to the next waiters. Idempotent."""
        for gate in gates:
            if gate.limit is not None and gate.when_full is not WhenFull.SKIP:
                self._transfer(gate.name, execution_id)
            elif gate.limit is not None and self.gates.release(gate.name, execution_id):
                self._wake_first(gate.name)  # such a gate has waiters only if its rule was edited a moment ago

    def stop(self, execution: Execution, reason: str, grace: timedelta) -> Execution | None:
        """Cancel an execution and return it as stored; ``None`` if it has ended by itself. Idempotent.

        A running execution is asked to stop within ``grace``. Without any grace, an execution of the long lane is
        cancelled at once, without waiting for its containers. Raises ``GateContention``.
        """
        current: Execution | None = execution
        for _ in range(MAX_CONFLICT_RETRIES):
            if current is None or current.status in FINAL:
                return None
            if current.status is Status.RUNNING and (current.lane is Lane.SHORT or grace or current.cancel_at):
                longest = MAX_CONTAINER_STOP_GRACE if current.lane is Lane.LONG else grace
                if asked := self.executions.ask_to_stop(current, self.clock() + min(grace, longest), reason):
                    return asked
            elif cancelled := self.executions.cancel(current, reason, self.clock()):
                self.release(cancelled.execution_id, cancelled.gates)
                return cancelled
            current = self.executions.get(current.job_id, current.execution_id)
        raise GateContention(
            f"execution {execution.execution_id}: status changed {MAX_CONFLICT_RETRIES} times during a stop"
        )

    def repair(self, shard: int) -> Iterator[Execution]:
        """Complete interrupted gate operations of a shard, and yield executions whose work order may be lost.

        A place of an ended or removed execution is transferred, and a waiter that holds a place is woken. Yielded are
        running executions that hold the gate of their job, and executions that were ``queued`` for too long.
        """
        for page in self.gates.held(shard):
            ids = {execution_id for inside in page.values() for execution_id in inside}
            found = {one.execution_id: one for one in self.executions.get_many(ids)}
            for name, inside in page.items():
                for execution_id in inside:
                    current = found.get(execution_id)
                    if current is None or self._is_gone(current, name):
                        self._evict_if_gone(name, execution_id)
                    elif current.waits_before(name):
                        self._evict_if_waiting_before(name, execution_id)
                    elif current.status is Status.WAITING and current.waits_at == name:
                        self._wake(name, execution_id)
                    elif _may_be_stuck(current, name, self.clock()):
                        yield current

    def _evict_if_gone(self, name: str, execution_id: str) -> bool:
        """Transfer the place of an execution that has ended or was removed, and return whether it had.

        The order of such an execution takes a place before its claim is refused.
        """
        current = self.executions.get(job_of(execution_id), execution_id)  # a consistent read
        gone = self._is_gone(current, name)
        if gone:
            self._transfer(name, execution_id)
        return gone

    def _evict_if_waiting_before(self, name: str, execution_id: str) -> None:
        """Transfer the place of an execution that waits for an upstream or at an earlier gate, after an edit.

        Holding the place could cause a deadlock: it may wait for other holders of this gate. It acquires this gate
        again later.
        """
        current = self.executions.get(job_of(execution_id), execution_id)
        if current is not None and current.waits_before(name):
            self._transfer(name, execution_id)

    def _is_gone(self, current: Execution | None, name: str) -> bool:
        return not is_within_grace(name, self.clock()) if current is None else not current.belongs_in(name)

    def _in_time(self, gate: Gate, entrant: Entrant) -> bool:
        assert gate.rate is not None
        now = self.clock()
        current = self.executions.get(job_of(entrant.execution_id), entrant.execution_id)
        if current is None or not _is_to_start(current, entrant):
            return True  # the claim decides, and no start is reserved for nothing
        if current.rate_at is not None:  # it was postponed meanwhile; a timer or delayed order brings it back
            return current.rate_at <= now
        start = self.gates.reserve(gate.name, gate.rate, now)
        if start <= now:
            return True
        reason = f"no more than {gate.rate.starts} start in {gate.rate.per_seconds} seconds"
        self.executions.put_off(entrant, start, reason)
        return False

    def _enter(self, gate: Gate, entrant: Entrant) -> bool:
        inside = self.gates.enter(gate, entrant.execution_id)
        for _ in range(MAX_CONFLICT_RETRIES):  # evict holders that are gone before any execution is skipped or stopped
            if inside is None or gate.when_full is WhenFull.WAIT or not self._evict_gone(gate.name, inside):
                break
            inside = self.gates.enter(gate, entrant.execution_id)
        if inside is None:
            return True
        if gate.when_full is WhenFull.SKIP:
            self.executions.skip_entrant(entrant, f"{_named(inside)} still runs", self.clock())
            return False
        reason = key_in_use(len(inside)) if gate.of_key else f"waits for {_named(inside)}"
        if not self.executions.wait(entrant, gate.name, reason):
            return False
        waiter = self._enqueue(gate, Waiter(entrant.execution_id, entrant.turn))
        if waiter is None:
            return False
        if gate.when_full is WhenFull.TAKE_OVER:
            self._stop_holders(inside, entrant.execution_id)
        for _ in range(MAX_CONFLICT_RETRIES):
            if self.gates.enter(gate, entrant.execution_id) is None:
                self.gates.step_out(gate.name, waiter)
                return True
            if not gate.of_job or self.gates.ask_for_word(gate.name):
                return False
        raise GateContention(f"gate {gate.name}: no stable read after {MAX_CONFLICT_RETRIES} tries")

    def _evict_gone(self, name: str, inside: Iterable[str]) -> bool:
        return any(self._evict_if_gone(name, execution_id) for execution_id in inside)

    def _enqueue(self, gate: Gate, waiter: Waiter) -> Waiter | None:
        """Append the execution to the queue and return its waiter; ``None`` if the rule skipped the execution."""
        if gate.when_full is WhenFull.WAIT:
            self.gates.stand_in_line(gate.name, waiter.execution_id, waiter.turn, self.clock())
            return waiter
        other = None
        for _ in range(MAX_CONFLICT_RETRIES):
            other = self.gates.stand_alone(gate.name, waiter.execution_id, other, self.clock())
            if other is None:
                return Waiter(waiter.execution_id, ONLY)
            alone = gate.when_full is WhenFull.WAIT_ALONE
            if self._waits(other, gate.name) and (alone or other > waiter.execution_id):
                reason = f"{other} is already waiting" if alone else f"replaced by {other}"
                self._skip(waiter.execution_id, reason, other)
                return None
            if not alone:
                self._skip(other, f"replaced by {waiter.execution_id}", waiter.execution_id)
        raise GateContention(f"queue of gate {gate.name}: no stable read after {MAX_CONFLICT_RETRIES} tries")

    def _waits(self, execution_id: str, gate: str) -> bool:
        current = self.executions.get(job_of(execution_id), execution_id)
        return current is not None and current.status is Status.WAITING and current.waits_at == gate

    def _stop_holders(self, inside: Iterable[str], successor: str) -> None:
        for execution_id in inside:
            current = self.executions.get(job_of(execution_id), execution_id)
            if current is not None and current.cancel_at is None:
                self.stop(current, f"replaced by {successor}", CANCEL_GRACE)

    def _transfer(self, name: str, execution_id: str) -> None:
        while (waiter := self.gates.first_in_line(name)) is not None:
            if waiter.execution_id == execution_id:  # cancelled while it waited, or queued by an earlier order
                self.gates.step_out(name, waiter)
                continue
            if not self.gates.pass_on(name, execution_id, waiter.execution_id):
                break
            self.gates.step_out(name, waiter)
            if self._wake(name, waiter.execution_id):
                return
            execution_id = waiter.execution_id  # it has ended, or waits elsewhere: the next waiter gets the place
        self._free(name, execution_id)

    def _free(self, name: str, execution_id: str) -> None:
        self.gates.release(name, execution_id)
        self._wake_first(name)

    def _wake_first(self, name: str) -> None:
        """Wake the first waiter that belongs here: it may have been appended too late to see the free place."""
        while (waiter := self.gates.first_in_line(name)) is not None:
            belongs_here = self._wake(name, waiter.execution_id)
            if belongs_here and waiter.execution_id not in self.gates.inside(name):
                return
            self.gates.step_out(name, waiter)

    def _wake(self, name: str, execution_id: str) -> bool:
        """Move a waiter to ``queued``; ``False`` if it no longer belongs in the queue of this gate.

        After an edit it may have to wait elsewhere first; it is appended to this queue again when it gets here.
        """
        job_id = job_of(execution_id)
        if self.executions.wake(job_id, execution_id, name, self.clock()):
            return True
        current = self.executions.get(job_id, execution_id)
        if current is None:
            return is_within_grace(name, self.clock())
        if current.status is Status.WAITING:
            return current.waits_at == name
        return current.status is Status.QUEUED and not current.has_pending_upstreams

    def _skip(self, execution_id: str, reason: str, covered_by: str | None) -> None:
        self.executions.skip(job_of(execution_id), execution_id, reason, self.clock(), covered_by)


def _of_backfill(execution: Execution) -> Gate | None:
    return next((gate for gate in execution.gates if gate.of_backfill), None)


def _turn(execution: Execution) -> str:
    return queue_key(execution.execution_id, execution.earliest_start, execution.priority)


def _is_to_start(current: Execution, entrant: Entrant) -> bool:
    """Whether the execution still has the revision and attempt that its order was sent for, and has not started."""
    sent_for = current.revision == entrant.revision and current.attempt == entrant.tried
    return sent_for and current.status in PENDING_STATUSES


def _named(inside: Iterable[str]) -> str:
    return ", ".join(sorted(inside))


def _may_be_stuck(current: Execution, name: str, now: datetime) -> bool:
    """Whether a holder may need another work order.

    That is a holder that was ``queued`` for too long: the worker with its order may have died before the claim. It is
    also every running holder of the gate of its job: the index of running executions does not contain it.
    """
    if current.lane is not Lane.SHORT or not name.startswith((OF_JOB, OF_BACKFILL)):
        return False
    if current.status is Status.RUNNING:
        return name.startswith(OF_JOB)
    waited = now - max(current.queued_at or current.earliest_start, current.retry_at or current.earliest_start)
    return current.status is Status.QUEUED and waited > 10 * LEASE_SUSPECT_AFTER
