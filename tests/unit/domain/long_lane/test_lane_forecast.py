from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from punctual.domain.long_lane.lane_forecast import MOST_POINTS, lane_outlook
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TWO_SLOTS = LaneLimits(tasks=2, cpu=2048, starts_per_second=20)


def part(name: str, seconds: int, **more: Any) -> Part:
    usual: dict[str, Any] = {
        "execution_id": name,
        "name": "all",
        "job_id": "job",
        "owner": "team",
        "status": Status.WAITING,
        "cpu": 1024,
        "memory_mb": 2048,
        "expected_seconds": seconds,
        "latest_start": NOW + HOUR,
    }
    return Part(**usual | more)


def holder(name: str, seconds: int, elapsed: int = 0, **more: Any) -> Part:
    return part(name, seconds, status=Status.RUNNING, started_at=NOW - timedelta(seconds=elapsed), **more)


def test_who_waits_starts_when_those_before_it_have_left() -> None:
    holders = [holder("a", 600), holder("b", 1200)]
    waiting = [part(name, 3600, latest_start=NOW + n * HOUR) for n, name in enumerate("cde", start=1)]
    outlook = lane_outlook(holders, waiting, TWO_SLOTS, NOW)
    assert [start.start_at - NOW for start in outlook.starts] == [10 * MINUTE, 20 * MINUTE, 70 * MINUTE]
    assert outlook.start_of(NOW + 2 * HOUR, NOW) == NOW + 20 * MINUTE
    assert outlook.start_of(NOW + 90 * MINUTE, NOW) == NOW + 10 * MINUTE
    assert outlook.start_of(NOW, NOW) == NOW + 10 * MINUTE  # before all others, and yet not before a slot is free
    assert (outlook.waiting, outlook.taken_tasks, outlook.taken_cpu, outlook.waiting_cpu) == (3, 2, 2048, 3072)
    assert [outlook.ahead_of(NOW + n * HOUR) for n in (1, 2, 3, 4)] == [0, 1, 2, 3]


def test_in_an_empty_lane_everybody_starts_at_once() -> None:
    outlook = lane_outlook([], [part("a", 60), part("b", 60)], TWO_SLOTS, NOW)
    assert {start.start_at for start in outlook.starts} == {NOW}
    assert outlook.start_of(NOW + HOUR, NOW) == NOW
    assert lane_outlook([], [], TWO_SLOTS, NOW).start_of(NOW, NOW + MINUTE) == NOW + MINUTE


def test_a_full_lane_in_which_nobody_waits_has_room_when_the_first_leaves() -> None:
    outlook = lane_outlook([holder("a", 600, elapsed=300), holder("b", 1200)], [], TWO_SLOTS, NOW)
    assert outlook.start_of(NOW + HOUR, NOW) == NOW + 5 * MINUTE


def test_a_large_one_waits_until_enough_has_come_free() -> None:
    [start] = lane_outlook([holder("a", 600), holder("b", 1200)], [part("c", 60, cpu=2048)], TWO_SLOTS, NOW).starts
    assert start.start_at == NOW + 20 * MINUTE


def test_the_one_with_the_most_time_to_spare_is_named() -> None:
    holders = [holder("tight", 600, latest_start=NOW), holder("lax", 600, latest_start=NOW + 9 * HOUR)]
    assert lane_outlook(holders, [], TWO_SLOTS, NOW).laxest == "lax"
    assert lane_outlook([], [], TWO_SLOTS, NOW).laxest is None


def test_of_very_many_a_record_holds_a_few_the_last_among_them() -> None:
    waiting = [part(f"{n}", 600, latest_start=NOW + n * MINUTE) for n in range(1000)]
    outlook = lane_outlook([], waiting, TWO_SLOTS, NOW)
    assert len(outlook.starts) == MOST_POINTS
    assert outlook.starts[-1].latest_start == NOW + 999 * MINUTE
    assert outlook.starts[-1].start_at == NOW + 499 * 10 * MINUTE
    assert list(outlook.starts) == sorted(outlook.starts, key=lambda start: start.latest_start)
