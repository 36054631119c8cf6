"""What must hold when an execution starts: in the short lane when a worker claims an attempt, in the long lane when its
parts are created and when a part gets its slot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.jobs.gate import Gate, claim_number
from punctual.domain.jobs.job import REMOVED_STATES, JobState
from punctual.stages.run.gates import RESERVED_START_TOLERANCE
from tests.simulator.aws.account import Account
from tests.simulator.due_instants import JobVersion, is_own
from tests.simulator.faults import MAX_SKEW_MS

MAX_SKEW = timedelta(milliseconds=2 * MAX_SKEW_MS)
"""The largest difference between the clocks of two processes."""
RATE_TOLERANCE = RESERVED_START_TOLERANCE + MAX_SKEW + timedelta(seconds=1)


@dataclass
class Starts:
    account: Account
    jobs: dict[str, list[JobVersion]]
    violated: Callable[[str], None]
    checks_rates: bool = True
    """Not if requests take long: then a process may start late what it has reserved in time."""
    _by_gate: dict[str, list[tuple[datetime, Gate]]] = field(default_factory=lambda: defaultdict(list))

    def check(self, one: Execution, text: str, clock: datetime, now: datetime) -> None:
        """The execution starts for the first time, or an attempt of it. ``clock``: of the process that starts it."""
        if clock < one.earliest_start:
            self.violated(f"{text} started at {clock}, before {one.earliest_start}")
        versions = self.jobs[one.job_id]
        if any(version.job.state in REMOVED_STATES and version.known_at for version in versions) and one.attempt <= 1:
            self.violated(f"{text} started although its job was cancelled or deleted")
        if one.attempt <= 1 and self._came_due_in_a_pause(one):
            self.violated(f"{text} started although its job is paused since {versions[-1].known_at}")
        self._check_rates(one, text, now)

    def check_places(self, one: Execution, text: str, first_attempt: int) -> None:
        """The execution holds all its gates for the current attempt, or for one since ``first_attempt``."""
        for gate in one.gates:
            if gate.limit is not None:
                held_for = self._held_for(gate.name, one.execution_id)
                first, last = (claim_number(one.revision, attempt) for attempt in (first_attempt, max(one.attempt, 1)))
                if held_for is None or not first <= held_for <= last:
                    self.violated(f"{text} starts and holds {gate.name} for {held_for}, not for {last}")

    def _came_due_in_a_pause(self, one: Execution) -> bool:
        version = self.jobs[one.job_id][-1]
        return (
            one.origin is Origin.SCHEDULE
            and is_own(one)
            and version.job.state is JobState.PAUSED
            and version.known_at is not None
            and version.known_at < one.scheduled_at
        )

    def _held_for(self, name: str, holder: str) -> int | None:
        for (kind, entry), item in self.account.dynamodb.tables["gates"].items.items():
            if kind.startswith("holders#") and entry == name and f"in:{holder}" in item:
                return int(item[f"in:{holder}"]["N"])
        return None

    def _check_rates(self, one: Execution, text: str, now: datetime) -> None:
        """In any window, no more starts than a burst and one per interval, with the tolerance of a reserved start.

        Jobs that share a key may have different rates: the loosest applies.
        """
        for gate in one.gates if self.checks_rates else ():
            if gate.rate is None:
                continue
            starts = self._by_gate[gate.name]
            starts.append((now, gate))
            rates = [one.rate for _, one in starts if one.rate is not None]
            burst, interval = max(rate.starts for rate in rates), min(rate.per_seconds / rate.starts for rate in rates)
            for count, (since, _) in enumerate(reversed(starts), 1):
                allowed = burst + (now - since + RATE_TOLERANCE).total_seconds() / interval
                if count > allowed:
                    self.violated(f"{text} is start {count} at {gate.name} since {since}, allowed are {allowed:.1f}")
                    break
