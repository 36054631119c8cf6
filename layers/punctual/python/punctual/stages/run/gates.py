"""Gates: limit how many executions run at once. docs/gates.md specifies the protocol and argues why it is correct.

Transitions: at a full gate, ``queued`` or ``retrying`` becomes ``waiting``, or ``skipped`` if the gate's rule says so.
A grant moves ``waiting`` to ``queued``. A rate limit postpones the start: the execution stays ``queued``.

A place is held for the claim of an execution: its revision and attempt. Every change of a gate is one conditional
write, or one transaction with the execution that it is about, so no step depends on another step of the same process.
``grant`` gives free places to waiters, ``repair`` evicts holders that may not hold their place; any process may call
either at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import GateContention
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.lease import CANCEL_GRACE, MAX_CONTAINER_STOP_GRACE
from punctual.domain.identity import job_of
from punctual.domain.jobs.gate import (
    OF_BACKFILL,
    OF_JOB,
    Entrant,
    FullGateAction,
    Gate,
    GateState,
    Waiter,
    WhenFull,
    decide_at_full_gate,
)
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.gates import GatedExecutions, Gates

MAX_GATE_TRIES = 20
"""How often an operation is repeated when concurrent writers change the same gate or execution."""
RESERVED_START_TOLERANCE = timedelta(seconds=5)
"""A start that was reserved longer ago than this is reserved again: late executions must not start all at once."""


@dataclass(frozen=True)
class Gatekeeper:
    gates: Gates
    executions: GatedExecutions
    clock: Clock

    def acquire(self, entrant: Entrant, gates: Sequence[Gate]) -> bool:
        """Take a place at every gate, in the order given, and return whether the execution may run. Idempotent.

        If not, the execution waits, was postponed by a rate limit, or was skipped, and its record says so; or it is not
        to start any more. Raises ``GateContention``.
        """
        for number, gate in enumerate(gates):
            if gate.limit is not None and not self._acquire(gate, entrant, gates[:number]):
                return False
            if gate.rate is not None and not self._may_start_now(gate, entrant):
                return False  # it keeps the places it holds: the rate limit lets no other execution start earlier
        return True

    def enqueue(self, gate: Gate, executions: Sequence[Execution]) -> list[Execution]:
        """Store the executions of a backfill in the queue of its gate, and return the stored ones. Idempotent.

        After a crash, the stored executions run; a repeated request stores the rest.
        """
        stored = self.gates.enqueue_new(gate, executions)
        self.grant(gate.name)
        return stored

    def release(self, execution_id: str, gates: Iterable[Gate], claim_number: int | None = None) -> None:
        """Give up the places of an execution that has ended, or the places that it held for a claim. Idempotent."""
        for gate in gates:
            if gate.limit is not None and self.gates.release(gate.name, execution_id, claim_number):
                self.grant(gate.name)

    def give_back(self, entrant: Entrant, gates: Iterable[Gate], seen: Execution | None) -> None:
        """Give up the places of an entrant that is not to start, unless it may hold them according to ``seen``."""
        for gate in gates:
            if gate.limit is not None and not (seen and seen.may_hold(gate.name)):
                self._evict(gate.name, entrant.execution_id, seen)

    def grant(self, name: str) -> None:
        """Give the free places of a gate to its first waiters, and remove the record of a gate that is not in use.

        Idempotent; any process may call it at any time. Only writes that fail count as tries: a pause may leave many
        waiters to drop.
        """
        failures = 0
        while failures < MAX_GATE_TRIES:
            state = self.gates.state(name)
            if state.queue_mark is None:
                if not state.holders:
                    self.gates.remove_if_empty(name)
                return
            waiter = self.gates.first_waiter(name)
            if waiter is None:
                failures += not self.gates.clear_queue_mark(name, state.queue_mark)
                continue
            waiting = self.executions.get(job_of(waiter.execution_id), waiter.execution_id)
            gate = _gate_of_waiter(name, waiter, waiting)
            if waiting is None or gate is None:
                failures += not self.gates.drop(name, waiter)
            elif len(state.holders) < (gate.limit or 0):
                failures += not self.gates.grant(gate, waiter, waiting, self.clock())
            else:
                if gate.when_full is WhenFull.REPLACE:
                    self._stop_holders(state, waiter.execution_id)
                return

    def stop(self, execution: Execution, reason: str, grace: timedelta) -> Execution | None:
        """Cancel an execution and return it as stored; ``None`` if it has ended by itself. Idempotent.

        A running execution is asked to stop within ``grace``. Without any grace, an execution of the long lane is
        cancelled at once, without waiting for its containers. Raises ``GateContention``.
        """
        current: Execution | None = execution
        for _ in range(MAX_GATE_TRIES):
            if current is None or current.status in FINAL:
                return None
            if current.status is Status.RUNNING and (current.lane is Lane.SHORT or grace):
                longest = MAX_CONTAINER_STOP_GRACE if current.lane is Lane.LONG else grace
                now = self.clock()
                if asked := self.executions.ask_to_stop(current, now + min(grace, longest), reason, now):
                    return asked
            elif cancelled := self.executions.cancel(current, reason, self.clock()):
                self.release(cancelled.execution_id, cancelled.gates)
                return cancelled
            current = self.executions.get(current.job_id, current.execution_id)
        raise GateContention(f"execution {execution.execution_id}: status changed {MAX_GATE_TRIES} times during a stop")

    def repair(self, share: int, shares: int) -> Iterator[Execution]:
        """Repair one of ``shares`` equal shares of the gates, and yield the holders of gates of jobs and backfills.

        Evicts holders that may not hold their place, and grants free places to waiters. The dispatcher examines the
        holders that are yielded. Running holders of a backfill are left to the index of running executions. Idempotent.
        """
        for page in self.gates.gates(share, shares):
            ids = {execution_id for state in page.values() for execution_id in state.holders}
            found = {one.execution_id: one for one in self.executions.get_many(ids)}
            for name, state in page.items():
                for execution_id in state.holders:
                    current = found.get(execution_id)
                    if current is None or not current.may_hold(name):
                        self._evict(name, execution_id, current)
                    elif name.startswith(OF_JOB) or (
                        name.startswith(OF_BACKFILL) and current.status is not Status.RUNNING
                    ):
                        yield current
                if state.queue_mark is not None or not state.holders:
                    self.grant(name)

    def _acquire(self, gate: Gate, entrant: Entrant, passed: Sequence[Gate]) -> bool:
        for _ in range(MAX_GATE_TRIES):
            state = self.gates.acquire(gate, entrant)
            if state is None:
                return True
            if not self._is_to_start(entrant, passed):
                return False
            # The gate of a key never skips, so a holder that has ended only delays a waiter until the next repair. That
            # saves reading all holders of a busy key for each entrant.
            if not gate.of_key and not self._has_live_holder(gate.name, state):
                continue
            if self._wait_or_skip(gate, entrant, state):
                return False
            self.grant(gate.name)  # drops a first waiter whose execution does not wait any more
        raise GateContention(
            f"gate {gate.name}: changed {MAX_GATE_TRIES} times while {entrant.execution_id} acquired it"
        )

    def _is_to_start(self, entrant: Entrant, passed: Sequence[Gate]) -> bool:
        """Whether the execution still has the revision, attempt and run that it was sent for, and has not started.

        If not, its places at the gates that it has ``passed`` are given back.
        """
        current = self.executions.get(job_of(entrant.execution_id), entrant.execution_id)
        if current is not None and _is_as_sent(current, entrant):
            return True
        self.give_back(entrant, passed, current)
        return False

    def _has_live_holder(self, name: str, state: GateState) -> bool:
        """Evict the holders that may not hold their place, and return whether another one is left.

        So no execution is skipped, and none waits for the next repair, because of an ended holder.
        """
        found = self.executions.read_many(state.holders)
        dead = [one for one in state.holders if one not in found or not found[one].may_hold(name)]
        for execution_id in dead:
            self._evict(name, execution_id, found.get(execution_id))
        if not state.holders:
            self.grant(name)
        return len(dead) < len(state.holders)

    def _wait_or_skip(self, gate: Gate, entrant: Entrant, state: GateState) -> bool:
        """Apply the rule of a full gate and return whether that is done; ``False`` if the gate has changed."""
        waiter = self.gates.first_waiter(gate.name) if gate.has_single_waiter else None
        decision = decide_at_full_gate(
            gate, entrant.execution_id, state.holders, waiter.execution_id if waiter else None
        )
        now = self.clock()
        if decision.action is FullGateAction.SKIP and waiter is not None:
            return self.gates.skip_for_waiter(entrant, gate.name, waiter, decision, now)
        if decision.action is FullGateAction.SKIP:
            return self.executions.skip_entrant(entrant, decision.reason, now)
        if decision.action is FullGateAction.REPLACE and waiter is not None:
            waits = self.gates.replace_waiter(gate, entrant, waiter, decision.reason, now)
        else:
            waits = self.gates.enqueue(gate, entrant, decision.reason)
        if waits:
            self.grant(gate.name)
        return waits

    def _stop_holders(self, state: GateState, successor: str) -> None:
        for current in self.executions.read_many(state.holders).values():
            if current.cancel_at is None:
                self.stop(current, f"replaced by {successor}", CANCEL_GRACE)

    def _evict(self, name: str, execution_id: str, seen: Execution | None) -> None:
        if self.gates.evict(name, execution_id, seen):
            self.grant(name)

    def _may_start_now(self, gate: Gate, entrant: Entrant) -> bool:
        """Reserve a start under the rate limit of the gate; if it is in the future, postpone the execution to it.

        ``True`` also for an execution that was changed meanwhile: it reserves nothing, and its claim will be refused.
        """
        assert gate.rate is not None
        now = self.clock()
        if entrant.reserved_start is not None and now <= entrant.reserved_start + RESERVED_START_TOLERANCE:
            return True
        current = self.executions.get(job_of(entrant.execution_id), entrant.execution_id)
        if current is None or not _is_as_sent(current, entrant):
            return True
        if current.rate_at is not None and current.rate_at > now:  # it was postponed meanwhile, and will be sent again
            return False
        start = self.gates.reserve(gate.name, gate.rate, now)
        if start <= now:
            return True
        reason = f"no more than {gate.rate.starts} start in {gate.rate.per_seconds} seconds"
        self.executions.postpone(entrant, start, reason)
        return False


def _is_as_sent(current: Execution, entrant: Entrant) -> bool:
    is_same = (current.revision, current.attempt + 1) == (entrant.revision, entrant.attempt)
    is_attached = entrant.run_arn is None or current.run_arn == entrant.run_arn
    return is_same and is_attached and current.status in (Status.QUEUED, Status.RETRYING)


def _gate_of_waiter(name: str, waiter: Waiter, current: Execution | None) -> Gate | None:
    """Return the gate under the rules of its waiter; ``None`` if the execution does not wait here any more."""
    if current is None or current.status is not Status.WAITING or current.waits_at != name:
        return None
    is_same = (current.revision, current.attempt + 1) == (waiter.revision, waiter.attempt)
    return next((one for one in current.gates if is_same and one.name == name), None)
