from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.executions.deadline_outlook import (
    AT_RISK_ABOVE,
    AT_RISK_BELOW,
    MAX_CHECK_INTERVAL,
    MIN_CHECK_INTERVAL,
    ON_TRACK_ABOVE,
    WILL_MISS_BELOW,
    DeadlineState,
    Outlook,
    danger_key,
    danger_key_range,
    first_check,
    next_check,
    state_after,
    state_since,
)

FORECASTS = Path(__file__).parents[4] / "docs" / "forecasts.md"
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ON_TRACK, AT_RISK, WILL_MISS, MISSED = DeadlineState


@pytest.mark.parametrize(
    ("before", "probability", "after"),
    [
        (None, 0.81, ON_TRACK),
        (None, 0.79, AT_RISK),
        (None, 0.09, WILL_MISS),
        (ON_TRACK, 0.80, ON_TRACK),
        (AT_RISK, 0.94, AT_RISK),  # hysteresis: recovery needs 0.95
        (AT_RISK, 0.95, ON_TRACK),
        (AT_RISK, 0.10, AT_RISK),
        (AT_RISK, 0.09, WILL_MISS),
        (WILL_MISS, 0.24, WILL_MISS),
        (WILL_MISS, 0.25, AT_RISK),
        (WILL_MISS, 0.94, AT_RISK),
        (WILL_MISS, 0.95, ON_TRACK),
        (MISSED, 1.0, MISSED),
    ],
)
def test_the_state_follows_from_the_probability_and_the_previous_state(
    before: DeadlineState | None, probability: float, after: DeadlineState
) -> None:
    assert state_after(before, probability, NOW + HOUR, NOW) is after


@given(st.sampled_from([None, *DeadlineState]), st.floats(0, 1))
def test_a_deadline_that_has_passed_is_missed_whatever_the_forecast(
    before: DeadlineState | None, probability: float
) -> None:
    assert state_after(before, probability, NOW, NOW) is MISSED


@given(st.floats(0, 1), st.lists(st.floats(-0.04, 0.04), min_size=2, max_size=30))
def test_a_fluctuating_forecast_changes_the_state_at_most_once(centre: float, deviations: list[float]) -> None:
    state: DeadlineState | None = None
    states = [state := state_after(state, min(max(centre + one, 0), 1), NOW + HOUR, NOW) for one in deviations]
    assert sum(one is not other for one, other in pairwise(states)) <= 1


@given(st.timedeltas(timedelta(seconds=1), timedelta(days=30)), st.timedeltas(timedelta(), timedelta(days=7)))
def test_checks_get_denser_as_the_deadline_nears_and_the_last_is_at_the_deadline(
    left: timedelta, ahead: timedelta
) -> None:
    released, deadline = NOW + ahead, NOW + ahead + left
    checks = [NOW]
    while (following := next_check(released, deadline, checks[-1])) is not None:
        assert following > checks[-1]
        checks.append(following)
    assert checks[-1] == deadline
    intervals = [later - earlier for earlier, later in pairwise(checks) if earlier >= released]
    assert all(MIN_CHECK_INTERVAL <= interval <= MAX_CHECK_INTERVAL for interval in intervals[:-1])
    assert intervals[:-1] == sorted(intervals[:-1], reverse=True)
    assert sum(check < released for check in checks) <= 1  # nothing changes before the release


def test_an_execution_planned_far_ahead_is_checked_immediately_and_a_near_one_when_it_is_due() -> None:
    assert first_check(NOW + timedelta(days=5), NOW + timedelta(days=6), NOW) == NOW
    assert first_check(NOW + timedelta(minutes=3), NOW + 3 * HOUR, NOW) == NOW + timedelta(minutes=3)
    assert first_check(NOW - HOUR, NOW + 3 * HOUR, NOW) == NOW


def test_with_a_short_deadline_the_first_check_comes_after_an_eighth_of_the_time() -> None:
    due = NOW + timedelta(minutes=3)
    assert first_check(due, due + timedelta(seconds=80), NOW) == due + timedelta(seconds=10)
    assert first_check(NOW - HOUR, NOW - timedelta(seconds=1), NOW) == NOW  # already missed: reported immediately


def test_the_state_diagram_in_the_docs_shows_the_thresholds() -> None:
    [diagram] = re.findall(r"```mermaid\nstateDiagram-v2\n(.*?)```", FORECASTS.read_text(), re.DOTALL)
    arrows = re.findall(r"(\w+) --> (\w+): (\w+) (\d+)%", diagram)
    documented = {(source, target): (word, int(percent) / 100) for source, target, word, percent in arrows}
    assert documented == {
        ("on_track", "at_risk"): ("below", AT_RISK_BELOW),
        ("on_track", "will_miss"): ("below", WILL_MISS_BELOW),
        ("at_risk", "will_miss"): ("below", WILL_MISS_BELOW),
        ("at_risk", "on_track"): ("above", ON_TRACK_ABOVE),
        ("will_miss", "at_risk"): ("above", AT_RISK_ABOVE),
        ("will_miss", "on_track"): ("above", ON_TRACK_ABOVE),
    }


def test_danger_keys_sort_by_worst_state_and_then_by_nearest_deadline() -> None:
    keys = [danger_key(state, NOW + n * HOUR, "e") for state in reversed(DeadlineState) for n in (1, 2)]
    assert keys == sorted(keys)
    for state in DeadlineState:
        low, high = danger_key_range(state)
        inside = [key for key in keys if low <= key <= high]
        assert inside == [danger_key(state, NOW + n * HOUR, "e") for n in (1, 2)]


def outlook(state: DeadlineState, since: datetime | None) -> Outlook:
    return Outlook(state=state, probability=0.5, median_end=NOW, p95_end=NOW, since=since, checked_at=NOW - HOUR)


def test_a_state_began_when_a_check_first_found_it() -> None:
    long_ago = NOW - 5 * HOUR
    assert state_since(None, AT_RISK, NOW + HOUR, NOW) == NOW
    assert state_since(outlook(ON_TRACK, long_ago), AT_RISK, NOW + HOUR, NOW) == NOW
    assert state_since(outlook(AT_RISK, long_ago), AT_RISK, NOW + HOUR, NOW) == long_ago


def test_a_deadline_is_missed_since_its_instant() -> None:
    assert state_since(outlook(AT_RISK, NOW - 5 * HOUR), MISSED, NOW - HOUR / 2, NOW) == NOW - HOUR / 2


def test_an_outlook_of_an_earlier_version_began_at_its_check() -> None:
    assert state_since(outlook(AT_RISK, None), AT_RISK, NOW + HOUR, NOW) == NOW - HOUR


def test_a_time_range_of_danger_keys_excludes_its_end() -> None:
    low, high = danger_key_range(AT_RISK, NOW, NOW + HOUR)
    inside = [danger_key(AT_RISK, at, "e") for at in (NOW, NOW + HOUR / 2)]
    outside = [danger_key(AT_RISK, at, "e") for at in (NOW - HOUR, NOW + HOUR)] + [danger_key(MISSED, NOW, "e")]
    assert all(low <= key <= high for key in inside)
    assert not any(low <= key <= high for key in outside)
