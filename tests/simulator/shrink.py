"""Shortens a failing run: keeps as few decisions as suffice to violate an invariant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from math import inf

from tests.simulator.choices import Decision
from tests.simulator.outcome import Outcome
from tests.simulator.simulation import simulate

MAX_RUNS = 400


def shrink(
    failing: Outcome,
    *,
    without: Iterable[str] = (),
    report: Callable[[str], None] = lambda _: None,
    stop_at: float = inf,
) -> Outcome:
    """A run of the same seed with fewer decisions that violates an invariant, too; not necessarily the same one.

    Delta debugging: removes ever smaller chunks of decisions as long as the run still fails, until ``time.monotonic``
    reaches ``stop_at``.
    """
    best, runs = failing, 0
    size = max(1, len(best.decisions) // 2)
    while runs < MAX_RUNS and time.monotonic() < stop_at:
        smaller = None
        for kept in _without_chunks(best.decisions, size):
            runs += 1
            tried = simulate(failing.seed, kept, without=without, profile=failing.profile, stop_at=stop_at)
            if tried.violations and len(tried.decisions) < len(best.decisions):
                smaller = tried
                break
            if runs >= MAX_RUNS or time.monotonic() >= stop_at:
                break
        if smaller is not None:
            best = smaller
            report(f"{len(best.decisions)} decisions, {best.steps} steps: {best.violations[0][:120]}")
            size = min(size, max(1, len(best.decisions) // 2))
        elif size == 1:
            break
        else:
            size //= 2
    return simulate(failing.seed, best.decisions, without=without, profile=failing.profile, tracing=True)


def _without_chunks(decisions: Sequence[Decision], size: int) -> list[list[Decision]]:
    """The decisions without one chunk each. The last decisions are removed first: they matter least."""
    starts = range(0, len(decisions), size)
    return [[*decisions[:start], *decisions[start + size :]] for start in reversed(starts)]
