from __future__ import annotations

import re
from pathlib import Path

import pytest

from punctual.domain.status import FINAL, TRANSITIONS, Status, sources_of

LIFECYCLE = Path(__file__).parents[3] / "docs" / "lifecycle.md"
EDGE = re.compile(r"^\s*(\w+) --> (\w+)", re.MULTILINE)


def test_the_documented_diagram_shows_exactly_the_allowed_transitions() -> None:
    drawn = {(source, target) for source, target in EDGE.findall(LIFECYCLE.read_text()) if target != "[*]"}
    allowed = {(str(source), str(target)) for source, onward in TRANSITIONS.items() for target in onward}
    assert drawn == allowed


def test_every_status_is_described_in_the_documentation() -> None:
    text = LIFECYCLE.read_text()
    assert [status for status in Status if f"| `{status}` |" not in text] == []


def test_every_status_is_reachable_and_either_has_transitions_or_is_final() -> None:
    entered = {target for onward in TRANSITIONS.values() for target in onward}
    assert set(Status) == entered
    ran = {Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT}
    assert ran | {Status.CANCELLED, Status.SKIPPED, Status.MISSED} == FINAL


@pytest.mark.parametrize("status", Status)
def test_sources_of_is_the_inverse_of_the_transition_table(status: Status) -> None:
    assert [source for source in Status if status in TRANSITIONS[source]] == list(sources_of(status))
