from __future__ import annotations

import re
from pathlib import Path

import pytest

from punctual.domain.status import FINAL, NOT_STARTED, TRANSITIONS, Status, sources_of

LIFECYCLE = Path(__file__).parents[3] / "docs" / "lifecycle.md"
EDGE = re.compile(r"^\s*(\w+) --> (\w+)", re.MULTILINE)


def test_the_diagram_in_the_documentation_shows_exactly_the_allowed_moves() -> None:
    drawn = {(source, target) for source, target in EDGE.findall(LIFECYCLE.read_text()) if target != "[*]"}
    allowed = {(str(source), str(target)) for source, onward in TRANSITIONS.items() for target in onward}
    assert drawn == allowed


def test_every_status_is_described_in_the_documentation() -> None:
    text = LIFECYCLE.read_text()
    assert [status for status in Status if f"| `{status}` |" not in text] == []


def test_every_status_can_be_reached_and_left_or_is_final() -> None:
    entered = {target for onward in TRANSITIONS.values() for target in onward}
    assert set(Status) - entered == {Status.SCHEDULED}
    ran = {Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT}
    assert ran | {Status.CANCELLED, Status.SKIPPED, Status.MISSED} == FINAL


def test_only_what_no_worker_has_claimed_can_be_withdrawn() -> None:
    assert {Status.SCHEDULED, Status.QUEUED, Status.WAITING, Status.RETRYING} == NOT_STARTED


@pytest.mark.parametrize("status", Status)
def test_sources_and_targets_are_two_views_of_one_table(status: Status) -> None:
    assert [source for source in Status if status in TRANSITIONS[source]] == list(sources_of(status))
