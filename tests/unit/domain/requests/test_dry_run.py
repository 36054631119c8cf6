"""What is shown of a change, when there is more of it than can be shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from punctual.domain.jobs.job import Job
from punctual.domain.planning.missed_instants import MOST_COUNTED
from punctual.domain.requests.dry_run import MOST_SHOWN, Changes, Foreseen, resumed
from punctual.domain.schedules.schedule import parse_schedule

START = datetime(2026, 11, 16, 12, tzinfo=UTC)


def none(_: datetime) -> bool:
    """Nothing was cancelled by hand."""
    return False


def job(**schedule: object) -> Job:
    return Job(
        job_id="01kxq0v9m3c8e7w2r5t4y6h1nb",
        name="job",
        owner="team",
        created_by="somebody",
        task="echo",
        schedule=parse_schedule(schedule, now=START),
        created_at=START,
        updated_at=START,
    )


def test_a_list_has_its_bound_and_what_is_left_out_is_counted() -> None:
    many = tuple(Foreseen(f"{number}", START) for number in range(MOST_SHOWN + 7))
    shown = Changes(appear=many[:3], vanish=many, repeat=many[:-5]).shortened()
    assert [len(one) for one in (shown.appear, shown.vanish, shown.repeat)] == [3, MOST_SHOWN, MOST_SHOWN]
    assert shown.left_out == 7 + 2
    assert shown.vanish == many[:MOST_SHOWN]


def test_of_what_went_by_the_latest_is_shown_and_the_rest_counted() -> None:
    now = START + timedelta(seconds=5000)
    changes = resumed(job(every_seconds=1), START, now, none)
    assert [one.scheduled_at for one in changes.appear] == [
        now + timedelta(seconds=number) for number in range(-989, 11)
    ]
    assert changes.left_out == 5000 - 990


def test_the_end_of_a_schedule_ends_what_is_shown() -> None:
    changes = resumed(job(every_seconds=1, max_runs=4), START, START + timedelta(seconds=2), none)
    assert [one.scheduled_at.second for one in changes.appear] == [1, 2, 3, 4]
    assert changes.left_out == 0


def test_counting_has_a_bound() -> None:
    assert resumed(job(every_seconds=1), START, START + timedelta(days=30), none).left_out == MOST_COUNTED
