"""Deadline forecasts of one execution: its expected end, and its state."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, ProgressSample
from punctual.domain.executions.execution import Outcome
from punctual.domain.executions.progress import Progress
from punctual.domain.forecasts.deadline_forecast import (
    MAX_PROGRESS_SAMPLES,
    UpstreamEnd,
    last_upstream_end,
    outlook_of,
)
from punctual.domain.forecasts.queue_backlog import Backlog
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.partitions import Partitions
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import HeldSlots, LaneOutlook
from punctual.domain.planning.upstreams import Upstream
from punctual.domain.status import Status
from tests.unit.domain.forecasts.deadlines import (
    HOUR,
    IDLE,
    MINUTE,
    NOW,
    SECOND,
    attempt,
    backlog,
    execution,
    job,
    regular_job,
    running,
)


def test_an_eight_hour_job_at_30_percent_after_five_hours_will_miss() -> None:
    slow = running(30, 5 * HOUR, 5 * HOUR, lane=Lane.LONG, timeout_seconds=86_400)
    outlook = outlook_of(slow, regular_job(), IDLE, NOW)
    assert outlook.state is DeadlineState.WILL_MISS
    assert outlook.median_end > NOW + 8 * HOUR
    assert outlook.cause is not None
    assert outlook.cause.startswith("slower than usual: 30% done after 5 hours; it usually takes 8 hours and would")
    assert outlook.remedy == "see its log for what delays it; next time run it with more partitions"


def test_a_run_at_its_usual_pace_is_on_track_without_cause_and_remedy() -> None:
    outlook = outlook_of(running(50, 4 * HOUR, 6 * HOUR), regular_job(), IDLE, NOW)
    assert (outlook.state, outlook.cause, outlook.remedy) == (DeadlineState.ON_TRACK, None, None)
    assert outlook.latest_safe_start is None
    assert abs(outlook.median_end - (NOW + 4 * HOUR)) < 30 * MINUTE


def test_recent_progress_samples_change_the_forecast() -> None:
    samples = tuple(ProgressSample(NOW - n * 20 * MINUTE, 50) for n in (3, 2, 1))
    before = Outlook(
        state=DeadlineState.ON_TRACK,
        probability=1,
        median_end=NOW,
        p95_end=NOW,
        checked_at=NOW,
        progress_samples=samples,
    )
    moving = running(50, 4 * HOUR, 6 * HOUR)
    stalled = replace(moving, outlook=before)
    assert outlook_of(stalled, regular_job(), IDLE, NOW).p95_end > outlook_of(moving, regular_job(), IDLE, NOW).p95_end


def test_kept_progress_samples_cover_the_run_however_often_it_is_checked() -> None:
    one = running(10, HOUR, 9 * HOUR)
    for minute in range(60):
        one = replace(one, outlook=outlook_of(one, regular_job(), IDLE, NOW + minute * MINUTE))
    assert one.outlook is not None
    kept = [sample.at for sample in one.outlook.progress_samples]
    assert MAX_PROGRESS_SAMPLES // 2 <= len(kept) <= MAX_PROGRESS_SAMPLES
    assert kept[0] == NOW
    assert NOW + 59 * MINUTE - kept[-1] < 8 * MINUTE


def test_progress_within_the_heartbeat_grace_counts_as_current() -> None:
    """60 seconds of work at a steady pace, reported every 10 seconds, with a deadline after 78: never in danger."""
    usual = job(run_times={"execution": tuple(60 + n % 3 - 1 for n in range(50))}, timeout_seconds=600)
    for second in range(1, 60):
        reported = 10 * (second // 10)
        one = running(
            100 * reported / 60 if reported else None,
            second * SECOND,
            (78 - second) * SECOND,
            timeout_seconds=600,
            progress_at=NOW - (second - reported) * SECOND if reported else None,
        )
        assert outlook_of(one, usual, IDLE, NOW).state is DeadlineState.ON_TRACK, second


def test_a_run_without_progress_reports_beyond_the_grace_counts_as_stalled() -> None:
    usual = job(run_times={"execution": tuple(60 + n % 3 - 1 for n in range(50))}, timeout_seconds=600)
    silent = running(50, 75 * SECOND, 15 * SECOND, timeout_seconds=600, progress_at=NOW - 45 * SECOND)
    assert outlook_of(silent, usual, IDLE, NOW).state is not DeadlineState.ON_TRACK


def test_an_execution_that_has_not_started_has_a_latest_safe_start() -> None:
    outlook = outlook_of(execution(Status.SCHEDULED, due=-HOUR), regular_job(), IDLE, NOW)
    assert outlook.state is DeadlineState.ON_TRACK
    assert outlook.latest_safe_start is not None
    assert NOW + HOUR < outlook.latest_safe_start < NOW + 2 * HOUR
    assert NOW + 8 * HOUR < outlook.median_end < NOW + 10 * HOUR


def test_an_execution_that_has_waited_longer_has_fewer_messages_ahead() -> None:
    load = replace(IDLE, queues={"normal": backlog(600, 60, arrival=60)})
    minutes = tuple(180 + n % 30 for n in range(50))
    new, old = (
        outlook_of(
            execution(due=due, deadline_at=NOW + HOUR, timeout_seconds=600),
            job(run_times={"execution": minutes}, timeout_seconds=600),
            load,
            NOW,
        )
        for due in (timedelta(), 9 * MINUTE)
    )
    assert new.median_end - old.median_end > 5 * MINUTE


def full_lane(hours: float) -> SystemLoad:
    """A long lane without a free slot for so many hours."""
    free_at = NOW + hours * HOUR
    holding = (HeldSlots(free_at, 4, 4096),)
    lane = LaneOutlook(at=NOW, first_free=free_at, taken_cpu=4096, taken_tasks=4, holding=holding)
    return replace(IDLE, lane=lane)


def test_a_preempted_execution_needs_only_the_remaining_time_and_a_new_slot() -> None:
    preempted = execution(
        Status.WAITING,
        lane=Lane.LONG,
        batch=Batch(),
        started_at=NOW - 4 * HOUR,
        attempt=1,
        attempts=(attempt(Outcome.PREEMPTED, 4),),
        progress=Progress(percent=50),
        deadline_at=NOW + 7 * HOUR,
    )
    assert outlook_of(preempted, regular_job(), full_lane(1), NOW).state is DeadlineState.ON_TRACK
    late = outlook_of(preempted, regular_job(), full_lane(6), NOW)
    assert late.state is DeadlineState.WILL_MISS
    assert late.cause is not None
    assert late.cause.startswith("not started: waits for a slot of the long lane for about 6 hours more")


def test_a_failed_execution_is_expected_to_start_over() -> None:
    again = execution(
        Status.WAITING,
        lane=Lane.LONG,
        batch=Batch(),
        started_at=NOW - 7 * HOUR,
        attempt=1,
        attempts=(attempt(Outcome.FAILED, 7),),
        progress=Progress(percent=87.5),
        deadline_at=NOW + 3 * HOUR,
    )
    assert outlook_of(again, regular_job(), IDLE, NOW).state is DeadlineState.WILL_MISS


def test_a_partitioned_execution_waits_for_slots_too() -> None:
    divided = execution(
        Status.WAITING,
        lane=Lane.LONG,
        batch=Batch(partitions=Partitions(count=3)),
        progress=Progress(percent=0, done=0, total=3),
        deadline_at=NOW + 2 * HOUR,
    )
    assert outlook_of(divided, job(expected_seconds=3600), full_lane(5), NOW).state is DeadlineState.WILL_MISS


@pytest.mark.parametrize(
    ("queue", "due"),
    [
        (backlog(10_000, 0), timedelta()),  # no throughput
        (backlog(500, 50, arrival=100), -10 * MINUTE),  # grows until the due instant
    ],
)
def test_a_stuck_or_growing_queue_means_a_long_wait(queue: Backlog, due: timedelta) -> None:
    minutes = tuple(180 + n % 30 for n in range(50))
    one = execution(due=due, deadline_at=NOW - due + 15 * MINUTE, timeout_seconds=600)
    load = replace(IDLE, queues={"normal": queue})
    outlook = outlook_of(one, job(run_times={"execution": minutes}, timeout_seconds=600), load, NOW)
    assert outlook.state is DeadlineState.WILL_MISS


def test_partitions_limited_by_at_once_run_in_several_rounds() -> None:
    batch = Batch(partitions=Partitions(count=7, at_once=2))
    one = execution(lane=Lane.LONG, batch=batch, timeout_seconds=7200)
    outlook = outlook_of(one, job(expected_seconds=3600, timeout_seconds=7200), IDLE, NOW)
    assert NOW + 3.5 * HOUR < outlook.median_end < NOW + 4.5 * HOUR


UPSTREAM = Dependency("01kxq0v9m3c8e7w2r5t4y6h1nb")


def test_an_execution_with_a_pending_upstream_ends_after_it_and_names_it() -> None:
    one = execution(Status.WAITING, due=HOUR, depends_on=(UPSTREAM,))
    upstream = UpstreamEnd("j", "load", NOW + 3 * HOUR, NOW + 4 * HOUR)
    outlook = outlook_of(one, regular_job(), IDLE, NOW, upstream)
    assert outlook.state is DeadlineState.WILL_MISS
    assert outlook.cause == "not started: waits for upstream load, which needs about 3 hours more"
    assert "find out what delays load" in (outlook.remedy or "")
    assert outlook.median_end > NOW + 10.5 * HOUR
    relaxed = replace(one, deadline_at=NOW + 20 * HOUR)
    assert outlook_of(relaxed, regular_job(), IDLE, NOW, upstream).state is DeadlineState.ON_TRACK


def test_an_upstream_that_ends_before_the_due_instant_adds_no_wait() -> None:
    later = execution(Status.SCHEDULED, due=-4 * HOUR, depends_on=(UPSTREAM,))
    with_it = outlook_of(later, regular_job(), IDLE, NOW, UpstreamEnd("j", "load", NOW + HOUR, NOW + 2 * HOUR))
    assert with_it == outlook_of(later, regular_job(), IDLE, NOW)


def test_the_upstream_that_ends_last_determines_the_wait() -> None:
    ended = Upstream(UPSTREAM, job(), NOW, execution(Status.SUCCEEDED))
    runs = Upstream(UPSTREAM, regular_job(name="runs"), NOW, running(50, 4 * HOUR, 6 * HOUR, deadline_at=None))
    outlook = outlook_of(execution(), regular_job(), IDLE, NOW)
    checked = Upstream(UPSTREAM, job(name="checked"), NOW, execution(outlook=outlook))
    unplanned = Upstream(UPSTREAM, regular_job(name="unplanned"), NOW + 2 * HOUR)
    gone = Upstream(UPSTREAM, None)
    assert last_upstream_end([ended, gone], IDLE, NOW) is None
    half = last_upstream_end([ended, runs], IDLE, NOW)
    assert half is not None
    assert half.name == "runs"
    assert abs(half.median_end - NOW - 4 * HOUR) < HOUR / 2
    assert last_upstream_end([runs, checked], IDLE, NOW) == UpstreamEnd(
        "j", "checked", outlook.median_end, outlook.p95_end
    )
    last = last_upstream_end([runs, checked, unplanned], IDLE, NOW)
    assert last is not None
    assert last.name == "unplanned"
    assert abs(last.median_end - NOW - 10 * HOUR) < HOUR / 2
