from __future__ import annotations

import pytest

from punctual.domain.jobs.notify_rule import DEFAULT_RULE, OUTCOME_EVENTS, Event, Notify


@pytest.mark.parametrize("event", list(Event))
def test_a_rule_covers_outcomes_if_it_has_an_event_at_the_end_of_an_execution(event: Event) -> None:
    assert Notify(frozenset({event})).covers_outcomes is (event in OUTCOME_EVENTS)


def test_the_default_rule_and_the_empty_rule_cover_no_outcomes() -> None:
    assert not DEFAULT_RULE.covers_outcomes
    assert not Notify(frozenset()).covers_outcomes
