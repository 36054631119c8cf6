from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from punctual.domain.executions.timer import Timer, TimerReason, buckets_between, shard_of, timer_bucket, timer_for
from punctual.domain.identity import execution_id, new_job_id

AT = datetime(2026, 11, 16, 12, 30, 59, 999_000, tzinfo=UTC)


def timer(at: datetime, of: str = "e") -> Timer:
    return Timer(at=at, job_id="j", execution_id=of, reason=TimerReason.DUE)


def test_a_timer_refers_to_its_execution() -> None:
    job = new_job_id(AT)
    assert timer_for(execution_id(job, AT), AT, TimerReason.DUE) == Timer(
        at=AT, job_id=job, execution_id=execution_id(job, AT), reason=TimerReason.DUE
    )


def test_a_bucket_is_one_minute_of_one_shard() -> None:
    assert timer_bucket(AT, 3) == "2026-11-16T12:30#3"
    assert timer_bucket(AT + timedelta(milliseconds=1), 3) == "2026-11-16T12:31#3"


def test_buckets_between_two_instants_include_both_and_all_in_between() -> None:
    buckets = list(buckets_between(AT, AT + timedelta(minutes=2), 0))
    assert [bucket for bucket, _ in buckets] == ["2026-11-16T12:30#0", "2026-11-16T12:31#0", "2026-11-16T12:32#0"]
    assert buckets[0][1] == AT + timedelta(milliseconds=1)


def test_positions_sort_by_instant_and_are_unique_for_executions_due_at_the_same_time() -> None:
    assert timer(AT).position < timer(AT + timedelta(milliseconds=1)).position
    assert timer(AT, "a").position < timer(AT, "b").position


def test_shards_are_evenly_loaded_and_stable() -> None:
    load = Counter(shard_of(f"20261116T120000000Z-{n:026d}", 64) for n in range(64_000))
    assert len(load) == 64
    assert max(load.values()) < 1.25 * min(load.values())
    assert shard_of("20261116T120000000Z-job", 64) == shard_of("20261116T120000000Z-job", 64)
