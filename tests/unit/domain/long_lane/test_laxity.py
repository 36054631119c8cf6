from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.execution import Attempt, Outcome, Progress
from punctual.domain.instant import from_epoch_ms
from punctual.domain.lane import Priority
from punctual.domain.long_lane.laxity import (
    LaneLimits,
    Occupancy,
    as_it_goes_on,
    latest_start,
    pace,
    slack,
    time_left,
    turn_of,
    with_the_rest,
)
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MILLISECOND = timedelta(milliseconds=1)
HALF = Progress(percent=50)
INSTANTS = st.integers(0, 7 * 10**12).map(from_epoch_ms)


def part(
    *,
    latest: datetime = NOW,
    priority: Priority = Priority.NORMAL,
    execution_id: str = "e",
    name: str = "all",
    ran: timedelta | None = None,
    progress: Progress | None = None,
) -> Part:
    """A part that is expected to run eight hours."""
    return Part(
        execution_id=execution_id,
        name=name,
        job_id="j",
        owner="o",
        status=Status.WAITING if ran is None else Status.RUNNING,
        cpu=1024,
        memory_mb=2048,
        latest_start=latest,
        expected_seconds=8 * 3600,
        priority=priority,
        started_at=None if ran is None else NOW - ran,
        progress=progress,
    )


def test_the_latest_start_is_the_deadline_less_the_run_time() -> None:
    assert latest_start(NOW, NOW - 24 * HOUR, Priority.LOW, 8 * 3600) == NOW - 8 * HOUR


@pytest.mark.parametrize(("priority", "days"), [(Priority.HIGH, 1), (Priority.NORMAL, 3), (Priority.LOW, 7)])
def test_without_a_deadline_patience_sets_one(priority: Priority, days: int) -> None:
    assert latest_start(None, NOW, priority, 3600) == NOW + timedelta(days=days) - HOUR


def test_the_least_lax_goes_first_whatever_its_priority() -> None:
    urgent = part(latest=NOW, priority=Priority.LOW)
    lax = part(latest=NOW + MILLISECOND, priority=Priority.HIGH)
    assert turn_of(urgent, NOW + HOUR) < turn_of(lax, NOW)


def test_priority_breaks_ties_and_then_who_asked_first() -> None:
    turns = [
        turn_of(part(priority=Priority.HIGH), NOW + HOUR),
        turn_of(part(priority=Priority.NORMAL), NOW),
        turn_of(part(priority=Priority.NORMAL, execution_id="a"), NOW + MILLISECOND),
        turn_of(part(priority=Priority.LOW), NOW - HOUR),
    ]
    assert turns == sorted(turns)


def test_no_two_parts_have_the_same_turn() -> None:
    assert len({turn_of(part(execution_id=e, name=n), NOW) for e in ("a", "b") for n in ("0000", "0001")}) == 4


@given(INSTANTS, INSTANTS)
def test_turns_sort_as_latest_starts_do(one: datetime, other: datetime) -> None:
    turns = [turn_of(part(latest=latest, execution_id="e"), NOW) for latest in sorted((one, other))]
    assert turns == sorted(turns)


def test_what_is_left_is_told_by_the_clock_until_progress_says_that_it_is_more() -> None:
    assert time_left(part(), NOW) == 8 * HOUR
    assert time_left(part(ran=3 * HOUR), NOW) == 5 * HOUR
    assert time_left(part(ran=6 * HOUR, progress=HALF), NOW) == 4 * HOUR
    assert time_left(part(ran=2 * HOUR, progress=HALF), NOW) == 6 * HOUR


def test_one_that_runs_over_its_forecast_needs_a_while_more() -> None:
    assert time_left(part(ran=20 * HOUR), NOW) == 0.8 * HOUR
    assert time_left(part(ran=20 * HOUR, progress=Progress(percent=100)), NOW) == timedelta()


def test_the_slack_of_one_that_runs_is_the_laxity_it_would_have_if_stopped() -> None:
    started_in_time = replace(part(latest=NOW - 2 * HOUR, ran=3 * HOUR), checkpoint="s3")
    assert slack(started_in_time, NOW) == HOUR
    assert slack(started_in_time, NOW + HOUR) == HOUR


def test_one_without_a_checkpoint_would_start_over_and_has_no_such_slack() -> None:
    assert slack(part(latest=NOW - 2 * HOUR, ran=3 * HOUR), NOW) == -2 * HOUR


def test_one_that_left_waits_with_the_laxity_of_the_rest() -> None:
    left = with_the_rest(part(latest=NOW - 2 * HOUR, ran=3 * HOUR), NOW)
    assert left.expected_seconds == 5 * 3600
    assert left.latest_start == NOW + HOUR


@pytest.mark.parametrize(
    ("outcome", "checkpoint", "hours"),
    [(Outcome.PREEMPTED, "s3", 5), (Outcome.PREEMPTED, None, 8), (Outcome.FAILED, "s3", 8)],
)
def test_only_one_that_left_at_a_checkpoint_has_just_the_rest_before_it(
    outcome: Outcome, checkpoint: str | None, hours: int
) -> None:
    attempt = Attempt(number=1, outcome=outcome, started_at=NOW - 3 * HOUR, ended_at=NOW)
    decision = AttemptDecision(status=Status.RETRYING, reason=None, attempt=attempt)
    left = as_it_goes_on(replace(part(ran=3 * HOUR), checkpoint=checkpoint), decision)
    assert left.expected_seconds == hours * 3600


def test_one_that_went_on_from_its_checkpoint_does_not_take_progress_for_time() -> None:
    resumed = replace(with_the_rest(part(ran=4 * HOUR, progress=HALF), NOW), started_at=NOW)
    assert time_left(replace(resumed, progress=Progress(percent=75)), NOW + 2 * HOUR) == 2 * HOUR


def test_limits_hold_what_fits_and_say_when_nothing_more_does() -> None:
    limits = LaneLimits(tasks=2, cpu=4096, starts_per_second=1)
    assert limits.hold(Occupancy().plus(2048).plus(2048))
    assert not limits.hold(Occupancy().plus(4096).plus(256))
    assert not limits.hold(Occupancy().plus(256).plus(256).plus(256))
    assert limits.filled_by(Occupancy().plus(4096))
    assert limits.filled_by(Occupancy().plus(256).plus(256))
    assert not limits.filled_by(Occupancy().plus(256).plus(256).minus(256))


def test_starts_are_spread_over_whole_seconds() -> None:
    state: datetime | None = None
    starts = []
    for _ in range(5):
        start, state = pace(state, NOW, 2)
        starts.append((start - NOW) / timedelta(seconds=1))
    assert starts == [0, 1, 1, 2, 2]


@given(st.integers(1, 40), st.lists(st.integers(0, 700), max_size=120))
def test_no_second_has_more_starts_than_allowed_and_none_is_early(rate: int, pauses: list[int]) -> None:
    state, now = None, NOW
    starts: Counter[datetime] = Counter()
    for pause in pauses:
        now += pause * MILLISECOND
        start, state = pace(state, now, rate)
        assert start >= now
        assert start.microsecond == 0
        starts[start] += 1
    assert not starts or max(starts.values()) <= rate


def test_a_lane_that_was_idle_starts_at_the_next_whole_second() -> None:
    start, state = pace(NOW - HOUR, NOW + MILLISECOND, 10)
    assert start == NOW + timedelta(seconds=1)
    assert state == NOW + 101 * MILLISECOND


def test_a_clock_that_goes_back_does_not_hurry_the_pace() -> None:
    _, state = pace(None, NOW, 1)
    start, _ = pace(state, NOW - HOUR, 1)
    assert start == NOW + timedelta(seconds=1)
