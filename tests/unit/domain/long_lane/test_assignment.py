"""The assignment in the environment of a container."""

from __future__ import annotations

import pytest

from punctual.domain.errors import Unreadable
from punctual.domain.long_lane.assignment import VARIABLE, Assignment, assignment_in

ASSIGNMENT = Assignment(job_id="job", execution_id="execution", part="all", attempt=1, key="secret")


def test_the_assignment_is_read_from_its_variable() -> None:
    assert assignment_in({VARIABLE: ASSIGNMENT.to_text()}) == ASSIGNMENT


def test_an_environment_without_an_assignment_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        assignment_in({})
