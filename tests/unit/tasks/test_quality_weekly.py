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


def told(kept: Any = None, die_at: int | None = None, **fields: Any) -> Context:
    checkpoints = 0

    def keep(state: Any) -> None:
        nonlocal checkpoints
        checkpoints += 1
        if checkpoints == die_at:
            raise Stopped(state)

    return context(**{"due": WEEK.end, "window": WEEK, "_keep": keep, "_kept": kept, **fields})


def test_a_week_has_all_its_records_and_the_same_faults_each_time() -> None:
    first, second = weekly(told(), PARAMETERS), weekly(told(), PARAMETERS)
    assert first == second
    assert first["records"] == 7 * 24 * 20
    assert all(first["faults"].values())


def test_one_that_was_stopped_half_way_goes_on_and_finds_the_same() -> None:
    with pytest.raises(Stopped) as stopped:
        weekly(told(die_at=84), PARAMETERS)
    resumed = weekly(told(kept=stopped.value.args[0]), PARAMETERS)
    whole = weekly(told(), PARAMETERS)
    assert resumed.pop("begun_at") == [0, 84]
    assert whole.pop("begun_at") == [0]
    assert resumed == whole


def test_days_collected_are_the_week() -> None:
    slices = [DataWindow(SUNDAY + n * timedelta(days=1), SUNDAY + (n + 1) * timedelta(days=1)) for n in range(7)]
    days = [
        weekly(told(partition=Partition(number=n, count=7, window=one)), PARAMETERS) for n, one in enumerate(slices)
    ]
    week = report(told(), PARAMETERS, days)
    whole = weekly(told(), PARAMETERS)
    assert (week["records"], week["faults"]) == (whole["records"], whole["faults"])
    assert datetime.fromisoformat(week["worst_day"]).strftime("%A") == "Wednesday"
    assert 90 < week["score"] < 100


def test_a_job_that_runs_once_names_its_week() -> None:
    named = weekly(told(window=None), {**PARAMETERS, "week_of": "2026-11-11"})
    assert (named["from"], named["to"]) == ("2026-11-08T00:00:00+00:00", "2026-11-15T00:00:00+00:00")
    with pytest.raises(Fatal, match="which week"):
        weekly(told(window=None), PARAMETERS)
