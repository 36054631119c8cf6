from __future__ import annotations

from datetime import UTC, datetime, timedelta

from punctual.domain.forecasts.slot_use import SlotUse, by_hour

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def at(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)


def test_the_use_of_an_hour_is_its_average() -> None:
    uses = [SlotUse(at(0.5), at(2.25), 2, 4096), SlotUse(at(2), at(2.5), 1, 1024)]
    assert [(hour.at, hour.tasks, hour.cpu) for hour in by_hour(uses, NOW, 4)] == [
        (at(0), 1.0, 2048.0),
        (at(1), 2.0, 4096.0),
        (at(2), 1.0, 1536.0),
        (at(3), 0.0, 0.0),
    ]


def test_of_the_current_hour_the_rest_counts() -> None:
    uses = [SlotUse(at(0), at(0.75), 2, 2), SlotUse(at(1), at(1.5), 2, 2)]
    found = by_hour(uses, at(0.5), 2)
    assert [(hour.at, hour.tasks) for hour in found] == [(at(0), 1.0), (at(1), 1.0)]


def test_use_outside_of_the_hours_is_left_out() -> None:
    uses = [SlotUse(at(-3), at(-1), 5, 5), SlotUse(at(-1), at(1), 1, 1), SlotUse(at(2), at(9), 7, 7)]
    assert [hour.tasks for hour in by_hour(uses, NOW, 2)] == [1.0, 0.0]


def test_use_without_duration_takes_no_slot() -> None:
    assert [hour.tasks for hour in by_hour([SlotUse(at(0.5), at(0.5), 1, 1)], NOW, 1)] == [0.0]
