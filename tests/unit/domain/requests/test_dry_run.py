"""Dry runs: how long lists of changes are shortened and counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from punctual.domain.jobs.job import Job
from punctual.domain.planning.missed_instants import MAX_COUNTED_INSTANTS
from punctual.domain.requests.dry_run import MAX_SHOWN_EXECUTIONS, DryRunChanges, ForeseenExecution, changes_on_resume
from punctual.domain.schedules.schedule import parse_schedule

START = datetime(2026, 11, 16, 12, tzinfo=UTC)


def never_cancelled(_: datetime) -> bool:
    """No execution was cancelled by an operator."""
    return False


def job(**schedule: object) -> Job:
    return Job(
        job_id="01kxq0v9m3c8e7w2r5t4y6h1nb",
        name="job",
        owner="team",
        created_by="ann",
        task="echo",
        schedule=parse_schedule(schedule, now=START),
        created_at=START,
        updated_at=START,
    )


def test_lists_are_shortened_and_the_rest_is_counted() -> None:
    many = tuple(ForeseenExecution(f"{number}", START) for number in range(MAX_SHOWN_EXECUTIONS + 7))
    shown = DryRunChanges(appear=many[:3], vanish=many, repeat=many[:-5]).shortened()
    assert [len(one) for one in (shown.appear, shown.vanish, shown.repeat)] == [
        3,
        MAX_SHOWN_EXECUTIONS,
        MAX_SHOWN_EXECUTIONS,
    ]
    assert shown.left_out == 7 + 2
    assert shown.vanish == many[:MAX_SHOWN_EXECUTIONS]


def test_the_latest_missed_instants_are_listed_and_earlier_ones_counted() -> None:
    now = START + timedelta(seconds=5000)
    changes = changes_on_resume(job(every_seconds=1), START, now, never_cancelled)
    assert [one.scheduled_at for one in changes.appear] == [
        now + timedelta(seconds=number) for number in range(-989, 11)
    ]
    assert changes.left_out == 5000 - 990


def test_no_execution_is_shown_after_the_end_of_the_schedule() -> None:
    changes = changes_on_resume(job(every_seconds=1, max_runs=4), START, START + timedelta(seconds=2), never_cancelled)
    assert [one.scheduled_at.second for one in changes.appear] == [1, 2, 3, 4]
    assert changes.left_out == 0


def test_the_count_of_missed_instants_is_capped() -> None:
    assert (
        changes_on_resume(job(every_seconds=1), START, START + timedelta(days=30), never_cancelled).left_out
        == MAX_COUNTED_INSTANTS
    )
