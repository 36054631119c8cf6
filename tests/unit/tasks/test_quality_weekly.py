from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual import Context, Fatal
from punctual.domain.jobs.partitions import Partition
from punctual.domain.schedules.data_window import DataWindow
from tasks.quality_weekly import report, weekly
from tests.unit.contexts import context

SUNDAY = datetime(2026, 11, 8, tzinfo=UTC)
WEEK = DataWindow(SUNDAY, SUNDAY + timedelta(days=7))
PARAMETERS = {"dataset": "orders", "records_per_hour": 20}


class Stopped(BaseException):
    """The container was killed."""


def task_context(resumed_from: Any = None, die_at: int | None = None, **fields: Any) -> Context:
    checkpoints = 0

    def save(state: Any) -> None:
        nonlocal checkpoints
        checkpoints += 1
        if checkpoints == die_at:
            raise Stopped(state)

    return context(
        **{"due": WEEK.end, "window": WEEK, "_save_checkpoint": save, "_last_checkpoint": resumed_from, **fields}
    )


def test_a_week_is_complete_and_deterministic() -> None:
    first, second = weekly(task_context(), PARAMETERS), weekly(task_context(), PARAMETERS)
    assert first == second
    assert first["records"] == 7 * 24 * 20
    assert all(first["faults"].values())


def test_a_killed_run_resumes_from_its_checkpoint_with_the_same_result() -> None:
    with pytest.raises(Stopped) as stopped:
        weekly(task_context(die_at=84), PARAMETERS)
    resumed = weekly(task_context(resumed_from=stopped.value.args[0]), PARAMETERS)
    whole = weekly(task_context(), PARAMETERS)
    assert resumed.pop("begun_at") == [0, 84]
    assert whole.pop("begun_at") == [0]
    assert resumed == whole


def test_collecting_the_daily_partitions_equals_the_whole_week() -> None:
    slices = [DataWindow(SUNDAY + n * timedelta(days=1), SUNDAY + (n + 1) * timedelta(days=1)) for n in range(7)]
    days = [
        weekly(task_context(partition=Partition(number=n, count=7, window=one)), PARAMETERS)
        for n, one in enumerate(slices)
    ]
    week = report(task_context(), PARAMETERS, days)
    whole = weekly(task_context(), PARAMETERS)
    assert (week["records"], week["faults"]) == (whole["records"], whole["faults"])
    assert datetime.fromisoformat(week["worst_day"]).strftime("%A") == "Wednesday"
    assert 90 < week["score"] < 100


def test_a_one_time_job_names_its_week_in_a_parameter() -> None:
    named = weekly(task_context(window=None), {**PARAMETERS, "week_of": "2026-11-11"})
    assert (named["from"], named["to"]) == ("2026-11-08T00:00:00+00:00", "2026-11-15T00:00:00+00:00")
    with pytest.raises(Fatal, match="no week given"):
        weekly(task_context(window=None), PARAMETERS)
