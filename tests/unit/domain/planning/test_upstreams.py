"""Which upstream execution a dependant waits for, and when it may start."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.identity import execution_id, new_job_id
from punctual.domain.jobs.dependency import Condition, Dependency
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.planning.upstreams import (
    JOB_STORE_GRACE,
    MAX_RECHECK_INTERVAL,
    MIN_RECHECK_INTERVAL,
    PLANNING_GRACE,
    Readiness,
    Upstream,
    decide_start,
    due_for,
    due_of_window,
    next_recheck_at,
    windows_agree,
)
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import window_of
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import At, Now, PerMessage, Schedule
from punctual.domain.status import FINAL, LIVE_STATUSES, Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
NEW_YORK = "America/New_York"
UNITS = [None, *WindowUnit]


def cron(expression: str, timezone: str = "UTC") -> Cron:
    return Cron.parse(expression, timezone=timezone)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def job(schedule: Schedule, window: WindowUnit | None = None, **changes: object) -> Job:
    fields: dict[str, object] = {
        "job_id": new_job_id(NOW),
        "name": "first",
        "owner": "team",
        "created_by": "ann",
        "task": "echo",
        "schedule": schedule,
        "window": window,
        "created_at": NOW,
        "updated_at": NOW,
        **changes,
    }
    return Job(**fields)  # type: ignore[arg-type]


def an_execution(of: Job, due: datetime, status: Status = Status.QUEUED) -> Execution:
    return execution_of(of, due, status=status, now=NOW)


# Matching by data window.


@pytest.mark.parametrize(
    ("dependant", "upstream", "due", "expected"),
    [
        # The dependant is due later on the same day, and earlier.
        ("0 5 * * *", "0 2 * * *", "2026-06-10T09:00", "2026-06-10T06:00"),
        ("0 2 * * *", "0 5 * * *", "2026-06-10T06:00", "2026-06-10T09:00"),
        # Start of daylight saving time: 02:30 does not exist and is shifted to 03:30.
        ("30 2 * * *", "0 1 * * *", "2026-03-08T07:30", "2026-03-08T06:00"),
        ("0 1 * * *", "30 2 * * *", "2026-03-08T06:00", "2026-03-08T07:30"),
        # The window of the next day has 23 hours.
        ("0 5 * * *", "30 2 * * *", "2026-03-09T09:00", "2026-03-09T06:30"),
        # End of daylight saving time: 01:30 occurs twice, and the first occurrence is due.
        ("30 1 * * *", "0 0 * * *", "2026-11-01T05:30", "2026-11-01T04:00"),
        ("0 0 * * *", "30 1 * * *", "2026-11-02T05:00", "2026-11-02T06:30"),
    ],
)
def test_daily_jobs_match_by_day_across_daylight_saving_changes(
    dependant: str, upstream: str, due: str, expected: str
) -> None:
    window = window_of(cron(dependant, NEW_YORK), at(due), WindowUnit.DAY)
    assert window is not None
    found = due_of_window(cron(upstream, NEW_YORK), WindowUnit.DAY, window)
    assert found == at(expected)
    assert window_of(cron(upstream, NEW_YORK), found, WindowUnit.DAY) == window


def test_a_weekly_job_matches_the_weekly_upstream_of_its_week_and_no_daily_one() -> None:
    sunday, wednesday = cron("0 2 * * SUN", NEW_YORK), cron("0 9 * * WED", NEW_YORK)
    due = at("2026-11-04T14:00")  # daylight saving time ended on Sunday, an hour before the upstream was due
    window = window_of(wednesday, due, WindowUnit.WEEK)
    assert window == DataWindow(at("2026-10-25T04:00"), at("2026-11-01T04:00"))
    assert due_of_window(sunday, WindowUnit.WEEK, window) == at("2026-11-01T07:00")
    assert due_of_window(cron("0 2 * * *", NEW_YORK), WindowUnit.DAY, window) is None


def test_a_weekly_job_with_a_daily_window_waits_for_the_load_of_that_day() -> None:
    window = window_of(cron("0 9 * * MON"), at("2026-11-16T09:00"), WindowUnit.DAY)
    assert window is not None
    assert due_of_window(cron("0 2 * * *"), WindowUnit.DAY, window) == at("2026-11-16T02:00")


def test_the_first_of_several_instants_in_one_window_counts() -> None:
    window = window_of(cron("0 9 * * *"), at("2026-11-16T09:00"), WindowUnit.DAY)
    assert window is not None
    assert due_of_window(cron("0 * * * *"), WindowUnit.DAY, window) == at("2026-11-16T00:00")


def test_intervals_match_if_they_started_at_the_same_time() -> None:
    one, other = Every(60, NOW), Every(60, NOW + timedelta(seconds=30))
    window = DataWindow(NOW + timedelta(seconds=60), NOW + timedelta(seconds=120))
    assert due_of_window(one, None, window) == NOW + timedelta(seconds=120)
    assert due_of_window(other, None, window) is None
    assert windows_agree((one, None), (one, None), NOW)
    assert not windows_agree((other, None), (one, None), NOW)
    assert windows_agree((Every(3600, NOW), WindowUnit.HOUR), (cron("7 * * * *"), WindowUnit.HOUR), NOW)


@pytest.mark.parametrize("unit", UNITS)
@given(
    expression=st.sampled_from(
        ["*/20 * * * *", "30 1 * * *", "30 2 * * *", "0 0 * * SUN", "15 3 1 * *", "0 2 * * 1-5"]
    ),
    zone=st.sampled_from(["UTC", NEW_YORK, "Europe/Berlin", "Australia/Lord_Howe", "America/Havana"]),
    minutes=st.integers(0, 3 * 366 * 24 * 60),
)
def test_every_execution_finds_its_window_in_a_job_with_the_same_schedule(
    unit: WindowUnit | None, expression: str, zone: str, minutes: int
) -> None:
    schedule = cron(expression, zone)
    due = schedule.next_after(at("2025-01-01T00:00") + timedelta(minutes=minutes))
    assert due is not None
    window = window_of(schedule, due, unit)
    assert window is not None
    found = due_of_window(schedule, unit, window)
    assert found is not None
    assert found <= due
    assert window_of(schedule, found, unit) == window


# Which due instant of the upstream.


def test_a_dependant_waits_for_the_only_execution_of_a_job_that_runs_once() -> None:
    dependant = an_execution(job(Now(NOW)), NOW)
    later = NOW + timedelta(hours=1)
    assert due_for(job(Now(NOW)), dependant) == NOW
    assert due_for(job(At(later)), dependant) == later


def test_incompatible_schedules_have_no_matching_instant() -> None:
    once, hourly = an_execution(job(Now(NOW)), NOW), an_execution(job(cron("0 * * * *")), NOW)
    assert due_for(job(cron("0 * * * *")), hourly) == NOW
    assert due_for(job(cron("0 * * * *")), once) is None
    assert due_for(job(Now(NOW)), hourly) is None
    assert due_for(job(Now(NOW)), replace(hourly, is_last_of_job=True)) is None
    assert due_for(job(PerMessage()), once) is None


# Whether the dependant may start.


def an_upstream(
    status: Status | None,
    condition: Condition = Condition.SUCCEEDED,
    state: JobState = JobState.ACTIVE,
    schedule: Schedule | None = None,
    **changes: object,
) -> Upstream:
    first = job(schedule or Now(NOW), state=state, **changes)
    execution = an_execution(first, NOW, status) if status else None
    return Upstream(Dependency(first.job_id, condition), first, NOW, execution)


@pytest.mark.parametrize("status", sorted(LIVE_STATUSES))
def test_a_dependant_waits_for_a_live_upstream(status: Status) -> None:
    one = an_upstream(status)
    assert decide_start([one], NOW).readiness is Readiness.NOT_YET
    assert decide_start([one], NOW).reason == f"waits for first: {one.execution_id}"


@pytest.mark.parametrize("condition", list(Condition))
@pytest.mark.parametrize("status", sorted(FINAL))
def test_an_ended_upstream_decides_by_its_condition(status: Status, condition: Condition) -> None:
    one = an_upstream(status, condition)
    decision = decide_start([one], NOW)
    assert decision.readiness is (Readiness.READY if condition.is_met_by(status) else Readiness.NEVER)
    if decision.readiness is Readiness.NEVER:
        assert decision.reason == f"upstream {status.replace('_', ' ')}: first ({one.execution_id})"


@pytest.mark.parametrize("state", [JobState.DELETED, JobState.CANCELLED])
def test_the_reason_names_the_state_of_a_removed_upstream_job(state: JobState) -> None:
    gone = an_upstream(Status.CANCELLED, state=state)
    assert decide_start([gone], NOW).reason == f"upstream {state}: first ({gone.execution_id})"
    never = an_upstream(None, state=state)
    assert decide_start([never], NOW).reason == f"upstream {state}: first ({never.execution_id})"


def test_an_upstream_that_outlives_its_deleted_job_counts_by_its_outcome() -> None:
    assert decide_start([an_upstream(Status.RUNNING, state=JobState.DELETED)], NOW).readiness is Readiness.NOT_YET
    assert decide_start([an_upstream(Status.SUCCEEDED, state=JobState.DELETED)], NOW).readiness is Readiness.READY


def test_a_dependant_waits_for_a_job_that_is_not_stored_yet_only_for_a_grace_period() -> None:
    missing = Upstream(Dependency(new_job_id(NOW)), None)
    assert decide_start([missing], NOW).readiness is Readiness.NOT_YET
    assert decide_start([missing], NOW + JOB_STORE_GRACE).reason == f"upstream deleted: {missing.dependency.job}"


def test_a_dependant_waits_a_day_for_an_unplanned_execution_or_as_long_as_its_job_is_paused() -> None:
    late = NOW + PLANNING_GRACE + timedelta(seconds=1)
    one = an_upstream(None)
    assert decide_start([one], NOW).readiness is Readiness.NOT_YET
    assert decide_start([one], late).reason == f"upstream has no execution: first ({one.execution_id})"
    assert decide_start([an_upstream(None, state=JobState.PAUSED)], late).readiness is Readiness.NOT_YET
    assert decide_start([an_upstream(None, updated_at=late)], late).readiness is Readiness.NOT_YET


def test_a_window_from_before_the_upstream_was_created_has_no_execution() -> None:
    one = an_upstream(None, schedule=cron("0 * * * *"), created_at=NOW + timedelta(hours=1))
    assert decide_start([one], NOW).reason == f"upstream has no execution of this window: first ({one.execution_id})"
    without = Upstream(Dependency(one.dependency.job), one.job)
    assert decide_start([without], NOW).reason == "upstream has no execution of this window: first"


def test_all_upstreams_must_be_ready_and_a_single_never_is_final() -> None:
    ready, waiting, failed = an_upstream(Status.SUCCEEDED), an_upstream(Status.RUNNING), an_upstream(Status.FAILED)
    assert decide_start([ready, ready], NOW).readiness is Readiness.READY
    assert decide_start([ready, waiting], NOW).readiness is Readiness.NOT_YET
    assert decide_start([waiting, ready, failed], NOW).readiness is Readiness.NEVER
    assert decide_start([waiting, ready, waiting], NOW).reason.endswith(" and 1 more")


def test_missing_upstreams_are_rechecked_sooner_than_existing_ones() -> None:
    dependant = an_execution(job(Now(NOW)), NOW)
    existing, missing = an_upstream(Status.RUNNING), an_upstream(None)
    assert next_recheck_at(dependant, [existing, existing], NOW) == NOW + MAX_RECHECK_INTERVAL
    assert next_recheck_at(dependant, [existing, missing], NOW) == NOW + MIN_RECHECK_INTERVAL
    intervals = [next_recheck_at(dependant, [missing], NOW + wait) - NOW - wait for wait in map(hours, (0.5, 1, 5))]
    assert intervals == [timedelta(minutes=15), timedelta(minutes=30), MAX_RECHECK_INTERVAL]


def hours(number: float) -> timedelta:
    return timedelta(hours=number)


# Ids.


def test_the_id_of_an_upstream_execution_is_derived_from_its_due_instant() -> None:
    one = an_upstream(None)
    assert one.execution_id == execution_id(one.dependency.job, NOW)
    assert replace(one, due=None).execution_id is None
    assert Upstream(Dependency("x"), None).name == "x"
