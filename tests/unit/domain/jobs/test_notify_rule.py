"""The rule of a job for its notices: events and topic."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.jobs.notify_rule import DEFAULT_RULE, OUTCOME_EVENTS, Event, Notify, Topic, parse_notify
from punctual.domain.notices.notice import outcome_notice
from punctual.domain.status import FINAL
from tests.unit.domain.notices.failed_execution import ALL, FAILED


@pytest.mark.parametrize(
    ("spec", "on", "to"),
    [
        ({"on": ["failed", "recovered"], "to": "page"}, {Event.FAILED, Event.RECOVERED}, Topic.PAGE),
        ({"on": ["failed", "failed"]}, {Event.FAILED}, Topic.NOTICE),
        ({"on": []}, set(), Topic.NOTICE),
        ({"to": "page"}, DEFAULT_RULE.on, Topic.PAGE),
        ({"on": [str(event) for event in Event]}, set(Event), Topic.NOTICE),
    ],
)
def test_a_rule_has_events_and_a_topic(spec: dict[str, Any], on: set[Event], to: Topic) -> None:
    assert parse_notify(spec) == Notify(frozenset(on), to)


@pytest.mark.parametrize("rule", [DEFAULT_RULE, ALL, Notify(frozenset())])
def test_a_rule_reads_back_unchanged(rule: Notify) -> None:
    assert parse_notify(json.loads(json.dumps(rule.to_spec()))) == rule


def test_a_rule_lists_its_events_in_a_fixed_order() -> None:
    assert ALL.to_spec()["on"] == ["failed", "succeeded", "deadline_at_risk", "will_miss", "missed", "recovered"]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"on": ["failed", "exploded"]}, "notify.on", "'exploded' is not one of failed, succeeded, deadline_at_risk"),
        ({"on": "failed"}, "notify.on", "must be a list of: failed,"),
        ({"on": {"failed": True}}, "notify.on", "must be a list"),
        ({"on": [["failed"]]}, "notify.on", "is not one of failed,"),
        ({"on": [None]}, "notify.on", "'None'"),
        ({"on": ["failed"], "to": "everybody"}, "notify.to", "'everybody' is not one of notice, page"),
        ({"to": 7}, "notify.to", "is not one of notice, page"),
    ],
)
def test_an_invalid_rule_is_rejected_with_the_valid_values(spec: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_notify(spec)
    assert refused.value.field == field
    assert message in refused.value.message


def test_the_default_rule_covers_deadlines_but_not_outcomes() -> None:
    assert parse_notify(None) is None
    assert DEFAULT_RULE.to is Topic.NOTICE
    assert frozenset(Event) - DEFAULT_RULE.on == {Event.FAILED, Event.SUCCEEDED}
    for status in FINAL:
        assert outcome_notice(replace(FAILED, status=status), "weekly-quality", None) is None


@pytest.mark.parametrize("event", list(Event))
def test_a_rule_covers_outcomes_if_it_has_an_event_at_the_end_of_an_execution(event: Event) -> None:
    assert Notify(frozenset({event})).covers_outcomes is (event in OUTCOME_EVENTS)


def test_the_default_rule_and_the_empty_rule_cover_no_outcomes() -> None:
    assert not DEFAULT_RULE.covers_outcomes
    assert not Notify(frozenset()).covers_outcomes
