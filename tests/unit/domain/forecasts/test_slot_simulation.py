"""When partitions get slots, given their run times."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.forecasts.slot_simulation import Held, Planned, Scenario, SlotPlan, Waiting, end_of
from punctual.domain.long_lane.laxity import LaneLimits

HOUR = 3600.0
SECONDS = st.lists(st.floats(1, 9 * HOUR), max_size=9)


def plan(slots: int = 4, at_once: int = 9, **more: object) -> SlotPlan:
    limits = LaneLimits(tasks=slots, cpu=slots * 1024)
    return replace(SlotPlan(limits=limits, cpu=1024, at_once=at_once, latest_start=HOUR), **more)  # type: ignore[arg-type]


@given(SECONDS, SECONDS, st.floats(0, HOUR), st.integers(1, 5), st.integers(1, 5))
def test_a_lane_whose_only_other_part_has_just_ended_is_like_an_empty_one(
    running: list[float], pending: list[float], collect: float, slots: int, at_once: int
) -> None:
    scenario = Scenario(running[: min(slots, at_once)], [(0.0, one) for one in pending], collect)
    empty, left = plan(slots, at_once), plan(slots, at_once, held=(Held(0.0, 1, 1),))
    assert end_of(scenario, left) == pytest.approx(end_of(scenario, empty))


def test_partitions_take_free_slots_in_waves() -> None:
    five = Scenario([], [(0.0, HOUR)] * 5)
    assert [end_of(five, plan(slots)) / HOUR for slots in (1, 2, 3, 5)] == [5, 3, 2, 1]
    assert [end_of(five, plan(9, at_once)) / HOUR for at_once in (1, 2, 3, 5)] == [5, 3, 2, 1]


def test_a_part_with_an_earlier_latest_start_goes_first() -> None:
    one = Scenario([], [(0.0, HOUR)])
    urgent, lax = Waiting(0.0, 5 * HOUR, 1, 1024), Waiting(2 * HOUR, 5 * HOUR, 1, 1024)
    held = (Held(HOUR, 1, 1024),)
    assert end_of(one, plan(1, held=held, waiting=(urgent,))) == 7 * HOUR
    assert end_of(one, plan(1, held=held, waiting=(lax,))) == 2 * HOUR


def test_a_slot_between_two_waves_goes_to_a_part_that_already_waits() -> None:
    two = Scenario([HOUR], [(0.0, HOUR)])
    lax = Waiting(9 * HOUR, 3 * HOUR, 1, 1024)
    assert end_of(two, plan(1, at_once=1, waiting=(lax,))) == 5 * HOUR
    assert end_of(two, plan(1, at_once=2, waiting=(lax,))) == 2 * HOUR


def test_a_large_part_blocks_the_parts_behind_it() -> None:
    large = Waiting(0.0, HOUR, 1, 2048)
    held = (Held(2 * HOUR, 1, 1024),)
    assert end_of(Scenario([], [(0.0, HOUR)]), plan(2, held=held, waiting=(large,))) == 4 * HOUR


def test_longer_runs_of_others_delay_the_execution() -> None:
    held = (Held(HOUR, 4, 4096),)
    assert end_of(Scenario([], [(0.0, HOUR)], stretch=1.5), plan(held=held)) == 2.5 * HOUR


def test_a_backoff_occupies_a_place_of_at_once() -> None:
    assert end_of(Scenario([], [(HOUR, HOUR), (0.0, HOUR)]), plan(9, at_once=1)) == 3 * HOUR


def test_a_part_larger_than_the_lane_never_ends() -> None:
    assert end_of(Scenario([], [(0.0, HOUR)]), plan(4, cpu=8192)) == inf


def test_the_collector_requests_a_slot_after_the_last_partition() -> None:
    done = Scenario([], [], collect=HOUR)
    assert end_of(done, plan()) == HOUR
    assert end_of(done, plan(held=(Held(2 * HOUR, 4, 4096),))) == 3 * HOUR
    assert end_of(Scenario([], []), plan(held=(Held(2 * HOUR, 4, 4096),))) == 0


def test_an_execution_that_is_due_later_takes_the_slots_that_become_free_then() -> None:
    urgent = Waiting(0.0, 3 * HOUR, 1, 1024)
    two = Scenario([HOUR], [(0.0, HOUR)])
    assert end_of(two, plan(1, at_once=1, planned=(Planned(HOUR / 2, urgent),))) == 5 * HOUR
    assert end_of(two, plan(1, at_once=1, planned=(Planned(3 * HOUR / 2, urgent),))) == 2 * HOUR
    assert end_of(two._replace(stretch=2), plan(1, at_once=1, planned=(Planned(0.0, urgent),))) == 8 * HOUR
