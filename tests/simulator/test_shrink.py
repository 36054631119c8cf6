"""A failing run is shortened to the decisions that matter, and its trace to the jobs that the violation names."""

from __future__ import annotations

import pytest

from tests.simulator.defects import FOUND_IN, put_back, search
from tests.simulator.outcome import Outcome
from tests.simulator.shrink import shrink


@pytest.fixture(scope="module")
def shortened() -> tuple[Outcome, Outcome]:
    """A run in which a process dies between a release and a grant, before and after."""
    defect = "waiter_never_woken"
    failing = search(defect, FOUND_IN[defect])
    assert failing is not None
    with put_back(defect):
        return failing, shrink(failing)


def test_a_shortened_run_still_fails_with_few_decisions(shortened: tuple[Outcome, Outcome]) -> None:
    failing, shortest = shortened
    assert shortest.violations
    assert len(shortest.decisions) <= 5 < len(failing.decisions)


def test_the_trace_of_a_shortened_run_names_the_jobs_of_the_violation_only(shortened: tuple[Outcome, Outcome]) -> None:
    _, shortest = shortened
    trace = shortest.relevant_trace()
    assert len(trace) < len(shortest.trace) <= 150
    others = [job for job in shortest.jobs if f"{job[-4:]}@" not in shortest.violations[0]]
    assert others
    assert not [line for line in trace if any(f"{job[-4:]}@" in line for job in others)]
