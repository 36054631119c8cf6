"""A model of the gate protocol (docs/gates.md) for exhaustive exploration.

Each step of a process is one atomic write or one read. A crashed process takes no further step, so
crashes need no action of their own. Every removable condition of the protocol is a ``Condition``.

Abstractions: all final statuses are one. Sending an order and its delivery are one step. A lease may expire at any
time. An order that has become obsolete counts as a duplicate when it is delivered. The repair is a set of independent
operations with reads of any age: evictions of one execution from one gate, and grants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

Process = tuple[Any, ...]
"""The name of the next step, and its arguments."""

QUEUED, WAITING, RUNNING, FINAL, REMOVED = "queued", "waiting", "running", "final", "removed"
RETRYING, DUE = "retrying", "due"
"""``DUE``: retrying, and the order of the next attempt was sent."""
UNCLEARED, HELD = "uncleared", "held"
"""After an edit that added an upstream: queued, with no work order yet, and waiting for the upstream."""
TO_CLAIM = (QUEUED, DUE)
NOWHERE = -1
ONLY = -1
"""The sort key of an execution whose rule lets only one wait: the first one."""


GRANTING = ("grant", "first", "clear", "give", "drop")
"""The steps of a grant."""


class Rule(StrEnum):
    WAIT = "wait"
    SKIP = "skip"
    QUEUE_ONE = "queue one"
    CANCEL_RUNNING = "cancel running"


class Condition(StrEnum):
    """A condition of the protocol, by what it prevents or requires."""

    ACQUIRE_BEHIND_QUEUE = "acquire: no `enqueued`"
    RAISE_ONLY = "acquire: an entry is only raised, never lowered"
    RAISE_EXISTING = "acquire: an entry of an earlier attempt is raised only if it still exists"
    RAISE_WITHIN_LIMIT = "acquire: an entry of an earlier claim is raised only if the gate is within its limit"
    ENQUEUE_IF_BUSY = "enqueue: the gate is busy"
    ENQUEUE_WITHOUT_ENTRY = "enqueue: no entry of the execution"
    ENQUEUE_STATUS = "enqueue: status, attempt and revision of the execution"
    REPLACE_WITHOUT_ENTRY = "cancel_running: no entry of the execution that replaces the waiter"
    COVERED_CHECK = "enqueue alone: the other execution waits here"
    REUSE_OWN_PLACE = "enqueue alone: a stale waiter of the execution itself is replaced"
    GRANT_STATUS = "grant: status, attempt and revision of the execution"
    GRANT_ROOM = "grant: there is room"
    GRANT_WITHOUT_ENTRY = "grant: no entry of the waiter"
    GRANT_SAME_WAITER = "grant: the waiter is unchanged"
    GRANT_NEXT_ATTEMPT = "grant: the entry is for the attempt about to be claimed"
    DROP_CHECK = "drop a waiter: its execution does not wait here"
    DROP_SAME_WAITER = "drop a waiter: the waiter is unchanged"
    DROP_BY_REVISION = "drop a waiter: also if its execution waits here under another attempt or revision"
    CLEAR_COMPARED = "clear `enqueued`: the value is unchanged"
    CLEAR_UNIQUE = "clear `enqueued`: values are never reused"
    RELEASE_ATTEMPT = "release: only an entry of this or an earlier attempt"
    EVICT_CHECK = "evict: status, attempt, revision, waits_at and is_cleared are unchanged"
    EVICT_CLEARED = "evict: is_cleared is unchanged"
    EVICT_ATTEMPT = "evict while retrying: only an entry of this or an earlier attempt"
    EVICT_AT_ALL = "repair: evicts"
    GRANT_AFTER_REPAIR = "repair: grants"
    CLAIM_REVISION = "claim: revision"
    TAKE_OVER_ACQUIRES_NOTHING = "take over: acquires nothing"
    TAKE_OVER_NEVER_CLAIMS = "take over: never claims"
    SKIP_CHECKS_HOLDER = "skip: evicts holders that may not hold"
    SKIP_BEHIND_HOLDER = "skip: only if the gate has a holder, otherwise grant and acquire again"
    ASK_IN_GRANT = "grant: asks the holders to stop"
    LATER_GATES_NOT_HELD = "may hold: while waiting, only the gates before"


class Execution(NamedTuple):
    status: str
    attempt: int
    revision: int
    waits_at: int
    asked: bool


class Waiter(NamedTuple):
    key: int
    execution: int
    attempt: int
    """The attempt about to be claimed."""
    revision: int


class Gate(NamedTuple):
    entries: tuple[tuple[int, int], ...]
    """Execution and claim number, sorted."""
    size: int
    """The attribute ``count`` of the specification."""
    enqueued: int
    """0 if it does not exist."""
    waiters: tuple[Waiter, ...]

    def entry(self, execution: int) -> int | None:
        for holder, number in self.entries:
            if holder == execution:
                return number
        return None


def claim_number(revision: int, attempt: int) -> int:
    return 10 * revision + attempt


class Budget(NamedTuple):
    """How often each kind of event may still happen."""

    duplicates: int = 0
    expiries: int = 0
    cancels: int = 0
    edits: int = 0
    repairs: int = 0
    settles: int = 0


class State(NamedTuple):
    executions: tuple[Execution, ...]
    gates: tuple[Gate, ...]
    orders: tuple[tuple[int, int, int, bool], ...]
    """Execution, attempt, revision, and whether it is yet to be delivered for the first time."""
    settles: tuple[tuple[int, int], ...]
    """Execution and attempt of releases that the settler may repeat."""
    processes: tuple[Process, ...]
    budget: Budget
    fault: str


@dataclass(frozen=True)
class GateSpec:
    limit: int = 1
    limit_after_edit: int | None = None
    """The limit under the rules of later revisions, if it differs."""
    kept: bool = False
    rules: tuple[Rule, ...] = (Rule.WAIT,)
    """One per execution, or one for all."""

    def limit_of(self, revision: int) -> int:
        return self.limit if not revision or self.limit_after_edit is None else self.limit_after_edit

    def rule(self, execution: int) -> Rule:
        return self.rules[execution % len(self.rules)]


@dataclass(frozen=True)
class Instance:
    executions: int
    gates: tuple[GateSpec, ...]
    attempts: int = 1
    budget: Budget = field(default_factory=Budget)
    edits: frozenset[str] = frozenset({"requeue"})
    """Of: requeue, remove, hold."""
    reorders: bool = False
    """An edit moves the execution to another position in the queue."""
    backfill: bool = False
    """The executions are stored as waiting in the queue of the first gate."""
    drops_gate: bool = False
    """After an edit, the rules no longer name the last gate."""
    without: frozenset[Condition] = frozenset()


class _Draft:
    """The next state while a step computes it."""

    def __init__(self, state: State, without: frozenset[Condition], process: Process | None = None) -> None:
        self.without = without
        self.executions = list(state.executions)
        self.gates = list(state.gates)
        self.orders = set(state.orders)
        self.settles = state.settles
        self.processes = list(state.processes)
        if process is not None:
            self.processes.remove(process)
        self.budget = state.budget
        self.fault = state.fault

    def freeze(self) -> State:
        orders = {(e, a, r, fresh and self._is_current(e, a, r)) for e, a, r, fresh in self.orders}
        if not self.budget.duplicates:
            orders = {order for order in orders if order[3]}
        if not self.budget.settles:
            self.settles = ()
        return State(
            tuple(self.executions),
            tuple(self.gates),
            tuple(sorted(orders)),
            self.settles,
            tuple(self._remaining()),
            self.budget,
            self.fault,
        )

    def _is_current(self, e: int, a: int, r: int) -> bool:
        one = self.executions[e]
        return one.attempt == a - 1 and one.revision == r and one.status not in (FINAL, REMOVED)

    def _remaining(self) -> Iterator[Process]:
        """The processes in a fixed order, without processes that can have no further effect.

        Of several equal grants one is left: another may start later.
        """
        previous: Process = ()
        for process in sorted(self.processes):
            name = process[0]
            if name in GRANTING and process == previous:
                continue
            previous = process
            if name == "run":
                one = self.executions[process[1]]
                if one.status != RUNNING or one.attempt != process[2]:
                    continue
            elif name == "grant":
                if not self.gates[process[1]].enqueued:
                    continue
            elif name == "clear":
                never_equal = not self.without & {Condition.CLEAR_COMPARED, Condition.CLEAR_UNIQUE}
                if never_equal and self.gates[process[1]].enqueued != process[2]:
                    continue
            elif name in ("evict", "give back") and Condition.EVICT_CHECK not in self.without:
                one, seen = self.executions[process[2 if name == "evict" else 1]], process[3]
                if one.attempt > seen.attempt or one.revision > seen.revision:
                    continue
            elif name == "take over" and Condition.TAKE_OVER_NEVER_CLAIMS not in self.without:
                one = self.executions[process[1]]
                if one.status != RUNNING or one.attempt != process[2] - 1:
                    continue
            yield process

    def write(self, e: int, **changes: Any) -> None:
        before = self.executions[e]
        if before.status == FINAL or (before.status == REMOVED and changes.get("revision") is None):
            self.fault = f"e{e} changed after it had ended"
        after = before._replace(**changes)
        self.executions[e] = after
        if after.status == QUEUED:
            self.order(e)

    def order(self, e: int) -> None:
        one = self.executions[e]
        order = (e, one.attempt + 1, one.revision)
        self.orders.discard((*order, False))
        self.orders.add((*order, True))

    def add(self, g: int, e: int, number: int, limit: int) -> None:
        gate = self.gates[g]
        if gate.size >= limit:
            self.fault = f"gate {g} exceeds its limit"
        entries = {**dict(gate.entries), e: number}
        self.gates[g] = gate._replace(entries=tuple(sorted(entries.items())), size=gate.size + 1)

    def set(self, g: int, e: int, number: int) -> None:
        gate = self.gates[g]
        entries = {**dict(gate.entries), e: number}
        self.gates[g] = gate._replace(entries=tuple(sorted(entries.items())))

    def remove(self, g: int, e: int) -> None:
        """Remove the entry, and grant if there may be waiters."""
        gate = self.gates[g]
        entries = tuple(entry for entry in gate.entries if entry[0] != e)
        self.gates[g] = gate._replace(entries=entries, size=gate.size - 1)
        if gate.enqueued:
            self.processes.append(("grant", g))

    def put_waiter(self, g: int, waiter: Waiter) -> None:
        others = [one for one in self.gates[g].waiters if (one.key, one.execution) != (waiter.key, waiter.execution)]
        if waiter.key == ONLY:
            others = [one for one in others if one.key != ONLY]
        self.gates[g] = self.gates[g]._replace(waiters=tuple(sorted([*others, waiter])))

    def delete_waiter(self, g: int, waiter: Waiter) -> None:
        """Delete the waiter with this key, whatever its attempt and revision are now."""
        key = (waiter.key, waiter.execution)
        others = tuple(one for one in self.gates[g].waiters if (one.key, one.execution) != key)
        self.gates[g] = self.gates[g]._replace(waiters=others)


class GateModel:
    """The transition system of an instance: see ``explorer.Model``.

    ``dependent`` are the states whose steps, or whose state at rest, depend on a ``watched`` condition.
    """

    def __init__(self, instance: Instance, watched: frozenset[Condition] = frozenset()) -> None:
        self.instance, self.watched = instance, watched
        self.dependent: dict[State, None] = {}
        self._state = self.initial()
        """The state whose steps are being computed."""
        self._at_rest: dict[tuple[Any, ...], State] = {}

    def initial(self) -> State:
        execution = Execution(QUEUED, 0, 0, NOWHERE, False)
        n = self.instance.executions
        if self.instance.backfill:
            waiters = tuple(Waiter(self._key(e, 0, 0), e, 1, 0) for e in range(n))
            first, *others = (Gate((), 0, 0, ()),) * len(self.instance.gates)
            return State(
                (execution._replace(status=WAITING, waits_at=0),) * n,
                (first._replace(enqueued=1, waiters=waiters), *others),
                (),
                (),
                (("grant", 0),),
                self.instance.budget,
                "",
            )
        return State(
            (execution,) * n,
            (Gate((), 0, 0, ()),) * len(self.instance.gates),
            tuple((e, 1, 0, True) for e in range(n)),
            (),
            (),
            self.instance.budget,
            "",
        )

    # Rules

    def _keeps(self, condition: Condition) -> bool:
        if condition in self.watched:
            self.dependent[self._state] = None
        return condition not in self.instance.without

    def _named(self, revision: int) -> tuple[int, ...]:
        """The gates that the rules of this revision name, in order."""
        n = len(self.instance.gates)
        return tuple(range(n - 1 if revision and self.instance.drops_gate else n))

    def _may_hold(self, one: Execution, g: int) -> bool:
        if g not in self._named(one.revision):
            return False
        if one.status == WAITING:
            return g < one.waits_at or not self._keeps(Condition.LATER_GATES_NOT_HELD)
        if one.status in (RETRYING, DUE):
            return self.instance.gates[g].kept
        return one.status in (QUEUED, RUNNING)

    def _waits(self, one: Execution, g: int, waiter: Waiter) -> bool:
        """Whether the execution waits here as this waiter says."""
        return (one.status, one.waits_at, one.attempt + 1, one.revision) == (
            WAITING,
            g,
            waiter.attempt,
            waiter.revision,
        )

    def _key(self, e: int, g: int, revision: int) -> int:
        if self.instance.gates[g].rule(e) in (Rule.QUEUE_ONE, Rule.CANCEL_RUNNING):
            return ONLY
        return e + (10 * revision if self.instance.reorders else 0)

    # Invariants

    def violation(self, state: State) -> str | None:
        if state.fault:
            return state.fault
        for g, gate in enumerate(state.gates):
            if gate.size != len(gate.entries):
                return f"gate {g}: count differs from the entries"
            if gate.waiters and not gate.enqueued:
                return f"gate {g} has a waiter and no `enqueued`"
            running = [one for one in state.executions if one.status == RUNNING and g in self._named(one.revision)]
            if len(running) > max((self.instance.gates[g].limit_of(one.revision) for one in running), default=0):
                return f"{len(running)} executions run at gate {g}"
        for e, one in enumerate(state.executions):
            if one.status == RUNNING:
                for g in self._named(one.revision):
                    if state.gates[g].entry(e) is None:
                        return f"e{e} runs without an entry in gate {g}"
            elif one.status == WAITING and not any(
                waiter.execution == e and self._waits(one, one.waits_at, waiter)
                for waiter in state.gates[one.waits_at].waiters
            ):
                return f"e{e} waits at gate {one.waits_at} without a waiter"
            if one.status == WAITING and state.gates[one.waits_at].entry(e) is not None:
                return f"e{e} waits at gate {one.waits_at}, where it has an entry"
        return None

    def at_rest(self, state: State) -> State:
        key = (state.executions, state.gates)
        if key in self._at_rest:
            return self._at_rest[key]
        self._state = state
        result = state._replace(processes=(), orders=(), settles=(), budget=Budget())
        for g in range(len(state.gates)):
            if self._keeps(Condition.EVICT_AT_ALL):
                for e, _ in result.gates[g].entries:
                    one = result.executions[e]
                    if not self._may_hold(one, g):
                        result = self._run_alone(result, ("evict", g, e, one))
            if self._keeps(Condition.GRANT_AFTER_REPAIR) and result.gates[g].enqueued:
                result = self._run_alone(result, ("grant", g))
        self._at_rest[key] = result
        return result

    def _run_alone(self, state: State, process: Process) -> State:
        state = state._replace(processes=(process,))
        for _ in range(100):
            if not state.processes:
                return state
            draft = _Draft(state, self.instance.without, state.processes[0])
            self._step(draft, state.processes[0], 0)
            state = draft.freeze()
        return state._replace(fault="the repair does not end", processes=())

    def violation_at_rest(self, state: State) -> str | None:
        if state.fault:
            return state.fault
        for g, (gate, spec) in enumerate(zip(state.gates, self.instance.gates, strict=True)):
            if gate.waiters and gate.size < spec.limit_of(state.executions[gate.waiters[0].execution].revision):
                return f"a waiter at gate {g}, which has room"
            for e, number in gate.entries:
                one = state.executions[e]
                about_to_be_claimed = one.status == DUE and number == claim_number(one.revision, one.attempt + 1)
                if not self._may_hold(one, g) and not about_to_be_claimed:
                    return f"e{e} holds gate {g} and may not"
                if one.status == WAITING and one.waits_at <= g:
                    return f"e{e} holds gate {g} and waits before it: a possible deadlock"
                stops = gate.waiters and spec.rule(gate.waiters[0].execution) == Rule.CANCEL_RUNNING
                if stops and not one.asked and one.status == RUNNING:
                    return f"e{e} was not asked to stop"
        return None

    # Actions

    def actions(self, state: State) -> Iterator[tuple[str, State]]:
        self._state = state
        previous = None
        for process in state.processes:
            if process == previous:
                continue
            previous = process
            for choice in range(2 if process[0] == "run" else 1):
                draft = _Draft(state, self.instance.without, process)
                label = self._step(draft, process, choice)
                if label:
                    yield label, draft.freeze()
        yield from self._deliveries(state)
        yield from self._events(state)

    def _deliveries(self, state: State) -> Iterator[tuple[str, State]]:
        for order in state.orders:
            e, a, r, fresh = order
            if not fresh and not state.budget.duplicates:
                continue
            draft = _Draft(state, self.instance.without)
            if fresh:
                draft.orders.remove(order)
                draft.orders.add((e, a, r, False))
            else:
                draft.budget = state.budget._replace(duplicates=state.budget.duplicates - 1)
            self._next(draft, e, a, r, 0)
            yield f"a worker receives the order of e{e}, attempt {a}, revision {r}", draft.freeze()
        if state.budget.settles:
            for e, a in state.settles:
                draft = _Draft(state, self.instance.without)
                draft.budget = state.budget._replace(settles=state.budget.settles - 1)
                self._release(draft, e, a, False)
                yield f"the settler repeats the release of e{e}, attempt {a}", draft.freeze()

    def _events(self, state: State) -> Iterator[tuple[str, State]]:
        budget = state.budget
        for e, one in enumerate(state.executions):
            if one.status == RETRYING:
                draft = _Draft(state, self.instance.without)
                draft.write(e, status=DUE)
                draft.order(e)
                yield f"the retry of e{e} is due", draft.freeze()
            if one.status == UNCLEARED:
                draft = _Draft(state, self.instance.without)
                draft.write(e, status=HELD)
                yield f"the planner lets e{e} wait for its upstream", draft.freeze()
            if one.status in (UNCLEARED, HELD):
                draft = _Draft(state, self.instance.without)
                draft.write(e, status=QUEUED)
                yield f"e{e} is cleared: its upstream has finished", draft.freeze()
            if one.status == RUNNING and budget.expiries:
                draft = _Draft(state, self.instance.without)
                draft.budget = budget._replace(expiries=budget.expiries - 1)
                if self._keeps(Condition.TAKE_OVER_ACQUIRES_NOTHING):
                    draft.processes.append(("take over", e, one.attempt + 1, one.revision))
                else:
                    draft.processes.append(("acquire", e, one.attempt + 1, one.revision, 0))
                yield f"the lease of e{e} expires; an order to take over is received", draft.freeze()
            if one.status == RUNNING and one.asked:
                draft = _Draft(state, self.instance.without)
                draft.write(e, status=FINAL)
                self._release(draft, e, one.attempt, True)
                yield f"e{e} is revoked", draft.freeze()
            if budget.cancels and one.status not in (FINAL, REMOVED):
                draft = _Draft(state, self.instance.without)
                draft.budget = budget._replace(cancels=budget.cancels - 1)
                draft.write(e, status=FINAL, waits_at=NOWHERE)
                self._release(draft, e, one.attempt, True)
                yield f"e{e} ({one.status}) is cancelled", draft.freeze()
            if budget.edits:
                for label, after in self._edits(e, one):
                    draft = _Draft(state, self.instance.without)
                    draft.budget = budget._replace(edits=budget.edits - 1)
                    draft.write(e, **after._asdict())
                    yield label, draft.freeze()
            if budget.repairs and self._keeps(Condition.EVICT_AT_ALL):
                for g in range(len(state.gates)):
                    if not self._may_hold(one, g):
                        draft = _Draft(state, self.instance.without)
                        draft.budget = budget._replace(repairs=budget.repairs - 1)
                        draft.processes.append(("evict", g, e, one))
                        yield f"the repair reads that e{e} ({one.status}) may not hold gate {g}", draft.freeze()
        for g, gate in enumerate(state.gates):
            if budget.repairs and gate.enqueued and ("grant", g) not in state.processes:
                draft = _Draft(state, self.instance.without)
                draft.budget = budget._replace(repairs=budget.repairs - 1)
                draft.processes.append(("grant", g))
                yield f"the repair grants at gate {g}", draft.freeze()

    def _edits(self, e: int, one: Execution) -> Iterator[tuple[str, Execution]]:
        if one.attempt or one.status not in (QUEUED, WAITING, UNCLEARED, HELD, REMOVED):
            return
        after = one._replace(revision=one.revision + 1, waits_at=NOWHERE)
        if "requeue" in self.instance.edits:
            yield f"an edit queues e{e} ({one.status})", after._replace(status=QUEUED)
        if "hold" in self.instance.edits and one.status in (QUEUED, WAITING):
            yield f"an edit adds an upstream to e{e} ({one.status})", after._replace(status=UNCLEARED)
        if "remove" in self.instance.edits and one.status in (QUEUED, WAITING):
            yield f"an edit removes e{e} ({one.status})", after._replace(status=REMOVED)

    # Steps of processes. Each returns what happens, in words; empty if the process cannot act now.

    def _step(self, draft: _Draft, process: Process, choice: int) -> str:
        name = process[0].replace(" ", "_")
        if name == "run":
            return self._do_run(draft, process[1], process[2], choice)
        return str(getattr(self, f"_do_{name}")(draft, *process[1:]))

    def _next(self, draft: _Draft, e: int, a: int, r: int, i: int) -> None:
        """The worker passes to its gate number i, or claims."""
        if i < len(self._named(r)):
            draft.processes.append(("acquire", e, a, r, i))
        else:
            draft.processes.append(("claim", e, a, r))

    def _give_back(self, draft: _Draft, e: int, passed: tuple[int, ...]) -> None:
        seen = draft.executions[e]
        gates = tuple(g for g in passed if not self._may_hold(seen, g))
        if gates:
            draft.processes.append(("give back", e, gates, seen))

    def _release(self, draft: _Draft, e: int, a: int, final: bool) -> None:
        named = self._named(draft.executions[e].revision)
        gates = tuple(g for g in named if final or not self.instance.gates[g].kept)
        if gates:
            draft.processes.append(("release", e, a, final, gates))

    def _is_to_claim(self, draft: _Draft, e: int, a: int, r: int) -> bool:
        one = draft.executions[e]
        return one.status in TO_CLAIM and one.attempt == a - 1 and one.revision == r

    def _do_acquire(self, draft: _Draft, e: int, a: int, r: int, i: int) -> str:
        g = self._named(r)[i]
        gate, spec = draft.gates[g], self.instance.gates[g]
        entry, number = gate.entry(e), claim_number(r, a)
        if entry is not None:
            if entry >= number:
                self._next(draft, e, a, r, i + 1)
                return f"the worker of e{e}/{a} finds its entry in gate {g}"
            draft.processes.append(("raise", e, a, r, i, entry))
            return f"the worker of e{e}/{a} finds the entry of claim {entry} in gate {g}"
        blocked = gate.enqueued and self._keeps(Condition.ACQUIRE_BEHIND_QUEUE)
        if gate.size < spec.limit_of(r) and not blocked:
            for waiter in gate.waiters:
                if self._waits(draft.executions[waiter.execution], g, waiter):
                    draft.fault = f"e{e} overtakes e{waiter.execution} at gate {g}"
            draft.add(g, e, number, spec.limit_of(r))
            self._next(draft, e, a, r, i + 1)
            return f"the worker of e{e}/{a} acquires gate {g}"
        if spec.rule(e) != Rule.SKIP:
            draft.processes.append(("enqueue", e, a, r, i))
        elif gate.entries:
            draft.processes.append(("look", e, a, r, i, gate.entries[0][0]))
        elif self._keeps(Condition.SKIP_BEHIND_HOLDER):
            draft.processes.append(("acquire", e, a, r, i))
            if not any(one[1] == g and one[0] in GRANTING for one in draft.processes):
                draft.processes.append(("grant", g))
        else:
            draft.fault = f"e{e} is skipped at gate {g}, which has no holder"
        return f"the worker of e{e}/{a} finds gate {g} busy"

    def _do_raise(self, draft: _Draft, e: int, a: int, r: int, i: int, was: int) -> str:
        g = self._named(r)[i]
        gate, number = draft.gates[g], claim_number(r, a)
        entry = gate.entry(e)
        within = gate.size <= self.instance.gates[g].limit_of(r) or not self._keeps(Condition.RAISE_WITHIN_LIMIT)
        if (entry is None and self._keeps(Condition.RAISE_EXISTING)) or not within:
            draft.processes.append(("give up", e, a, r, i, was))
            return f"the worker of e{e}/{a} cannot keep its entry in gate {g}"
        if entry is None or entry < number or not self._keeps(Condition.RAISE_ONLY):
            draft.set(g, e, number)
        self._next(draft, e, a, r, i + 1)
        return f"the worker of e{e}/{a} sets its entry in gate {g} (was {entry})"

    def _do_give_up(self, draft: _Draft, e: int, a: int, r: int, i: int, was: int) -> str:
        """The entry of an earlier claim is removed if the gate is over the limit."""
        g = self._named(r)[i]
        gate = draft.gates[g]
        if gate.entry(e) == was and gate.size > self.instance.gates[g].limit_of(r):
            draft.remove(g, e)
        draft.processes.append(("acquire", e, a, r, i))
        return f"the worker of e{e}/{a} tries gate {g} again"

    def _do_enqueue(self, draft: _Draft, e: int, a: int, r: int, i: int) -> str:
        g = self._named(r)[i]
        gate, spec = draft.gates[g], self.instance.gates[g]
        worker = f"the worker of e{e}/{a}"
        if not self._is_to_claim(draft, e, a, r) and self._keeps(Condition.ENQUEUE_STATUS):
            self._give_back(draft, e, self._named(r)[:i])
            return f"{worker} cannot enqueue at gate {g}: e{e} is {draft.executions[e].status}"
        busy = gate.size >= spec.limit_of(r) or gate.enqueued or not self._keeps(Condition.ENQUEUE_IF_BUSY)
        if not busy or (gate.entry(e) is not None and self._keeps(Condition.ENQUEUE_WITHOUT_ENTRY)):
            draft.processes.append(("acquire", e, a, r, i))
            return f"{worker} cannot enqueue at gate {g}: it is not busy"
        key = self._key(e, g, r)
        if key == ONLY and gate.waiters:
            other = gate.waiters[0]  # it may wait under a rule from before an edit, with a sort key of its own
            if other.execution != e or not self._keeps(Condition.REUSE_OWN_PLACE):
                draft.processes.append(("alone", e, a, r, i, other))
                return f"{worker} finds e{other.execution} in the queue of gate {g}"
        self._enqueue(draft, g, Waiter(key, e, a, r))
        return f"{worker} enqueues at gate {g}"

    def _enqueue(self, draft: _Draft, g: int, waiter: Waiter) -> None:
        enqueued = draft.gates[g].enqueued + 1
        if self._keeps(Condition.CLEAR_UNIQUE):  # any value that no process remembers
            known = {one[2] for one in draft.processes if one[0] in ("first", "clear") and one[1] == g}
            known.add(draft.gates[g].enqueued)
            enqueued = next(value for value in range(1, 100) if value not in known)
        draft.put_waiter(g, waiter)
        draft.gates[g] = draft.gates[g]._replace(enqueued=enqueued)
        draft.write(waiter.execution, status=WAITING, waits_at=g)
        draft.processes.append(("grant", g))

    def _do_alone(self, draft: _Draft, e: int, a: int, r: int, i: int, other: Waiter) -> str:
        """The rules that let only one wait decide between the execution and the waiter."""
        g = self._named(r)[i]
        o, gate = other.execution, draft.gates[g]
        worker = f"the worker of e{e}/{a}"
        replaces = self.instance.gates[g].rule(e) == Rule.CANCEL_RUNNING and e > o
        if not self._is_to_claim(draft, e, a, r):
            self._give_back(draft, e, self._named(r)[:i])
            return f"{worker} gives up at gate {g}: e{e} is {draft.executions[e].status}"
        waits = self._waits(draft.executions[o], g, other)
        if not waits and (replaces or self._keeps(Condition.COVERED_CHECK)):
            draft.processes += [("grant", g), ("acquire", e, a, r, i)]
            return f"{worker} finds that e{o} does not wait at gate {g}"
        if not replaces:
            if not waits:
                draft.fault = f"e{e} is covered by e{o}, which does not wait"
            draft.write(e, status=FINAL)
            self._give_back(draft, e, self._named(r)[:i])
            return f"{worker} skips it, covered by e{o}"
        if gate.entry(e) is not None and self._keeps(Condition.REPLACE_WITHOUT_ENTRY):
            draft.processes.append(("acquire", e, a, r, i))
            return f"{worker} finds its entry in gate {g}"
        draft.write(o, status=FINAL, waits_at=NOWHERE)
        draft.delete_waiter(g, other)
        draft.put_waiter(g, Waiter(other.key, e, a, r))
        draft.write(e, status=WAITING, waits_at=g)
        draft.processes.append(("grant", g))
        return f"{worker} replaces e{o} in the queue of gate {g}"

    def _do_look(self, draft: _Draft, e: int, a: int, r: int, i: int, h: int) -> str:
        """The rule ``skip`` reads the holder before it skips."""
        seen = draft.executions[h]
        if self._may_hold(seen, self._named(r)[i]) or not self._keeps(Condition.SKIP_CHECKS_HOLDER):
            if not self._may_hold(seen, self._named(r)[i]) and seen.status != DUE:
                draft.fault = f"e{e} is skipped because of e{h}, which is {seen.status}"
            draft.processes.append(("skip", e, a, r, i))
        else:
            draft.processes.append(("skip evict", e, a, r, i, h, seen))
        return f"the worker of e{e}/{a} reads that the holder e{h} is {seen.status}"

    def _do_skip_evict(self, draft: _Draft, e: int, a: int, r: int, i: int, h: int, seen: Execution) -> str:
        label = self._do_evict(draft, self._named(r)[i], h, seen)
        draft.processes.append(("acquire", e, a, r, i))
        return label

    def _do_skip(self, draft: _Draft, e: int, a: int, r: int, i: int) -> str:
        if self._is_to_claim(draft, e, a, r):
            draft.write(e, status=FINAL)
        self._give_back(draft, e, self._named(r)[:i])
        return f"the worker of e{e}/{a} skips it"

    def _do_claim(self, draft: _Draft, e: int, a: int, r: int) -> str:
        one = draft.executions[e]
        revision = one.revision == r or not self._keeps(Condition.CLAIM_REVISION)
        if one.status in TO_CLAIM and one.attempt == a - 1 and revision:
            draft.write(e, status=RUNNING, attempt=a)
            draft.processes.append(("run", e, a))
            return f"the worker claims e{e}, attempt {a}"
        self._give_back(draft, e, self._named(r))
        return f"the worker of e{e}/{a} loses the claim: {one.status}, attempt {one.attempt}"

    def _do_take_over(self, draft: _Draft, e: int, a: int, r: int) -> str:
        one = draft.executions[e]
        if one.status == RUNNING and one.attempt == a - 1:
            if a > self.instance.attempts:
                draft.write(e, status=FINAL)
                self._release(draft, e, a - 1, True)
                return f"e{e} has no attempts left"
            draft.write(e, attempt=a)
            draft.processes.append(("run", e, a))
            return f"a worker takes over e{e}, attempt {a}"
        if not self._keeps(Condition.TAKE_OVER_NEVER_CLAIMS):
            return self._do_claim(draft, e, a, r)
        return f"a worker cannot take over e{e}, attempt {a}: {one.status}"

    def _do_run(self, draft: _Draft, e: int, a: int, choice: int) -> str:
        one = draft.executions[e]
        if one.status != RUNNING or one.attempt != a:
            return "" if choice else f"the decision on e{e}, attempt {a} is refused"
        if not choice:
            draft.write(e, status=FINAL)
            self._release(draft, e, a, True)
            return f"e{e} succeeds in attempt {a}"
        if a >= self.instance.attempts or one.asked:
            return ""
        draft.write(e, status=RETRYING)
        if draft.budget.settles:
            draft.settles = (*draft.settles, (e, a))
        self._release(draft, e, a, False)
        return f"e{e} fails in attempt {a}, and is retrying"

    def _do_release(self, draft: _Draft, e: int, a: int, final: bool, gates: tuple[int, ...]) -> str:
        g = gates[0]
        if gates[1:]:
            draft.processes.append(("release", e, a, final, gates[1:]))
        entry = draft.gates[g].entry(e)
        number = claim_number(draft.executions[e].revision, a)
        if entry is None or not (final or entry <= number or not self._keeps(Condition.RELEASE_ATTEMPT)):
            return f"nothing to release for e{e}/{a} in gate {g}"
        one = draft.executions[e]
        # after a grant at the first gate, the worker acquires the later ones again
        is_needed = g == 0 or one.status == RUNNING or entry > claim_number(one.revision, one.attempt)
        if is_needed and self._may_hold(one, g):
            draft.fault = f"e{e} loses gate {g}, which it may hold"
        draft.remove(g, e)
        return f"e{e}/{a} releases gate {g}"

    def _do_evict(self, draft: _Draft, g: int, e: int, seen: Execution) -> str:
        one, entry = draft.executions[e], draft.gates[g].entry(e)
        unchanged = self._comparable(one) == self._comparable(seen) or not self._keeps(Condition.EVICT_CHECK)
        retrying = seen.status in (RETRYING, DUE) and self._keeps(Condition.EVICT_ATTEMPT)
        if entry is None or not unchanged or (retrying and entry > claim_number(seen.revision, seen.attempt)):
            return f"nothing to evict for e{e} in gate {g}"
        if self._may_hold(one, g):
            draft.fault = f"e{e} loses gate {g}, which it may hold"
        draft.remove(g, e)
        return f"e{e}, read as {seen.status}, is evicted from gate {g}"

    def _comparable(self, one: Execution) -> tuple[Any, ...]:
        status = one.status.replace(DUE, RETRYING)
        if not self._keeps(Condition.EVICT_CLEARED):
            status = status.replace(UNCLEARED, QUEUED)
        return (status, one.attempt, one.revision, one.waits_at)

    def _do_give_back(self, draft: _Draft, e: int, gates: tuple[int, ...], seen: Execution) -> str:
        if gates[1:]:
            draft.processes.append(("give back", e, gates[1:], seen))
        return self._do_evict(draft, gates[0], e, seen)

    def _do_grant(self, draft: _Draft, g: int) -> str:
        enqueued = draft.gates[g].enqueued
        if enqueued:
            draft.processes.append(("first", g, enqueued))
        return f"grant reads gate {g}: enqueued = {enqueued}"

    def _do_first(self, draft: _Draft, g: int, enqueued: int) -> str:
        waiters = draft.gates[g].waiters
        if waiters:
            draft.processes.append(("give", g, waiters[0]))
            return f"grant reads the first waiter of gate {g}: e{waiters[0].execution}"
        draft.processes.append(("clear", g, enqueued))
        return f"grant reads that gate {g} has no waiter"

    def _do_clear(self, draft: _Draft, g: int, enqueued: int) -> str:
        if draft.gates[g].enqueued != enqueued and self._keeps(Condition.CLEAR_COMPARED):
            return f"grant finds a new `enqueued` in gate {g}"
        draft.gates[g] = draft.gates[g]._replace(enqueued=0)
        return f"grant removes `enqueued` of gate {g}"

    def _do_give(self, draft: _Draft, g: int, waiter: Waiter) -> str:
        gate, spec, e = draft.gates[g], self.instance.gates[g], waiter.execution
        limit = spec.limit_of(waiter.revision)
        one = draft.executions[e]
        if waiter not in gate.waiters and self._keeps(Condition.GRANT_SAME_WAITER):
            draft.processes.append(("grant", g))
            return f"grant finds that the waiter e{e} of gate {g} has changed"
        if not self._waits(one, g, waiter) and self._keeps(Condition.GRANT_STATUS):
            draft.processes.append(("drop", g, waiter))
            return f"grant finds that e{e} does not wait at gate {g}: {one.status}"
        if gate.entry(e) is not None and self._keeps(Condition.GRANT_WITHOUT_ENTRY):
            draft.processes += [("evict", g, e, one), ("grant", g)]
            return f"grant finds an entry of the waiter e{e} in gate {g}"
        if gate.size >= limit and self._keeps(Condition.GRANT_ROOM):
            if spec.rule(e) == Rule.CANCEL_RUNNING and self._keeps(Condition.ASK_IN_GRANT):
                draft.processes.append(("stop", g, gate.entries[0][0]))
            return f"grant finds gate {g} full"
        draft.delete_waiter(g, waiter)
        attempt = waiter.attempt - (not self._keeps(Condition.GRANT_NEXT_ATTEMPT))
        draft.add(g, e, claim_number(waiter.revision, attempt), limit)
        draft.write(e, status=QUEUED, waits_at=NOWHERE)
        if draft.gates[g].size < limit or spec.rule(e) == Rule.CANCEL_RUNNING:
            draft.processes.append(("grant", g))
        return f"grant gives gate {g} to e{e}"

    def _do_drop(self, draft: _Draft, g: int, waiter: Waiter) -> str:
        """Remove a waiter whose execution no longer waits as it says."""
        draft.processes.append(("grant", g))
        one = draft.executions[waiter.execution]
        waits = self._waits(one, g, waiter)
        if not self._keeps(Condition.DROP_BY_REVISION):
            waits = one.status == WAITING and one.waits_at == g
        same = waiter in draft.gates[g].waiters or not self._keeps(Condition.DROP_SAME_WAITER)
        if not same or (waits and self._keeps(Condition.DROP_CHECK)):
            return f"the waiter e{waiter.execution} of gate {g} is not dropped"
        draft.delete_waiter(g, waiter)
        return f"the waiter e{waiter.execution} of gate {g} is dropped"

    def _do_stop(self, draft: _Draft, g: int, h: int) -> str:
        """Ask a running holder to stop; cancel a holder that does not run."""
        one = draft.executions[h]
        if one.status == RUNNING:
            draft.write(h, asked=True)
        elif one.status not in (FINAL, REMOVED):
            draft.write(h, status=FINAL, waits_at=NOWHERE)
            self._release(draft, h, one.attempt, True)
        return f"the holder e{h} of gate {g} is asked to stop"


def describe(state: State) -> str:
    """The state of executions and gates, in one line."""
    executions = ", ".join(
        f"e{e} {one.status} a{one.attempt} r{one.revision}" for e, one in enumerate(state.executions)
    )
    gates = "; ".join(
        f"g{g} {dict(gate.entries)} enqueued={gate.enqueued} waiters={[waiter.execution for waiter in gate.waiters]}"
        for g, gate in enumerate(state.gates)
    )
    return f"[{executions} | {gates}]"
