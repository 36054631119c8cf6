from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.execution import Attempt, Outcome
from punctual.domain.executions.progress import Progress
from punctual.domain.instant import from_epoch_ms
from punctual.domain.lane import Priority
from punctual.domain.long_lane.laxity import (
    LaneLimits,
    Occupancy,
    admission_key,
    after_attempt,
    latest_start,
    pace,
    slack,
    time_left,
    with_remaining_work,
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


def test_the_latest_start_is_the_deadline_minus_the_run_time() -> None:
    assert latest_start(NOW, NOW - 24 * HOUR, Priority.LOW, 8 * 3600) == NOW - 8 * HOUR


@pytest.mark.parametrize(("priority", "days"), [(Priority.HIGH, 1), (Priority.NORMAL, 3), (Priority.LOW, 7)])
def test_without_a_deadline_the_priority_sets_an_implicit_one(priority: Priority, days: int) -> None:
    assert latest_start(None, NOW, priority, 3600) == NOW + timedelta(days=days) - HOUR


def test_the_part_with_the_least_laxity_is_admitted_first_whatever_its_priority() -> None:
    urgent = part(latest=NOW, priority=Priority.LOW)
    lax = part(latest=NOW + MILLISECOND, priority=Priority.HIGH)
    assert admission_key(urgent, NOW + HOUR) < admission_key(lax, NOW)


def test_ties_are_broken_by_priority_and_then_by_the_earliest_request() -> None:
    keys = [
        admission_key(part(priority=Priority.HIGH), NOW + HOUR),
        admission_key(part(priority=Priority.NORMAL), NOW),
        admission_key(part(priority=Priority.NORMAL, execution_id="a"), NOW + MILLISECOND),
        admission_key(part(priority=Priority.LOW), NOW - HOUR),
    ]
    assert keys == sorted(keys)


def test_admission_keys_are_unique() -> None:
    assert len({admission_key(part(execution_id=e, name=n), NOW) for e in ("a", "b") for n in ("0000", "0001")}) == 4


@given(INSTANTS, INSTANTS)
def test_admission_keys_sort_by_latest_start(one: datetime, other: datetime) -> None:
    keys = [admission_key(part(latest=latest, execution_id="e"), NOW) for latest in sorted((one, other))]
    assert keys == sorted(keys)


def test_the_time_left_is_the_longer_of_the_estimates_by_elapsed_time_and_by_progress() -> None:
    assert time_left(part(), NOW) == 8 * HOUR
    assert time_left(part(ran=3 * HOUR), NOW) == 5 * HOUR
    assert time_left(part(ran=6 * HOUR, progress=HALF), NOW) == 4 * HOUR
    assert time_left(part(ran=2 * HOUR, progress=HALF), NOW) == 6 * HOUR


def test_a_part_that_overruns_its_forecast_is_assumed_to_need_a_tenth_of_it_longer() -> None:
    assert time_left(part(ran=20 * HOUR), NOW) == 0.8 * HOUR
    assert time_left(part(ran=20 * HOUR, progress=Progress(percent=100)), NOW) == timedelta()


def test_the_slack_of_a_running_part_is_its_laxity_if_preempted_now() -> None:
    started_in_time = replace(part(latest=NOW - 2 * HOUR, ran=3 * HOUR), checkpoint="s3")
    assert slack(started_in_time, NOW) == HOUR
    assert slack(started_in_time, NOW + HOUR) == HOUR


def test_a_part_without_a_checkpoint_would_start_over_and_has_less_slack() -> None:
    assert slack(part(latest=NOW - 2 * HOUR, ran=3 * HOUR), NOW) == -2 * HOUR


def test_a_preempted_part_waits_with_the_laxity_of_its_remaining_work() -> None:
    stopped = with_remaining_work(part(latest=NOW - 2 * HOUR, ran=3 * HOUR), NOW)
    assert stopped.expected_seconds == 5 * 3600
    assert stopped.latest_start == NOW + HOUR


@pytest.mark.parametrize(
    ("outcome", "checkpoint", "hours"),
    [(Outcome.PREEMPTED, "s3", 5), (Outcome.PREEMPTED, None, 8), (Outcome.FAILED, "s3", 8)],
)
def test_only_a_part_stopped_with_a_checkpoint_is_reduced_to_its_remaining_work(
    outcome: Outcome, checkpoint: str | None, hours: int
) -> None:
    attempt = Attempt(number=1, outcome=outcome, started_at=NOW - 3 * HOUR, ended_at=NOW)
    decision = AttemptDecision(status=Status.RETRYING, reason=None, attempt=attempt)
    following = after_attempt(replace(part(ran=3 * HOUR), checkpoint=checkpoint), decision)
    assert following.expected_seconds == hours * 3600


def test_after_a_resume_elapsed_time_decides_not_progress() -> None:
    resumed = replace(with_remaining_work(part(ran=4 * HOUR, progress=HALF), NOW), started_at=NOW)
    assert time_left(replace(resumed, progress=Progress(percent=75)), NOW + 2 * HOUR) == 2 * HOUR


def test_limits_allow_what_fits_and_are_reached_when_the_lane_is_full() -> None:
    limits = LaneLimits(tasks=2, cpu=4096, starts_per_second=1)
    assert limits.allow(Occupancy().plus(2048).plus(2048))
    assert not limits.allow(Occupancy().plus(4096).plus(256))
    assert not limits.allow(Occupancy().plus(256).plus(256).plus(256))
    assert limits.are_reached_by(Occupancy().plus(4096))
    assert limits.are_reached_by(Occupancy().plus(256).plus(256))
    assert not limits.are_reached_by(Occupancy().plus(256).plus(256).minus(256))


def test_starts_are_paced_to_whole_seconds() -> None:
    state: datetime | None = None
    starts = []
    for _ in range(5):
        start, state = pace(state, NOW, 2)
        starts.append((start - NOW) / timedelta(seconds=1))
    assert starts == [0, 1, 1, 2, 2]


@given(st.integers(1, 40), st.lists(st.integers(0, 700), max_size=120))
def test_no_second_has_more_starts_than_allowed_and_no_start_is_early(rate: int, pauses: list[int]) -> None:
    state, now = None, NOW
    starts: Counter[datetime] = Counter()
    for pause in pauses:
        now += pause * MILLISECOND
        start, state = pace(state, now, rate)
        assert start >= now
        assert start.microsecond == 0
        starts[start] += 1
    assert not starts or max(starts.values()) <= rate


def test_an_idle_lane_starts_at_the_next_whole_second() -> None:
    start, state = pace(NOW - HOUR, NOW + MILLISECOND, 10)
    assert start == NOW + timedelta(seconds=1)
    assert state == NOW + 101 * MILLISECOND


def test_a_clock_that_is_set_back_does_not_exceed_the_pace() -> None:
    _, state = pace(None, NOW, 1)
    start, _ = pace(state, NOW - HOUR, 1)
    assert start == NOW + timedelta(seconds=1)
