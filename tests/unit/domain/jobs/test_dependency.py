"""What a job says that it depends on."""

from __future__ import annotations

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.jobs.dependency import MOST_UPSTREAMS, Condition, Dependency, parse_dependencies
from punctual.domain.status import FINAL, Status

MEETING = {
    Condition.SUCCEEDED: {Status.SUCCEEDED},
    Condition.FINISHED: {Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT},
    Condition.FAILED: {Status.FAILED, Status.TIMED_OUT},
}


@pytest.mark.parametrize("condition", list(Condition))
def test_each_condition_is_met_by_its_ends_and_by_no_other_status(condition: Condition) -> None:
    assert {status for status in Status if condition.is_met_by(status)} == MEETING[condition]
    assert MEETING[condition] <= FINAL


def test_what_is_written_is_read_back() -> None:
    parsed = parse_dependencies([{"job": "a"}, {"job": "b", "condition": "failed"}])
    assert parsed == (Dependency("a"), Dependency("b", Condition.FAILED))
    assert parse_dependencies([one.to_spec() for one in parsed]) == parsed
    assert parse_dependencies(None) == parse_dependencies([]) == ()


def test_the_same_job_twice_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        parse_dependencies([{"job": "a"}, {"job": "b"}, {"job": "a", "condition": "failed"}])
    assert refused.value.field == "depends_on.2.job"


def test_too_many_are_refused() -> None:
    assert len(parse_dependencies([{"job": str(n)} for n in range(MOST_UPSTREAMS)])) == MOST_UPSTREAMS
    with pytest.raises(Invalid, match="gather"):
        parse_dependencies([{"job": str(n)} for n in range(MOST_UPSTREAMS + 1)])
