"""The concurrency rule of a job: its key, limit and rate."""

from __future__ import annotations

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.jobs.concurrency import Concurrency, parse_concurrency
from punctual.domain.jobs.gate import Rate


def test_a_key_is_filled_in_from_the_parameters_and_scoped_to_its_owner() -> None:
    rule = Concurrency(key="{region}/customer-{id}", limit=2)
    assert rule.gate("team-a", {"region": "eu", "id": 7}).name == "key#team-a#eu/customer-7"


@pytest.mark.parametrize("value", [None, 1.5, True, [1], {"a": 1}])
def test_a_key_accepts_only_text_and_whole_numbers(value: object) -> None:
    with pytest.raises(Invalid, match="names the parameter 'id'"):
        Concurrency(key="c-{id}", limit=1).gate("team-a", {"id": value})


def test_a_concurrency_rule_round_trips_through_its_spec() -> None:
    rule = Concurrency(key="c-{id}", limit=2, rate=Rate(10, 60))
    assert parse_concurrency(rule.to_spec()) == rule
