"""When an execution will end, why that may be too late, and what would help."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, Seen
from punctual.domain.executions.execution import Attempt, Execution, Failure, Outcome, Progress
from punctual.domain.forecasts.deadline_forecast import SEEN_KEPT, Awaited, Surroundings, awaited_of, outlook_of
from punctual.domain.forecasts.queue_backlog import Backlog
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.partitions import Partitions
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import LaneOutlook, Start
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.planning.upstreams import Upstream
from punctual.domain.schedules.schedule import Now
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
EIGHT_HOURS = tuple(28_800 + 600 * (n % 5 - 2) for n in range(50))
QUIET = Surroundings(limits=LaneLimits(tasks=4, cpu=4096, starts_per_second=1), concurrency={"normal": 10})


def job(**more: Any) -> Job:
    usual: dict[str, Any] = {
        "job_id": "j",
        "name": "job",
        "owner": "team",
        "created_by": "me",
        "task": "echo",
        "schedule": Now(NOW),
        "created_at": NOW,
        "updated_at": NOW,
        "timeout_seconds": 43_200,
    }
    return Job(**usual | more)


def execution(status: Status = Status.QUEUED, due: timedelta = timedelta(), **more: Any) -> Execution:
    usual: dict[str, Any] = {
        "job_id": "j",
        "execution_id": "e",
        "owner": "team",
        "task": "echo",
        "scheduled_at": NOW - due,
        "status": status,
        "deadline_at": NOW + 10 * HOUR,
        "timeout_seconds": 43_200,
    }
    return Execution(**usual | more)


def attempt(outcome: Outcome, hours: float = 1) -> Attempt:
    return Attempt(number=1, outcome=outcome, started_at=NOW - hours * HOUR, ended_at=NOW)


def running(percent: float | None, elapsed: timedelta, left: timedelta, **more: Any) -> Execution:
    progress = None if percent is None else Progress(percent=percent)
    return execution(
        Status.RUNNING,
        elapsed,
        **{"started_at": NOW - elapsed, "attempt": 1, "progress": progress, "deadline_at": NOW + left} | more,
    )


def backlog(depth: int, capacity: float | None, arrival: float = 0.0) -> Backlog:
    return Backlog(
        depth=depth,
        in_flight=0,
        delayed=0,
        arrival_per_minute=arrival,
        finished_per_minute=capacity,
        capacity_per_minute=capacity,
        drain_minutes=None,
        drains=None,
        oldest_seconds=None,
        minutes_until_breach=None,
        limit_minutes=30,
        limit_messages=1000,
    )


def known(**more: Any) -> Job:
    return job(run_times={"execution": EIGHT_HOURS}, **more)


def test_eight_hours_that_are_30_percent_done_after_five_are_seen_at_once() -> None:
    slow = running(30, 5 * HOUR, 5 * HOUR, lane=Lane.LONG, timeout_seconds=86_400)
    outlook = outlook_of(slow, known(), QUIET, NOW)
    assert outlook.state is DeadlineState.WILL_MISS
    assert outlook.median_end > NOW + 8 * HOUR
    assert outlook.cause is not None
    assert outlook.cause.startswith("slower than usual: 30% after 5 hours; it usually takes 8 hours and would take ")
    assert outlook.remedy == "see its log for what holds it up; next time run it with more partitions"


def test_one_that_goes_as_usual_is_on_track_and_has_nothing_to_explain() -> None:
    outlook = outlook_of(running(50, 4 * HOUR, 6 * HOUR), known(), QUIET, NOW)
    assert (outlook.state, outlook.cause, outlook.remedy) == (DeadlineState.ON_TRACK, None, None)
    assert outlook.latest_safe_start is None
    assert abs(outlook.median_end - (NOW + 4 * HOUR)) < 30 * MINUTE


def test_one_that_started_late_says_so() -> None:
    late = running(30, 2.4 * HOUR, 4 * HOUR, scheduled_at=NOW - 9 * HOUR)
    outlook = outlook_of(late, known(), QUIET, NOW)
    assert outlook.state is DeadlineState.WILL_MISS
    assert outlook.cause is not None
    assert outlook.cause.startswith("started 6.6 hours after its due instant: 30% after 2.4 hours")


def test_the_pace_of_the_last_looks_counts() -> None:
    seen = tuple(Seen(NOW - n * 20 * MINUTE, 50) for n in (3, 2, 1))
    before = Outlook(
        state=DeadlineState.ON_TRACK, probability=1, median_end=NOW, p95_end=NOW, checked_at=NOW, seen=seen
    )
    moving = running(50, 4 * HOUR, 6 * HOUR)
    stalled = replace(moving, outlook=before)
    assert outlook_of(stalled, known(), QUIET, NOW).p95_end > outlook_of(moving, known(), QUIET, NOW).p95_end


def test_the_looks_that_are_kept_are_spread_over_the_last_quarter_of_the_run_however_dense_they_are() -> None:
    one = running(10, HOUR, 9 * HOUR)
    for minute in range(60):
        one = replace(one, outlook=outlook_of(one, known(), QUIET, NOW + minute * MINUTE))
    assert one.outlook is not None
    kept = [seen.at for seen in one.outlook.seen]
    assert len(kept) == SEEN_KEPT
    assert 20 * MINUTE <= kept[-1] - kept[0] <= 40 * MINUTE
    assert NOW + 59 * MINUTE - kept[-1] < 6 * MINUTE


def test_progress_that_was_told_a_heartbeat_ago_is_as_good_as_told_now() -> None:
    """Sixty seconds of work at a steady pace, told every ten: never in danger of missing 78."""
    usual = job(run_times={"execution": tuple(60 + n % 3 - 1 for n in range(50))}, timeout_seconds=600)
    for second in range(1, 60):
        told = 10 * (second // 10)
        one = running(
            100 * told / 60 if told else None,
            second * SECOND,
            (78 - second) * SECOND,
            timeout_seconds=600,
            progress_at=NOW - (second - told) * SECOND if told else None,
        )
        assert outlook_of(one, usual, QUIET, NOW).state is DeadlineState.ON_TRACK, second


def test_whoever_falls_silent_for_longer_is_taken_to_stand_still() -> None:
    usual = job(run_times={"execution": tuple(60 + n % 3 - 1 for n in range(50))}, timeout_seconds=600)
    silent = running(50, 75 * SECOND, 15 * SECOND, timeout_seconds=600, progress_at=NOW - 45 * SECOND)
    assert outlook_of(silent, usual, QUIET, NOW).state is not DeadlineState.ON_TRACK


def test_before_it_starts_the_latest_safe_start_is_known() -> None:
    outlook = outlook_of(execution(Status.SCHEDULED, due=-HOUR), known(), QUIET, NOW)
    assert outlook.state is DeadlineState.ON_TRACK
    assert outlook.latest_safe_start is not None
    assert NOW + HOUR < outlook.latest_safe_start < NOW + 2 * HOUR
    assert NOW + 8 * HOUR < outlook.median_end < NOW + 10 * HOUR


def test_what_waits_in_a_queue_names_it_and_how_many_workers_would_do() -> None:
    around = replace(QUIET, queues={"normal": backlog(600, 10)})
    minutes = tuple(180 + n % 30 for n in range(50))
    one = execution(deadline_at=NOW + 30 * MINUTE, timeout_seconds=600)
    outlook = outlook_of(one, job(run_times={"execution": minutes}, timeout_seconds=600), around, NOW)
    assert outlook.state is DeadlineState.WILL_MISS
    assert outlook.cause == "not started: waits in the queue normal behind 600, for about 60 minutes more"
    assert outlook.remedy == "raise concurrency.normal to 23"


def test_who_has_waited_longer_has_less_before_it() -> None:
    around = replace(QUIET, queues={"normal": backlog(600, 60, arrival=60)})
    minutes = tuple(180 + n % 30 for n in range(50))
    new, old = (
        outlook_of(
            execution(due=due, deadline_at=NOW + HOUR, timeout_seconds=600),
            job(run_times={"execution": minutes}, timeout_seconds=600),
            around,
            NOW,
        )
        for due in (timedelta(), 9 * MINUTE)
    )
    assert new.median_end - old.median_end > 5 * MINUTE


def test_what_waits_for_a_slot_names_the_limits_to_raise_and_who_could_leave() -> None:
    lane = LaneOutlook(
        at=NOW,
        first_free=NOW + HOUR,
        taken_cpu=4096,
        taken_tasks=4,
        waiting=2,
        waiting_cpu=3072,
        starts=(Start(NOW, NOW + 2 * HOUR),),
        laxest="other",
    )
    outlook = outlook_of(
        execution(Status.WAITING, lane=Lane.LONG, batch=Batch()), known(), replace(QUIET, lane=lane), NOW
    )
    assert outlook.state is not DeadlineState.ON_TRACK
    assert outlook.cause == ("not started: waits for a slot of the long lane for about 2 hours more; 4 run and 2 ask")
    assert outlook.remedy == (
        "raise the long lane's vcpus to 7 and tasks to 6, or pause or cancel other, which has the most time to spare"
    )


@pytest.mark.parametrize(
    ("one", "whose", "cause", "remedy"),
    [
        (
            execution(
                Status.RETRYING,
                attempt=1,
                attempts=(attempt(Outcome.FAILED),),
                error=Failure(type="Broken", message="disk full"),
                retry_at=NOW,
            ),
            known(),
            "retrying: attempt 2 of 3: Broken: disk full",
            "mend what made it fail",
        ),
        (execution(Status.STARTING, lane=Lane.LONG), known(), "its container has not come up yet", "ECS"),
        (execution(due=2 * MINUTE), known(), "starved: due 2 minutes ago, and nobody has taken it", "see the alarms"),
        (execution(), job(), "it has too few runs to tell", "give expected_seconds"),
        (
            execution(),
            job(expected_seconds=28_800),
            "it is expected to take 8 hours, and its deadline leaves it too little time",
            "start earlier",
        ),
        (execution(), known(), "it usually takes 8 hours, and its deadline leaves it too little time", "start earlier"),
        (execution(lane=Lane.LONG), known(), "it usually takes 8 hours", "more partitions"),
    ],
)
def test_each_danger_has_its_cause_and_remedy(one: Execution, whose: Job, cause: str, remedy: str) -> None:
    outlook = outlook_of(replace(one, deadline_at=NOW + 5 * HOUR), whose, QUIET, NOW)
    assert outlook.state in (DeadlineState.AT_RISK, DeadlineState.WILL_MISS)
    assert cause in (outlook.cause or "")
    assert remedy in (outlook.remedy or "")


def full_lane(hours: float) -> Surroundings:
    """Nobody gets a slot for so long."""
    lane = LaneOutlook(at=NOW, first_free=NOW + hours * HOUR, taken_cpu=4096, taken_tasks=4)
    return replace(QUIET, lane=lane)


def test_one_that_was_asked_to_leave_has_the_rest_before_it_and_waits_for_a_slot_again() -> None:
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
    assert outlook_of(preempted, known(), full_lane(1), NOW).state is DeadlineState.ON_TRACK
    late = outlook_of(preempted, known(), full_lane(6), NOW)
    assert late.state is DeadlineState.WILL_MISS
    assert late.cause is not None
    assert late.cause.startswith("not started: waits for a slot of the long lane for about 6 hours more")


def test_one_that_failed_may_have_to_start_over() -> None:
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
    assert outlook_of(again, known(), QUIET, NOW).state is DeadlineState.WILL_MISS


def test_partitions_wait_for_slots_too() -> None:
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
        (backlog(10_000, 0), timedelta()),  # nothing moves
        (backlog(500, 50, arrival=100), -10 * MINUTE),  # it grows until then
    ],
)
def test_a_queue_that_stands_still_or_grows_is_a_long_wait(queue: Backlog, due: timedelta) -> None:
    minutes = tuple(180 + n % 30 for n in range(50))
    one = execution(due=due, deadline_at=NOW - due + 15 * MINUTE, timeout_seconds=600)
    around = replace(QUIET, queues={"normal": queue})
    outlook = outlook_of(one, job(run_times={"execution": minutes}, timeout_seconds=600), around, NOW)
    assert outlook.state is DeadlineState.WILL_MISS


def test_partitions_that_may_not_all_run_at_once_take_several_rounds() -> None:
    batch = Batch(partitions=Partitions(count=7, at_once=2))
    one = execution(lane=Lane.LONG, batch=batch, timeout_seconds=7200)
    outlook = outlook_of(one, job(expected_seconds=3600, timeout_seconds=7200), QUIET, NOW)
    assert NOW + 3.5 * HOUR < outlook.median_end < NOW + 4.5 * HOUR


UPSTREAM = Dependency("01kxq0v9m3c8e7w2r5t4y6h1nb")


def test_one_that_waits_for_another_ends_after_it_and_says_whom_it_waits_for() -> None:
    one = execution(Status.WAITING, due=HOUR, depends_on=(UPSTREAM,))
    awaited = Awaited("load", NOW + 3 * HOUR, NOW + 4 * HOUR)
    outlook = outlook_of(one, known(), QUIET, NOW, awaited)
    assert outlook.state is DeadlineState.WILL_MISS
    assert outlook.cause == "not started: waits for load, which will take about 3 hours more"
    assert "see what holds load up" in (outlook.remedy or "")
    assert outlook.median_end > NOW + 10.5 * HOUR
    relaxed = replace(one, deadline_at=NOW + 20 * HOUR)
    assert outlook_of(relaxed, known(), QUIET, NOW, awaited).state is DeadlineState.ON_TRACK


def test_one_whose_upstream_ends_before_it_is_due_does_not_wait_for_it() -> None:
    later = execution(Status.SCHEDULED, due=-4 * HOUR, depends_on=(UPSTREAM,))
    with_it = outlook_of(later, known(), QUIET, NOW, Awaited("load", NOW + HOUR, NOW + 2 * HOUR))
    assert with_it == outlook_of(later, known(), QUIET, NOW)


def test_of_several_upstreams_the_one_that_ends_last_counts() -> None:
    ended = Upstream(UPSTREAM, job(), NOW, execution(Status.SUCCEEDED))
    runs = Upstream(UPSTREAM, known(name="runs"), NOW, running(50, 4 * HOUR, 6 * HOUR, deadline_at=None))
    told = outlook_of(execution(), known(), QUIET, NOW)
    looked_at = Upstream(UPSTREAM, job(name="looked at"), NOW, execution(outlook=told))
    unplanned = Upstream(UPSTREAM, known(name="unplanned"), NOW + 2 * HOUR)
    gone = Upstream(UPSTREAM, None)
    assert awaited_of([ended, gone], QUIET, NOW) is None
    half = awaited_of([ended, runs], QUIET, NOW)
    assert half is not None
    assert half.name == "runs"
    assert abs(half.median_end - NOW - 4 * HOUR) < HOUR / 2
    assert awaited_of([runs, looked_at], QUIET, NOW) == Awaited("looked at", told.median_end, told.p95_end)
    last = awaited_of([runs, looked_at, unplanned], QUIET, NOW)
    assert last is not None
    assert last.name == "unplanned"
    assert abs(last.median_end - NOW - 10 * HOUR) < HOUR / 2
