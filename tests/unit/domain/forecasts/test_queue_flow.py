from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.queue_flow import (
    FLUSH_INTERVAL,
    LATENESS_BOUNDS,
    LONG,
    Flow,
    FlowCounter,
    flow_of,
    lateness_quantile,
    mean_lateness,
)
from punctual.domain.lane import Lane
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
COUNTS = st.integers(0, 10**9)
LATE = st.tuples(*[COUNTS] * len(LATENESS_BOUNDS))
INSTANTS = st.integers(0, 10**6).map(lambda n: NOW + n * SECOND)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    counts = {name: draw(COUNTS) for name in ("started", "finished", "failed", "passed", "busy_ms")}
    last = draw(st.none() | st.tuples(COUNTS, INSTANTS)) or (None, None)
    return Flow(**counts, late=draw(LATE), last_wait_ms=last[0], last_started_at=last[1])


class Records:
    """The queues' records, in memory."""

    def __init__(self) -> None:
        self.added: list[tuple[str, Flow]] = []
        self.warned: list[str] = []
        self.unavailable = False

    def add(self, queue: str, counts: Flow) -> None:
        if self.unavailable:
            raise OSError("no route")
        self.added.append((queue, counts))

    def flush(self, counter: FlowCounter, now: datetime) -> None:
        counter.flush(self.add, now, self.warned.append)


@pytest.fixture
def records() -> Records:
    return Records()


def late_of(seconds: float, **start: bool) -> dict[float, int]:
    """The bucket in which a start with this lateness is counted."""
    records, counter = Records(), FlowCounter()
    counter.count_start("high", NOW - seconds * SECOND, NOW, **start)
    records.flush(counter, NOW)
    [(_, counted)] = records.added
    return {bound: count for bound, count in zip(LATENESS_BOUNDS, counted.late, strict=True) if count}


@given(flows())
def test_a_stored_flow_reads_back_unchanged(flow: Flow) -> None:
    assert flow_of(flow.to_fields()) == flow


@given(flows(), flows())
def test_since_returns_the_added_counts(earlier: Flow, more: Flow) -> None:
    since = earlier.plus(more).since(earlier)
    assert (since.started, since.finished, since.failed, since.passed, since.busy_ms, since.late) == (
        more.started,
        more.finished,
        more.failed,
        more.passed,
        more.busy_ms,
        more.late,
    )


def test_after_a_counter_reset_all_counts_are_new() -> None:
    anew = Flow(started=3, finished=2)
    assert anew.since(Flow(started=2, finished=100)) == anew


def test_the_later_start_wins_when_flows_are_added() -> None:
    early = Flow(last_wait_ms=1, last_started_at=NOW)
    late = Flow(last_wait_ms=2, last_started_at=NOW + SECOND)
    assert early.plus(late).last_wait_ms == late.plus(early).last_wait_ms == late.plus(Flow()).last_wait_ms == 2
    assert early.plus(replace(early, last_wait_ms=3)).last_wait_ms == 3  # at the same millisecond, the last counted one


@pytest.mark.parametrize(
    ("seconds", "bound"), [(-3, 0.25), (0, 0.25), (0.25, 0.25), (0.251, 0.5), (2, 2), (2.1, 5), (9999, math.inf)]
)
def test_a_start_counts_in_the_first_bucket_whose_bound_it_does_not_exceed(seconds: float, bound: float) -> None:
    assert late_of(seconds) == {bound: 1}


def test_a_retry_does_not_count_as_late_but_its_wait_is_recorded(records: Records) -> None:
    assert late_of(4, first=False) == {}
    counter = FlowCounter()
    counter.count_start("high", NOW - 4 * SECOND, NOW, first=False)
    records.flush(counter, NOW)
    [(_, counted)] = records.added
    assert (counted.started, counted.last_wait_ms, counted.last_started_at) == (1, 4000, NOW)


def test_a_start_before_its_due_instant_has_waited_zero(records: Records) -> None:
    counter = FlowCounter()
    counter.count_start("high", NOW + SECOND, NOW)
    records.flush(counter, NOW)
    assert records.added[0][1].last_wait_ms == 0


def test_attempts_failures_and_run_times_are_counted(records: Records) -> None:
    counter = FlowCounter()
    counter.count_end("low", 2 * SECOND, succeeded=True)
    counter.count_end("low", 3 * SECOND, succeeded=False)
    counter.count_end("low", -9 * SECOND, succeeded=True)  # a clock that went back
    counter.count_discard("low")
    records.flush(counter, NOW)
    assert records.added == [("low", Flow(finished=3, failed=1, busy_ms=5000, passed=1))]
    assert records.added[0][1].done == 4


def long_execution(**fields: Any) -> Execution:
    common = {"lane": Lane.LONG, "status": Status.SUCCEEDED, "started_at": NOW, "ended_at": NOW + 9 * SECOND}
    fields = {**common, **fields}
    return Execution(job_id="j", execution_id="e", owner="o", task="t", scheduled_at=NOW - 4 * SECOND, **fields)


@pytest.mark.parametrize(("status", "failed"), [(Status.SUCCEEDED, 0), (Status.FAILED, 1)])
def test_an_ended_execution_of_the_long_lane_counts_its_start_and_its_end(
    records: Records, status: Status, failed: int
) -> None:
    counter = FlowCounter()
    counter.count_long_execution(long_execution(status=status))
    records.flush(counter, NOW)
    [(queue, counted)] = records.added
    assert (queue, counted.started, counted.finished, counted.failed) == (LONG, 1, 1, failed)
    assert (counted.last_wait_ms, counted.busy_ms) == (4000, 9000)


@pytest.mark.parametrize("fields", [{"lane": Lane.SHORT}, {"started_at": None}, {"ended_at": None}])
def test_other_executions_are_not_counted_in_the_long_lane(records: Records, fields: dict[str, Any]) -> None:
    counter = FlowCounter()
    counter.count_long_execution(long_execution(**fields))
    records.flush(counter, NOW)
    assert records.added == []


def test_the_first_flush_is_immediate_and_later_ones_keep_the_interval(records: Records) -> None:
    counter = FlowCounter()
    for second in range(25):
        counter.count_end("high", SECOND, succeeded=True)
        records.flush(counter, NOW + second * SECOND)
    every = FLUSH_INTERVAL // SECOND
    assert [counted.finished for _, counted in records.added] == [1, *[every] * (24 // every)]


def test_without_counts_nothing_is_flushed(records: Records) -> None:
    counter = FlowCounter()
    records.flush(counter, NOW)
    counter.count_discard("high")
    records.flush(counter, NOW)
    records.flush(counter, NOW + FLUSH_INTERVAL)
    assert records.added == [("high", Flow(passed=1))]


def test_each_flush_writes_one_queue_and_all_queues_in_turn(records: Records) -> None:
    counter = FlowCounter()
    for second in range(6 * (FLUSH_INTERVAL // SECOND)):
        counter.count_end(("high", "normal", "low")[second % 3], SECOND, succeeded=True)
        records.flush(counter, NOW + second * SECOND)
    assert [queue for queue, _ in records.added] == ["high", "normal", "low", "high", "normal", "low"]


def test_counts_of_a_failed_flush_are_kept_for_the_next_one(records: Records) -> None:
    counter = FlowCounter()
    counter.count_end("high", SECOND, succeeded=True)
    records.unavailable = True
    records.flush(counter, NOW)
    counter.count_end("high", SECOND, succeeded=True)
    records.flush(counter, NOW + FLUSH_INTERVAL / 10)  # too soon: a failure must not slow down every invocation
    assert records.warned == ["flow counts of queue high not saved, will retry: OSError: no route"]
    records.unavailable = False
    records.flush(counter, NOW + FLUSH_INTERVAL)
    assert records.added == [("high", Flow(finished=2, busy_ms=2000))]


def test_flushing_continues_after_the_clock_goes_back(records: Records) -> None:
    counter = FlowCounter()
    counter.count_discard("high")
    records.flush(counter, NOW + timedelta(days=1))
    counter.count_discard("high")
    records.flush(counter, NOW)
    assert len(records.added) == 2


def test_a_quantile_is_interpolated_within_its_bucket() -> None:
    late = [0] * len(LATENESS_BOUNDS)
    assert lateness_quantile(late, 0.99) is None
    late[0] = 100
    assert lateness_quantile(late, 0.5) == pytest.approx(0.125)
    late[4] = 100  # over two, up to five seconds
    assert lateness_quantile(late, 0.75) == pytest.approx(3.5)
    late[-1] = 200
    assert lateness_quantile(late, 0.99) == 1800


@given(LATE, st.floats(0.01, 1), st.floats(0.01, 1))
def test_a_higher_quantile_is_never_lower(late: tuple[int, ...], a: float, b: float) -> None:
    low, high = lateness_quantile(late, min(a, b)), lateness_quantile(late, max(a, b))
    assert (low is None and high is None and not sum(late)) or (low is not None and high is not None and low <= high)


def test_the_mean_uses_bucket_middles_capped_at_the_longest() -> None:
    late = [0] * len(LATENESS_BOUNDS)
    assert mean_lateness(late, longest=60) is None
    late[0], late[5] = 1, 3  # about an eighth of a second, and ten seconds
    assert mean_lateness(late, longest=60) == pytest.approx((0.125 + 3 * 10) / 4)
    late[-1] = 4
    assert mean_lateness(late, longest=60) == pytest.approx((0.125 + 3 * 10 + 4 * 60) / 8)
