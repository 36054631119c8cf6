"""Which execution of an upstream counts, and what its state means to whoever waits for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.identity import created_at, execution_id, new_job_id
from punctual.domain.jobs.dependency import Condition, Dependency
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.planning.upstreams import (
    LONGEST_REST,
    PLANNED_BY_THEN,
    SHORTEST_REST,
    STORED_BY_THEN,
    Answer,
    Upstream,
    due_for,
    due_of_window,
    look_again_at,
    ruling_of,
    windows_agree,
)
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import window_of
from punctual.domain.schedules.schedule import At, Every, Now, Queue, Schedule
from punctual.domain.status import FINAL, LIVE, Status

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
        "created_by": "somebody",
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


# windows


@pytest.mark.parametrize(
    ("dependant", "upstream", "due", "expected"),
    [
        # later the same day, and earlier
        ("0 5 * * *", "0 2 * * *", "2026-06-10T09:00", "2026-06-10T06:00"),
        ("0 2 * * *", "0 5 * * *", "2026-06-10T06:00", "2026-06-10T09:00"),
        # the day the clocks go forward: 02:30 does not exist, and is shifted to 03:30
        ("30 2 * * *", "0 1 * * *", "2026-03-08T07:30", "2026-03-08T06:00"),
        ("0 1 * * *", "30 2 * * *", "2026-03-08T06:00", "2026-03-08T07:30"),
        # the day after has 23 hours
        ("0 5 * * *", "30 2 * * *", "2026-03-09T09:00", "2026-03-09T06:30"),
        # the day the clocks go back: 01:30 happens twice, and runs the first time
        ("30 1 * * *", "0 0 * * *", "2026-11-01T05:30", "2026-11-01T04:00"),
        ("0 0 * * *", "30 1 * * *", "2026-11-02T05:00", "2026-11-02T06:30"),
    ],
)
def test_daily_jobs_meet_by_their_day_whatever_the_clocks_do(
    dependant: str, upstream: str, due: str, expected: str
) -> None:
    window = window_of(cron(dependant, NEW_YORK), at(due), WindowUnit.DAY)
    assert window is not None
    found = due_of_window(cron(upstream, NEW_YORK), WindowUnit.DAY, window)
    assert found == at(expected)
    assert window_of(cron(upstream, NEW_YORK), found, WindowUnit.DAY) == window


def test_a_weekly_job_meets_the_weekly_one_of_its_week_and_no_daily_one() -> None:
    sunday, wednesday = cron("0 2 * * SUN", NEW_YORK), cron("0 9 * * WED", NEW_YORK)
    due = at("2026-11-04T14:00")  # the clocks were set back on Sunday, an hour before the upstream was due
    window = window_of(wednesday, due, WindowUnit.WEEK)
    assert window == DataWindow(at("2026-10-25T04:00"), at("2026-11-01T04:00"))
    assert due_of_window(sunday, WindowUnit.WEEK, window) == at("2026-11-01T07:00")
    assert due_of_window(cron("0 2 * * *", NEW_YORK), WindowUnit.DAY, window) is None


def test_a_weekly_report_of_a_day_waits_for_that_days_load() -> None:
    window = window_of(cron("0 9 * * MON"), at("2026-11-16T09:00"), WindowUnit.DAY)
    assert window is not None
    assert due_of_window(cron("0 2 * * *"), WindowUnit.DAY, window) == at("2026-11-16T02:00")


def test_of_several_in_one_window_the_first_counts() -> None:
    window = window_of(cron("0 9 * * *"), at("2026-11-16T09:00"), WindowUnit.DAY)
    assert window is not None
    assert due_of_window(cron("0 * * * *"), WindowUnit.DAY, window) == at("2026-11-16T00:00")


def test_intervals_meet_when_they_began_together() -> None:
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
def test_every_execution_has_one_of_its_own_window_in_a_job_like_it(
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


# which one


def test_of_a_job_that_runs_once_it_is_the_only_one() -> None:
    dependant = an_execution(job(Now(NOW)), NOW)
    later = NOW + timedelta(hours=1)
    assert due_for(job(Now(NOW)), dependant) == NOW
    assert due_for(job(At(later)), dependant) == later


def test_a_kind_that_does_not_go_together_has_none() -> None:
    once, hourly = an_execution(job(Now(NOW)), NOW), an_execution(job(cron("0 * * * *")), NOW)
    assert due_for(job(cron("0 * * * *")), hourly) == NOW
    assert due_for(job(cron("0 * * * *")), once) is None
    assert due_for(job(Now(NOW)), hourly) is None
    assert due_for(job(Queue()), once) is None


# what it means


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


@pytest.mark.parametrize("status", sorted(LIVE))
def test_what_lives_is_waited_for(status: Status) -> None:
    one = an_upstream(status)
    assert ruling_of([one], NOW).answer is Answer.NOT_YET
    assert ruling_of([one], NOW).reason == f"waits for first: {one.execution_id}"


@pytest.mark.parametrize("condition", list(Condition))
@pytest.mark.parametrize("status", sorted(FINAL))
def test_what_has_ended_lets_go_or_never_will(status: Status, condition: Condition) -> None:
    one = an_upstream(status, condition)
    ruling = ruling_of([one], NOW)
    assert ruling.answer is (Answer.YES if condition.is_met_by(status) else Answer.NEVER)
    if ruling.answer is Answer.NEVER:
        assert ruling.reason == f"upstream {status.replace('_', ' ')}: first ({one.execution_id})"


@pytest.mark.parametrize("state", [JobState.DELETED, JobState.CANCELLED])
def test_what_was_withdrawn_with_its_job_says_so(state: JobState) -> None:
    gone = an_upstream(Status.CANCELLED, state=state)
    assert ruling_of([gone], NOW).reason == f"upstream {state}: first ({gone.execution_id})"
    never = an_upstream(None, state=state)
    assert ruling_of([never], NOW).reason == f"upstream {state}: first ({never.execution_id})"


def test_what_runs_on_after_its_job_was_deleted_counts_as_it_ends() -> None:
    assert ruling_of([an_upstream(Status.RUNNING, state=JobState.DELETED)], NOW).answer is Answer.NOT_YET
    assert ruling_of([an_upstream(Status.SUCCEEDED, state=JobState.DELETED)], NOW).answer is Answer.YES


def test_a_job_that_is_not_there_yet_is_waited_for_and_after_a_while_not_any_more() -> None:
    missing = Upstream(Dependency(new_job_id(NOW)), None)
    assert ruling_of([missing], NOW).answer is Answer.NOT_YET
    assert ruling_of([missing], NOW + STORED_BY_THEN).reason == f"upstream deleted: {missing.dependency.job}"


def test_an_execution_that_is_not_planned_yet_is_waited_for_a_day_or_while_its_job_is_paused() -> None:
    late = NOW + PLANNED_BY_THEN + timedelta(seconds=1)
    one = an_upstream(None)
    assert ruling_of([one], NOW).answer is Answer.NOT_YET
    assert ruling_of([one], late).reason == f"upstream has no execution: first ({one.execution_id})"
    assert ruling_of([an_upstream(None, state=JobState.PAUSED)], late).answer is Answer.NOT_YET
    assert ruling_of([an_upstream(None, updated_at=late)], late).answer is Answer.NOT_YET


def test_a_window_before_the_upstream_was_made_has_no_execution() -> None:
    one = an_upstream(None, schedule=cron("0 * * * *"), created_at=NOW + timedelta(hours=1))
    assert ruling_of([one], NOW).reason == f"upstream has no execution of this window: first ({one.execution_id})"
    without = Upstream(Dependency(one.dependency.job), one.job)
    assert ruling_of([without], NOW).reason == "upstream has no execution of this window: first"


def test_all_have_to_agree_and_one_refusal_is_enough() -> None:
    yes, wait, no = an_upstream(Status.SUCCEEDED), an_upstream(Status.RUNNING), an_upstream(Status.FAILED)
    assert ruling_of([yes, yes], NOW).answer is Answer.YES
    assert ruling_of([yes, wait], NOW).answer is Answer.NOT_YET
    assert ruling_of([wait, yes, no], NOW).answer is Answer.NEVER
    assert ruling_of([wait, yes, wait], NOW).reason.endswith(" and 1 more")


def test_looks_come_soon_for_what_is_not_there_and_seldom_for_what_is() -> None:
    dependant = an_execution(job(Now(NOW)), NOW)
    there, missing = an_upstream(Status.RUNNING), an_upstream(None)
    assert look_again_at(dependant, [there, there], NOW) == NOW + LONGEST_REST
    assert look_again_at(dependant, [there, missing], NOW) == NOW + SHORTEST_REST
    rests = [look_again_at(dependant, [missing], NOW + wait) - NOW - wait for wait in map(hours, (0.5, 1, 5))]
    assert rests == [timedelta(minutes=15), timedelta(minutes=30), LONGEST_REST]


def hours(number: float) -> timedelta:
    return timedelta(hours=number)


# ids


def test_a_job_id_tells_when_it_was_made() -> None:
    moment = NOW + timedelta(milliseconds=123)
    assert created_at(new_job_id(moment)) == moment


def test_an_upstream_is_known_by_the_id_of_its_instant() -> None:
    one = an_upstream(None)
    assert one.execution_id == execution_id(one.dependency.job, NOW)
    assert replace(one, due=None).execution_id is None
    assert Upstream(Dependency("x"), None).name == "x"
