"""Gates: semaphores that limit how many executions run concurrently.

An execution acquires its gates before it starts and releases them when it ends. If a gate is full, the execution waits
in the gate's queue or is skipped, according to ``when_full``. A gate may also limit the rate of starts. The protocol is
specified in docs/gates.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from typing import Any

from punctual.domain.identity import due_key
from punctual.domain.lane import Priority


class WhenFull(StrEnum):
    """The policy for an execution that arrives at a full gate."""

    SKIP = "skip"
    """It is skipped."""
    WAIT = "wait"
    """It waits in the queue, ordered by ``turn``."""
    WAIT_ALONE = "wait_alone"
    """It waits if the queue is empty; otherwise it is skipped."""
    REPLACE = "replace"
    """It replaces the current waiter, and the executions that hold the gate are cancelled."""


@dataclass(frozen=True)
class Rate:
    """A token-bucket rate limit: ``starts`` per ``per_seconds`` on average, in bursts of at most ``starts``.

    An execution over the limit is not rejected: its start is delayed.
    """

    starts: int
    per_seconds: int

    def reserve(self, reserved_until: datetime | None, now: datetime) -> tuple[datetime, datetime]:
        """Reserve the next start.

        Returns when it may start and the new end of the reserved time, both in whole milliseconds.
        """
        burst = self._interval * (self.starts - 1)
        reserved_until = max(reserved_until or now, now)
        return max(now, reserved_until - burst), reserved_until + self._interval

    def before(self, start: datetime, now: datetime) -> int:
        """The number of starts reserved between ``now`` and the delayed start ``start``: they are evenly spaced."""
        return max(-((now - start) // self._interval) - 1, 0)

    @property
    def _interval(self) -> timedelta:
        return timedelta(milliseconds=ceil(self.per_seconds * 1000 / self.starts))


@dataclass(frozen=True)
class Gate:
    """A named semaphore with an optional rate limit."""

    name: str
    limit: int | None = None
    """How many executions may hold the gate concurrently; ``None`` for a gate with only a rate limit."""
    when_full: WhenFull = WhenFull.WAIT
    rate: Rate | None = None

    @property
    def of_job(self) -> bool:
        """Whether this is the overlap gate of one job.

        Its holder keeps it between attempts, and a running execution of the job is found by it.
        """
        return self.name.startswith(OF_JOB)

    @property
    def of_key(self) -> bool:
        """Whether this is the gate of a concurrency key."""
        return self.name.startswith(OF_KEY)

    @property
    def of_backfill(self) -> bool:
        """Whether this gate limits the concurrency of one backfill."""
        return self.name.startswith(OF_BACKFILL)

    @property
    def has_single_waiter(self) -> bool:
        """Whether at most one execution may wait."""
        return self.when_full in (WhenFull.WAIT_ALONE, WhenFull.REPLACE)

    def to_entry(self) -> list[Any]:
        """The form in which a work order carries it; the inverse of ``of_entry``."""
        rate = [self.rate.starts, self.rate.per_seconds] if self.rate else []
        return [self.name, self.limit, str(self.when_full), *rate]


@dataclass(frozen=True)
class Waiter:
    """An execution in the queue of a gate."""

    execution_id: str
    turn: str
    """Its position: the lowest is next. ``ONLY`` if its rule lets at most one execution wait."""
    attempt: int
    """The attempt that it is about to start."""
    revision: int
    """The job's revision under which it was sent. If the job has been edited since, the new rules apply to it."""

    @property
    def claim_number(self) -> int:
        return claim_number(self.revision, self.attempt)


@dataclass(frozen=True, kw_only=True)
class Entrant(Waiter):
    """An execution that tries to acquire its gates, for one attempt. ``turn`` is a ``queue_key``, if it has to wait."""

    reserved_start: datetime | None = None
    """The start that it has reserved at the rate limit."""
    run_arn: str | None = None
    """In the long lane: the state machine run that is attached to it."""


@dataclass(frozen=True)
class GateState:
    """The holders of a gate, and whether executions may be waiting."""

    holders: Mapping[str, int] = field(default_factory=dict)
    """For which claim each execution holds its place: the ``claim_number``, by execution id."""
    queue_mark: str | None = None
    """Changes with each execution that joins the queue; ``None`` if the queue is empty."""


MAX_ATTEMPT = 1_000_000


def claim_number(revision: int, attempt: int) -> int:
    """The revision and attempt of a claim as one number. It grows with each revision, and within it with each attempt.

    So a condition can compare both at once, as a fencing token.
    """
    return revision * MAX_ATTEMPT + attempt


ONLY = "0"
"""Precedes all other turns: after an edit that lets several executions wait, later ones must not overtake it for ever.
"""

OF_JOB = "job#"
OF_KEY = "key#"
OF_BACKFILL = "backfill#"


class FullGateAction(StrEnum):
    """What an execution does at a full gate."""

    WAIT = "wait"
    SKIP = "skip"
    REPLACE = "replace"
    """It takes the place of the first waiter, which is skipped."""


@dataclass(frozen=True)
class FullGateDecision:
    action: FullGateAction
    reason: str
    """Why the execution waits or is skipped, or why the replaced waiter is."""
    covered_by: str | None = None
    """The waiter that runs instead of a skipped execution."""


def decide_at_full_gate(gate: Gate, execution_id: str, holders: Iterable[str], waiter: str | None) -> FullGateDecision:
    """Decide what an execution does that finds ``gate`` full. ``waiter`` is the first one in its queue."""
    names = sorted(holders)
    if gate.when_full is WhenFull.SKIP:
        return FullGateDecision(FullGateAction.SKIP, f"{', '.join(names)} still runs")
    waits = FullGateDecision(
        FullGateAction.WAIT, key_in_use(len(names)) if gate.of_key else f"waits for {', '.join(names)}"
    )
    if gate.when_full is WhenFull.WAIT or waiter is None or waiter == execution_id:
        return waits
    if gate.when_full is WhenFull.WAIT_ALONE:
        return FullGateDecision(FullGateAction.SKIP, f"{waiter} is already waiting", waiter)
    if waiter > execution_id:
        return FullGateDecision(FullGateAction.SKIP, f"replaced by {waiter}", waiter)
    return FullGateDecision(FullGateAction.REPLACE, f"replaced by {execution_id}")


def of_entry(entry: list[Any]) -> Gate:
    """Parse the result of ``Gate.to_entry``."""
    name, limit, when_full, *rate = entry
    return Gate(name, limit, WhenFull(when_full), Rate(*rate) if rate else None)


def key_in_use(count: int) -> str:
    """The reason why an execution waits for its concurrency key, which ``count`` executions hold."""
    executions = "1 execution" if count == 1 else f"{count} executions"
    return f"{executions} with the same concurrency key {'is' if count == 1 else 'are'} running"


HEAD_START = {
    Priority.HIGH: timedelta(minutes=10),
    Priority.NORMAL: timedelta(),
    Priority.LOW: -timedelta(minutes=10),
}
"""How far each priority moves an execution ahead in a gate's queue. An execution that has waited longer than the
difference precedes one of higher priority, which prevents starvation."""


def queue_key(execution_id: str, earliest_start: datetime, priority: Priority) -> str:
    """The sort key of an execution in a gate's queue: the lowest is next."""
    return f"{due_key(earliest_start - HEAD_START[priority])}#{execution_id}"
