"""Gatekeep: let executions in where only so many may run at once, have them wait in line, and hand their places on.

Whoever waits is written down as waiting first, then stands in line, then tries the gate again; whoever leaves looks at
the line before and after. So however the two fall together, one of them sees the other. A place is handed to the next
in line without being free in between: nobody slips in. What breaks off on the way is mended once a minute by
``repair``, or when the order comes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.horizon import CANCEL_GRACE, LONGEST_LEAVE, SUSPICION
from punctual.domain.identity import job_of
from punctual.domain.jobs.gate import OF_BACKFILL, OF_JOB, ONLY, Entrant, Gate, Waiter, WhenFull, may_yet_come, turn_of
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, NOT_STARTED, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.gates import GatedExecutions, Gates

TRIES = 10
"""How often something that others move at the same time is looked at again."""


@dataclass(frozen=True)
class Gatekeeper:
    gates: Gates
    executions: GatedExecutions
    clock: Clock

    def acquire(self, entrant: Entrant, gates: Iterable[Gate]) -> bool:
        """Whether it may run. If not, it waits, has been put off, or has been skipped, and its record says so."""
        for gate in gates:
            if gate.limit is not None and not self._enter(gate, entrant):
                return False
            if gate.rate is not None and not entrant.rated and not self._in_time(gate, entrant):
                return False  # and keeps the places that it has: nobody could start in its stead
        return True

    def line_up(self, executions: Sequence[Execution]) -> None:
        """Give those of a backfill their places in the order in which they are to run, before any of them is stored.

        So it does not matter in which order anybody hears of them. What then is not stored is passed over.
        """
        gate = _of_backfill(executions[0]) if executions else None
        if gate is None or gate.limit is None or executions[0].held:  # by what they depend on, they come as they may
            return
        for one in executions[: gate.limit]:
            self.gates.enter(gate, one.execution_id)
        line = [Waiter(one.execution_id, _turn(one)) for one in executions[gate.limit :]]
        self.gates.form_line(gate.name, line, self.clock())

    def is_its_turn(self, execution: Execution) -> bool:
        """Whether one of a backfill that has not been tried may be sent on its way; if not, it waits."""
        gate = _of_backfill(execution)
        if gate is None or execution.status is not Status.QUEUED or execution.attempt or execution.run_arn:
            return True
        entrant = Entrant(
            execution_id=execution.execution_id, turn=_turn(execution), revision=execution.revision, tried=0
        )
        return self.acquire(entrant, [gate])

    def give_up(self, execution: Execution) -> None:
        """One that has its place in a backfill is not to run: another stands for its instant."""
        gate = _of_backfill(execution)
        if gate is not None:
            self.gates.step_out(gate.name, Waiter(execution.execution_id, _turn(execution)))
            self.leave(execution.execution_id, [gate])

    def leave(self, execution_id: str, gates: Iterable[Gate]) -> None:
        """Give its places to whoever is next. Again is fine."""
        for gate in gates:
            if gate.limit is not None and gate.when_full is not WhenFull.SKIP:
                self._hand_on(gate.name, execution_id)
            elif gate.limit is not None and self.gates.leave(gate.name, execution_id):
                self._wake_first(gate.name)  # nobody waits there, unless the rule was another one a moment ago

    def stop(self, execution: Execution, reason: str, grace: timedelta) -> Execution | None:
        """Cancel what has not ended: how it stands then, or ``None`` when it has ended by itself.

        One that runs is asked to stop, and has a while to do so. Without any grace a long one is cancelled at once: its
        containers need not be heard.
        """
        standing: Execution | None = execution
        for _ in range(TRIES):
            if standing is None or standing.status in FINAL:
                return None
            if standing.status is Status.RUNNING and (standing.lane is Lane.SHORT or grace or standing.cancel_at):
                longest = LONGEST_LEAVE if standing.lane is Lane.LONG else grace
                if asked := self.executions.ask_to_stop(standing, self.clock() + min(grace, longest), reason):
                    return asked
            elif cancelled := self.executions.cancel(standing, reason, self.clock()):
                self.leave(cancelled.execution_id, cancelled.gates)
                return cancelled
            standing = self.executions.get(standing.job_id, standing.execution_id)
        raise RuntimeError(f"{execution.execution_id} does not hold still")

    def repair(self, shard: int) -> Iterator[Execution]:
        """Those inside the gate of their job who may need another order. What broke off half-way is mended."""
        for page in self.gates.held(shard):
            ids = {execution_id for inside in page.values() for execution_id in inside}
            found = {one.execution_id: one for one in self.executions.get_many(ids)}
            for name, inside in page.items():
                for execution_id in inside:
                    standing = found.get(execution_id)
                    if standing is None or self._is_gone(standing, name):
                        self._throw_out_if_gone(name, execution_id)
                    elif standing.waits_before(name):
                        self._throw_out_if_waiting_before(name, execution_id)
                    elif standing.status is Status.WAITING and standing.waits_at == name:
                        self._wake(name, execution_id)
                    elif _may_be_stuck(standing, name, self.clock()):
                        yield standing

    def _throw_out_if_gone(self, name: str, execution_id: str) -> bool:
        """An order of one that was forgotten, or has ended, gets in before its claim is refused."""
        standing = self.executions.get(job_of(execution_id), execution_id)  # as it is now, and not a moment ago
        gone = self._is_gone(standing, name)
        if gone:
            self._hand_on(name, execution_id)
        return gone

    def _throw_out_if_waiting_before(self, name: str, execution_id: str) -> None:
        """One that was given a place here, and then had to wait elsewhere by rules that it got meanwhile.

        Others here may be what it waits for. It comes by here again.
        """
        standing = self.executions.get(job_of(execution_id), execution_id)
        if standing is not None and standing.waits_before(name):
            self._hand_on(name, execution_id)

    def _is_gone(self, standing: Execution | None, name: str) -> bool:
        return not may_yet_come(name, self.clock()) if standing is None else not standing.belongs_in(name)

    def _in_time(self, gate: Gate, entrant: Entrant) -> bool:
        assert gate.rate is not None
        now = self.clock()
        standing = self.executions.get(job_of(entrant.execution_id), entrant.execution_id)
        if standing is None or not _is_to_start(standing, entrant):
            return True  # the claim decides, and no start is reserved in vain
        if standing.rate_at is not None:  # it was put off meanwhile, and comes by itself
            return standing.rate_at <= now
        start = self.gates.reserve(gate.name, gate.rate, now)
        if start <= now:
            return True
        reason = f"no more than {gate.rate.starts} start in {gate.rate.per_seconds} seconds"
        self.executions.put_off(entrant, start, reason)
        return False

    def _enter(self, gate: Gate, entrant: Entrant) -> bool:
        inside = self.gates.enter(gate, entrant.execution_id)
        for _ in range(TRIES):  # before anybody has to yield: whether those inside are really there
            if inside is None or gate.when_full is WhenFull.WAIT or not self._make_room(gate.name, inside):
                break
            inside = self.gates.enter(gate, entrant.execution_id)
        if inside is None:
            return True
        if gate.when_full is WhenFull.SKIP:
            self.executions.skip_entrant(entrant, f"{_named(inside)} still runs", self.clock())
            return False
        reason = f"{gate.limit} of its key run already" if gate.of_key else f"waits for {_named(inside)}"
        if not self.executions.wait(entrant, gate.name, reason):
            return False
        waiter = self._stand(gate, Waiter(entrant.execution_id, entrant.turn))
        if waiter is None:
            return False
        if gate.when_full is WhenFull.TAKE_OVER:
            self._ask_to_leave(inside, entrant.execution_id)
        for _ in range(TRIES):
            if self.gates.enter(gate, entrant.execution_id) is None:
                self.gates.step_out(gate.name, waiter)
                return True
            if not gate.of_job or self.gates.ask_for_word(gate.name):
                return False
        raise RuntimeError(f"the gate {gate.name} does not hold still")

    def _make_room(self, name: str, inside: Iterable[str]) -> bool:
        return any(self._throw_out_if_gone(name, execution_id) for execution_id in inside)

    def _stand(self, gate: Gate, waiter: Waiter) -> Waiter | None:
        """Its place in line, or ``None`` where there is none for it: then it has been skipped."""
        if gate.when_full is WhenFull.WAIT:
            self.gates.stand_in_line(gate.name, waiter.execution_id, waiter.turn, self.clock())
            return waiter
        other = None
        for _ in range(TRIES):
            other = self.gates.stand_alone(gate.name, waiter.execution_id, other, self.clock())
            if other is None:
                return Waiter(waiter.execution_id, ONLY)
            alone = gate.when_full is WhenFull.WAIT_ALONE
            if self._waits(other, gate.name) and (alone or other > waiter.execution_id):
                words = "waits already" if alone else "is to run in its place"
                self._skip(waiter.execution_id, f"{other} {words}", other)
                return None
            if not alone:
                self._skip(other, f"{waiter.execution_id} is to run in its place", waiter.execution_id)
        raise RuntimeError(f"the line at {gate.name} does not hold still")

    def _waits(self, execution_id: str, gate: str) -> bool:
        standing = self.executions.get(job_of(execution_id), execution_id)
        return standing is not None and standing.status is Status.WAITING and standing.waits_at == gate

    def _ask_to_leave(self, inside: Iterable[str], for_whom: str) -> None:
        for execution_id in inside:
            standing = self.executions.get(job_of(execution_id), execution_id)
            if standing is not None and standing.cancel_at is None:
                self.stop(standing, f"{for_whom} is to run in its place", CANCEL_GRACE)

    def _hand_on(self, name: str, execution_id: str) -> None:
        while (waiter := self.gates.first_in_line(name)) is not None:
            if waiter.execution_id == execution_id:  # in line itself: cancelled there, or since an earlier turn
                self.gates.step_out(name, waiter)
                continue
            if not self.gates.pass_on(name, execution_id, waiter.execution_id):
                break
            self.gates.step_out(name, waiter)
            if self._wake(name, waiter.execution_id):
                return
            execution_id = waiter.execution_id  # it has ended, or waits elsewhere: its place goes on to the next
        self._let_go(name, execution_id)

    def _let_go(self, name: str, execution_id: str) -> None:
        self.gates.leave(name, execution_id)
        self._wake_first(name)

    def _wake_first(self, name: str) -> None:
        while (waiter := self.gates.first_in_line(name)) is not None:  # one that came too late to see the place
            has_business = self._wake(name, waiter.execution_id)
            if has_business and waiter.execution_id not in self.gates.inside(name):
                return
            self.gates.step_out(name, waiter)

    def _wake(self, name: str, execution_id: str) -> bool:
        """Send one that waits here on its way again; ``False`` when it has no business in line any more.

        Rules that it got meanwhile may have it wait elsewhere first: then it stands in line again when it comes by.
        """
        job_id = job_of(execution_id)
        if self.executions.wake(job_id, execution_id, name, self.clock()):
            return True
        standing = self.executions.get(job_id, execution_id)
        if standing is None:
            return may_yet_come(name, self.clock())
        if standing.status is Status.WAITING:
            return standing.waits_at == name
        return standing.status is Status.QUEUED and not standing.held

    def _skip(self, execution_id: str, reason: str, covered_by: str | None) -> None:
        self.executions.skip(job_of(execution_id), execution_id, reason, self.clock(), covered_by)


def _of_backfill(execution: Execution) -> Gate | None:
    return next((gate for gate in execution.gates if gate.of_backfill), None)


def _turn(execution: Execution) -> str:
    return turn_of(execution.execution_id, execution.released_at, execution.priority)


def _is_to_start(standing: Execution, entrant: Entrant) -> bool:
    """Whether it is still what its order was sent for."""
    sent_for = standing.revision == entrant.revision and standing.attempt == entrant.tried
    return sent_for and standing.status in NOT_STARTED


def _named(inside: Iterable[str]) -> str:
    return ", ".join(sorted(inside))


def _may_be_stuck(standing: Execution, name: str, now: datetime) -> bool:
    """Inside and on its way to a worker for long: whoever carried the order may have died before the claim.

    What runs inside the gate of its job is found by that alone.
    """
    if standing.lane is not Lane.SHORT or not name.startswith((OF_JOB, OF_BACKFILL)):
        return False
    if standing.status is Status.RUNNING:
        return name.startswith(OF_JOB)
    waited = now - max(standing.queued_at or standing.released_at, standing.retry_at or standing.released_at)
    return standing.status is Status.QUEUED and waited > 10 * SUSPICION
