"""What must hold when an execution starts: in the short lane when a worker claims an attempt, in the long lane when its
parts are created and when a part gets its slot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.instant import from_text
from punctual.domain.jobs.gate import Rate, claim_number
from punctual.domain.jobs.job import REMOVED_STATES, JobState
from punctual.stages.run.gates import RESERVED_START_TOLERANCE
from tests.simulator.aws.account import Account
from tests.simulator.aws.values import Item
from tests.simulator.due_instants import JobVersion, is_own
from tests.simulator.faults import MAX_SKEW_MS
from tests.simulator.kernel import Kernel, Process

MAX_SKEW = timedelta(milliseconds=2 * MAX_SKEW_MS)
"""The largest difference between the clocks of two processes."""
RATE_TOLERANCE = RESERVED_START_TOLERANCE + timedelta(seconds=4)
"""How long after its reserved start an execution starts, if no process is frozen meanwhile."""


@dataclass
class Reservation:
    """A start that a process has reserved at a rate limit."""

    until: datetime
    """The new end of the reserved time."""
    previous: datetime | None
    process: Process | None
    is_used: bool = False

    def start(self, rate: Rate) -> datetime:
        """The earliest start that it allows."""
        return self.until - timedelta(seconds=rate.per_seconds)


@dataclass
class Starts:
    kernel: Kernel
    account: Account
    jobs: dict[str, list[JobVersion]]
    violated: Callable[[str], None]
    may_be_frozen: bool = False
    """Whether processes are frozen in this run: then one may start late what it has reserved in time."""
    _reservations: dict[str, list[Reservation]] = field(default_factory=lambda: defaultdict(list))
    _read: int = 0

    def poll(self) -> None:
        """Read the starts that were reserved."""
        history = self.account.dynamodb.tables["gates"].history
        for change in history[self._read :]:
            if change.key[0] == "rate" and change.new is not None:
                old, new = (_reserved_until(item) for item in (change.old, change.new))
                if new is not None and new != old:
                    self._reservations[change.key[1]].append(Reservation(new, old, self.kernel.current))
        self._read = len(history)

    def check(self, one: Execution, text: str, clock: datetime, reserved: datetime | None) -> None:
        """The execution starts for the first time, or an attempt of it.

        ``clock`` is the time as the process sees it that starts it, ``reserved`` the start that was reserved for it
        before.
        """
        if clock < one.earliest_start:
            self.violated(f"{text} started at {clock}, before {one.earliest_start}")
        versions = self.jobs[one.job_id]
        if any(version.job.state in REMOVED_STATES and version.known_at for version in versions):
            self.violated(f"{text} started although its job was cancelled or deleted")
        if one.attempt <= 1 and one.origin is Origin.SCHEDULE and is_own(one) and self._is_paused(versions[-1]):
            self.violated(f"{text} started although its job is paused since {versions[-1].known_at}")
        for gate in one.gates:
            if gate.rate is not None:
                self._check_rate(gate.name, gate.rate, text, clock, reserved)

    def check_places(self, one: Execution, text: str, first_attempt: int) -> None:
        """The execution holds all its gates for the current attempt, or for one since ``first_attempt``."""
        for gate in one.gates:
            if gate.limit is not None:
                held_for = self.held_for(gate.name, one.execution_id)
                first, last = (claim_number(one.revision, attempt) for attempt in (first_attempt, max(one.attempt, 1)))
                if held_for is None or not first <= held_for <= last:
                    self.violated(f"{text} starts and holds {gate.name} for {held_for}, not for {last}")

    def _is_paused(self, version: JobVersion) -> bool:
        """Whether the planner has processed a pause: it has skipped or removed what had not started."""
        is_known = version.known_at is not None and version.known_at < self.kernel.now
        return is_known and version.job.state is JobState.PAUSED

    def held_for(self, name: str, holder: str) -> int | None:
        for (kind, entry), item in self.account.dynamodb.tables["gates"].items.items():
            if kind.startswith("holders#") and entry == name and f"in:{holder}" in item:
                return int(item[f"in:{holder}"]["N"])
        return None

    def _check_rate(self, gate: str, rate: Rate, text: str, clock: datetime, reserved: datetime | None) -> None:
        """The start was reserved, for nothing else, and at the distance of the rate from the one before."""
        found = [one for one in self._reservations[gate] if not one.is_used and one.start(rate) <= clock]
        own = [one for one in found if one.process is self.kernel.current]
        earlier = [one for one in found if one.start(rate) == reserved]
        used = next(iter([*own, *earlier, *reversed(found)]), None)
        if used is None:
            self.violated(f"{text} started at {clock} without a reserved start at {gate}")
            return
        used.is_used = True
        interval = timedelta(seconds=rate.per_seconds / rate.starts)
        if used.previous is not None and used.until - used.previous < interval:
            self.violated(f"{text}: the start until {used.until} at {gate} follows that until {used.previous}")
        if not own and not self.may_be_frozen and clock > used.start(rate) + RATE_TOLERANCE:
            self.violated(f"{text} started at {clock}, but its reserved start at {gate} was {used.start(rate)}")


def _reserved_until(item: Item | None) -> datetime | None:
    return from_text(item["reserved_until"]["S"]) if item else None
