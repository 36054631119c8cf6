from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.executions.deadline_outlook import (
    HOPE_ABOVE,
    LONGEST_REST,
    LOST_BELOW,
    RISKY_BELOW,
    SAFE_ABOVE,
    SHORTEST_REST,
    DeadlineState,
    danger_of,
    dangers_of,
    first_check,
    next_check,
    state_after,
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
        (AT_RISK, 0.85, AT_RISK),  # the way back asks for more
        (AT_RISK, 0.90, ON_TRACK),
        (AT_RISK, 0.10, AT_RISK),
        (AT_RISK, 0.09, WILL_MISS),
        (WILL_MISS, 0.24, WILL_MISS),
        (WILL_MISS, 0.25, AT_RISK),
        (WILL_MISS, 0.89, AT_RISK),
        (WILL_MISS, 0.91, ON_TRACK),
        (MISSED, 1.0, MISSED),
    ],
)
def test_a_state_follows_from_the_probability_and_the_state_before(
    before: DeadlineState | None, probability: float, after: DeadlineState
) -> None:
    assert state_after(before, probability, NOW + HOUR, NOW) is after


@given(st.sampled_from([None, *DeadlineState]), st.floats(0, 1))
def test_a_deadline_that_has_passed_is_missed_whatever_the_forecast(
    before: DeadlineState | None, probability: float
) -> None:
    assert state_after(before, probability, NOW, NOW) is MISSED


@given(st.floats(0, 1), st.lists(st.floats(-0.04, 0.04), min_size=2, max_size=30))
def test_a_forecast_that_trembles_changes_the_state_once_at_most(centre: float, trembles: list[float]) -> None:
    state: DeadlineState | None = None
    states = [state := state_after(state, min(max(centre + one, 0), 1), NOW + HOUR, NOW) for one in trembles]
    assert sum(one is not other for one, other in pairwise(states)) <= 1


@given(st.timedeltas(timedelta(seconds=1), timedelta(days=30)), st.timedeltas(timedelta(), timedelta(days=7)))
def test_looks_come_denser_as_the_deadline_nears_and_the_last_is_at_the_deadline(
    left: timedelta, ahead: timedelta
) -> None:
    released, deadline = NOW + ahead, NOW + ahead + left
    looks = [NOW]
    while (following := next_check(released, deadline, looks[-1])) is not None:
        assert following > looks[-1]
        looks.append(following)
    assert looks[-1] == deadline
    rests = [later - earlier for earlier, later in pairwise(looks) if earlier >= released]
    assert all(SHORTEST_REST <= rest <= LONGEST_REST for rest in rests[:-1])
    assert rests[:-1] == sorted(rests[:-1], reverse=True)
    assert sum(look < released for look in looks) <= 1  # before it is due nothing changes


def test_what_is_planned_far_ahead_is_looked_at_at_once_and_what_is_near_when_it_is_due() -> None:
    assert first_check(NOW + timedelta(days=5), NOW + timedelta(days=6), NOW) == NOW
    assert first_check(NOW + timedelta(minutes=3), NOW + 3 * HOUR, NOW) == NOW + timedelta(minutes=3)
    assert first_check(NOW - HOUR, NOW + 3 * HOUR, NOW) == NOW


def test_of_what_has_little_time_an_eighth_passes_before_the_first_look() -> None:
    due = NOW + timedelta(minutes=3)
    assert first_check(due, due + timedelta(seconds=80), NOW) == due + timedelta(seconds=10)
    assert first_check(NOW - HOUR, NOW - timedelta(seconds=1), NOW) == NOW  # too late already: that is told at once


def test_the_picture_in_the_docs_shows_these_thresholds() -> None:
    [picture] = re.findall(r"```mermaid\nstateDiagram-v2\n(.*?)```", FORECASTS.read_text(), re.DOTALL)
    arrows = re.findall(r"(\w+) --> (\w+): (\w+) (\d+)%", picture)
    shown = {(source, target): (word, int(percent) / 100) for source, target, word, percent in arrows}
    assert shown == {
        ("on_track", "at_risk"): ("below", RISKY_BELOW),
        ("on_track", "will_miss"): ("below", LOST_BELOW),
        ("at_risk", "will_miss"): ("below", LOST_BELOW),
        ("at_risk", "on_track"): ("above", SAFE_ABOVE),
        ("will_miss", "at_risk"): ("above", HOPE_ABOVE),
        ("will_miss", "on_track"): ("above", SAFE_ABOVE),
    }


def test_the_worst_come_first_and_then_the_nearest_deadline() -> None:
    places = [danger_of(state, NOW + n * HOUR, "e") for state in reversed(DeadlineState) for n in (1, 2)]
    assert places == sorted(places)
    for state in DeadlineState:
        low, high = dangers_of(state)
        inside = [one for one in places if low <= one <= high]
        assert inside == [danger_of(state, NOW + n * HOUR, "e") for n in (1, 2)]
