"""The rule of a job for its notices: events and topic."""

from __future__ import annotations

import json
from typing import Any

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.jobs.destination import Topic
from punctual.domain.jobs.notify_rule import DEFAULT_RULE, Event, Notify, parse_notify
from tests.unit.domain.notices.failed_execution import ALL


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
    assert parse_notify(spec) == Notify(frozenset(on), (to,))


@pytest.mark.parametrize("rule", [DEFAULT_RULE, ALL, Notify(frozenset())])
def test_a_rule_reads_back_unchanged(rule: Notify) -> None:
    assert parse_notify(json.loads(json.dumps(rule.to_spec()))) == rule


def test_a_rule_lists_its_events_in_a_fixed_order() -> None:
    assert ALL.to_spec()["on"] == [str(event) for event in Event]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"on": ["failed", "exploded"]},
            "notify.on",
            "'exploded' is not one of failed, succeeded, overrun, deadline_at_risk",
        ),
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


def test_the_default_rule_covers_failures_overruns_and_deadlines() -> None:
    assert parse_notify(None) is None
    assert DEFAULT_RULE.to == (Topic.NOTICE,)
    assert frozenset(Event) - DEFAULT_RULE.on == {Event.SUCCEEDED, Event.EXECUTION_SKIPPED, Event.EXECUTION_MISSED}


def test_the_former_name_of_a_missed_deadline_is_accepted() -> None:
    rule = parse_notify({"on": ["missed"]})
    assert rule == Notify(frozenset({Event.DEADLINE_MISSED}))
    assert rule.to_spec()["on"] == ["deadline_missed"]


@pytest.mark.parametrize("event", list(Event))
def test_a_rule_covers_ends_without_failure_only_if_it_has_such_an_event(event: Event) -> None:
    of_end = {Event.SUCCEEDED, Event.EXECUTION_SKIPPED, Event.EXECUTION_MISSED}
    assert Notify(frozenset({event})).covers_ends_without_failure is (event in of_end)


def test_the_default_rule_and_the_empty_rule_need_no_end_without_failure() -> None:
    assert not DEFAULT_RULE.covers_ends_without_failure
    assert not Notify(frozenset()).covers_ends_without_failure
