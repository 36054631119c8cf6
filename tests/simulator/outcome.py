"""The outcome of a run, and the rules that may be violated for a short time only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.simulator.choices import Decision, Profile
from tests.simulator.kernel import START, Kernel

SWEEPS = timedelta(minutes=3)
"""Time for the dispatcher to repair what a crash left behind."""


@dataclass(frozen=True)
class Outcome:
    seed: int
    violations: tuple[str, ...]
    decisions: tuple[Decision, ...]
    """All decisions that were not the default."""
    steps: int
    executions: int
    faults: dict[str, int] = field(default_factory=dict)
    coverage: Counter[str] = field(default_factory=Counter)
    """How often each feature was reached."""
    profile: Profile | None = None
    jobs: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    is_complete: bool = True
    """``False`` if the time was up before the end of the run."""

    def relevant_trace(self) -> list[str]:
        """The trace without lines that name only jobs which the violation does not name. All lines if it names none."""
        named = {job for job in self.jobs if _names(job, self.violations[0])} if self.violations else set()
        others = set(self.jobs) - named if named else set()
        return [
            line
            for line in self.trace
            if not any(_names(job, line) for job in others) or any(_names(job, line) for job in named)
        ]


def _names(job_id: str, text: str) -> bool:
    """Whether a line names a job: by its id, or by the end of it."""
    return job_id in text or f"{job_id[-4:]}@" in text or f"job {job_id[-4:]} " in text


@dataclass
class Lasting:
    """Reports what violates a rule for longer than the sweeps may take to repair it."""

    kernel: Kernel
    violated: Callable[[str], None]
    since: dict[str, datetime] = field(default_factory=dict)
    checked_at: datetime = START

    def check(self, found: Iterable[str]) -> None:
        now = self.checked_at = self.kernel.now
        self.since = {rule: self.since.get(rule, now) for rule in found}
        for rule in (rule for rule, seen_at in self.since.items() if now - seen_at > SWEEPS):
            self.violated(rule)
