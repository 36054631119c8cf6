"""Dependencies of a job."""

from __future__ import annotations

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.jobs.dependency import MAX_UPSTREAMS, Condition, Dependency, parse_dependencies
from punctual.domain.status import FINAL, Status

SATISFYING = {
    Condition.SUCCEEDED: {Status.SUCCEEDED},
    Condition.FINISHED: {Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT},
    Condition.FAILED: {Status.FAILED, Status.TIMED_OUT},
}


@pytest.mark.parametrize("condition", list(Condition))
def test_each_condition_is_met_by_exactly_its_final_statuses(condition: Condition) -> None:
    assert {status for status in Status if condition.is_met_by(status)} == SATISFYING[condition]
    assert SATISFYING[condition] <= FINAL


def test_dependencies_round_trip_through_their_spec() -> None:
    parsed = parse_dependencies([{"job": "a"}, {"job": "b", "condition": "failed"}])
    assert parsed == (Dependency("a"), Dependency("b", Condition.FAILED))
    assert parse_dependencies([dependency.to_spec() for dependency in parsed]) == parsed
    assert parse_dependencies(None) == parse_dependencies([]) == ()


def test_a_duplicate_upstream_is_rejected() -> None:
    with pytest.raises(Invalid) as refused:
        parse_dependencies([{"job": "a"}, {"job": "b"}, {"job": "a", "condition": "failed"}])
    assert refused.value.field == "depends_on.2.job"


def test_more_than_the_maximum_number_of_upstreams_is_rejected() -> None:
    assert len(parse_dependencies([{"job": str(n)} for n in range(MAX_UPSTREAMS)])) == MAX_UPSTREAMS
    with pytest.raises(Invalid, match="group some of them behind an intermediate job"):
        parse_dependencies([{"job": str(n)} for n in range(MAX_UPSTREAMS + 1)])
