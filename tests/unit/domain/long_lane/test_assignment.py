"""The assignment in the environment of a container."""

from __future__ import annotations

import pytest

from punctual.domain.errors import Unreadable
from punctual.domain.long_lane.assignment import FORMER_VARIABLE, VARIABLE, Assignment, assignment_in

ASSIGNMENT = Assignment(job_id="job", execution_id="execution", part="all", attempt=1, key="secret")
OTHER = Assignment(job_id="job", execution_id="execution", part="all", attempt=2, key="secret")


def test_the_former_variable_is_read_only_if_the_new_one_is_missing() -> None:
    assert assignment_in({VARIABLE: ASSIGNMENT.to_text()}) == ASSIGNMENT
    assert assignment_in({FORMER_VARIABLE: ASSIGNMENT.to_text()}) == ASSIGNMENT
    assert assignment_in({VARIABLE: ASSIGNMENT.to_text(), FORMER_VARIABLE: OTHER.to_text()}) == ASSIGNMENT


def test_an_environment_without_an_assignment_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        assignment_in({})
