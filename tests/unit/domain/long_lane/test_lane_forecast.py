from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from punctual.domain.long_lane.lane_forecast import MAX_POINTS, HeldSlots, WaitingSlots, lane_outlook
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TWO_SLOTS = LaneLimits(tasks=2, cpu=2048, starts_per_second=20)


def part(name: str, seconds: int, **fields: Any) -> Part:
    defaults: dict[str, Any] = {
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
    return Part(**defaults | fields)


def holder(name: str, seconds: int, elapsed: int = 0, **fields: Any) -> Part:
    return part(name, seconds, status=Status.RUNNING, started_at=NOW - timedelta(seconds=elapsed), **fields)


def test_a_waiting_part_starts_when_the_parts_ahead_of_it_have_ended() -> None:
    holders = [holder("a", 600), holder("b", 1200)]
    waiting = [part(name, 3600, latest_start=NOW + n * HOUR) for n, name in enumerate("cde", start=1)]
    outlook = lane_outlook(holders, waiting, TWO_SLOTS, NOW)
    assert [start.start_at - NOW for start in outlook.starts] == [10 * MINUTE, 20 * MINUTE, 70 * MINUTE]
    assert outlook.start_of(NOW + 2 * HOUR, NOW) == NOW + 20 * MINUTE
    assert outlook.start_of(NOW + 90 * MINUTE, NOW) == NOW + 10 * MINUTE
    assert outlook.start_of(NOW, NOW) == NOW + 10 * MINUTE  # ahead of all others, but not before a slot is free
    assert (outlook.waiting, outlook.taken_tasks, outlook.taken_cpu, outlook.waiting_cpu) == (3, 2, 2048, 3072)
    assert [outlook.ahead_of(NOW + n * HOUR) for n in (1, 2, 3, 4)] == [0, 1, 2, 3]


def test_in_an_empty_lane_all_parts_start_immediately() -> None:
    outlook = lane_outlook([], [part("a", 60), part("b", 60)], TWO_SLOTS, NOW)
    assert {start.start_at for start in outlook.starts} == {NOW}
    assert outlook.start_of(NOW + HOUR, NOW) == NOW
    assert lane_outlook([], [], TWO_SLOTS, NOW).start_of(NOW, NOW + MINUTE) == NOW + MINUTE


def test_a_full_lane_without_a_queue_has_capacity_when_the_first_part_ends() -> None:
    outlook = lane_outlook([holder("a", 600, elapsed=300), holder("b", 1200)], [], TWO_SLOTS, NOW)
    assert outlook.start_of(NOW + HOUR, NOW) == NOW + 5 * MINUTE


def test_a_large_part_waits_until_enough_capacity_is_free() -> None:
    [start] = lane_outlook([holder("a", 600), holder("b", 1200)], [part("c", 60, cpu=2048)], TWO_SLOTS, NOW).starts
    assert start.start_at == NOW + 20 * MINUTE


def test_the_execution_with_the_most_slack_is_named() -> None:
    holders = [holder("tight", 600, latest_start=NOW), holder("lax", 600, latest_start=NOW + 9 * HOUR)]
    assert lane_outlook(holders, [], TWO_SLOTS, NOW).laxest == "lax"
    assert lane_outlook([], [], TWO_SLOTS, NOW).laxest is None


def test_a_long_queue_is_sampled_and_the_sample_includes_the_last_part() -> None:
    waiting = [part(f"{n}", 600, latest_start=NOW + n * MINUTE) for n in range(1000)]
    outlook = lane_outlook([], waiting, TWO_SLOTS, NOW)
    assert len(outlook.starts) == MAX_POINTS
    assert outlook.starts[-1].latest_start == NOW + 999 * MINUTE
    assert outlook.starts[-1].start_at == NOW + 499 * 10 * MINUTE
    assert list(outlook.starts) == sorted(outlook.starts, key=lambda start: start.latest_start)


def test_the_outlook_shows_when_held_slots_become_free_and_what_waits_for_them() -> None:
    holders = [holder("b", 1200), holder("a", 600, cpu=512)]
    outlook = lane_outlook(holders, [part("c", 60, latest_start=NOW)], TWO_SLOTS, NOW)
    assert outlook.holding == (HeldSlots(NOW + 10 * MINUTE, 1, 512), HeldSlots(NOW + 20 * MINUTE, 1, 1024))
    assert outlook.demand == (WaitingSlots(NOW, 60, 1, 1024),)


def test_the_slots_of_a_large_lane_are_grouped_without_losing_any() -> None:
    holders = [holder(f"{n}", 600 + n) for n in range(1000)]
    waiting = [part(f"{n}", 600, latest_start=NOW + n * MINUTE) for n in range(999)]
    outlook = lane_outlook(holders, waiting, TWO_SLOTS, NOW)
    assert len(outlook.holding) == len(outlook.demand) == MAX_POINTS
    assert sum(one.tasks for one in outlook.holding) == 1000
    assert sum(one.cpu for one in outlook.demand) == 999 * 1024
