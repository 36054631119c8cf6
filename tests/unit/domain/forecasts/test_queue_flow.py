from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.forecasts.queue_flow import BOUNDS, PACE, Flow, Tally, flow_of, late_quantile, mean_late

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
COUNTS = st.integers(0, 10**9)
LATE = st.tuples(*[COUNTS] * len(BOUNDS))
INSTANTS = st.integers(0, 10**6).map(lambda n: NOW + n * SECOND)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    counts = {name: draw(COUNTS) for name in ("started", "finished", "failed", "passed", "busy_ms")}
    last = draw(st.none() | st.tuples(COUNTS, INSTANTS)) or (None, None)
    return Flow(**counts, late=draw(LATE), last_wait_ms=last[0], last_started_at=last[1])


class Record:
    """Where tallies tell, in memory."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Flow]] = []
        self.warned: list[str] = []
        self.out_of_order = False

    def add(self, queue: str, counted: Flow) -> None:
        if self.out_of_order:
            raise OSError("no route")
        self.told.append((queue, counted))

    def hear(self, tally: Tally, now: datetime) -> None:
        tally.tell(self.add, now, self.warned.append)


@pytest.fixture
def record() -> Record:
    return Record()


def late_of(seconds: float, **start: bool) -> dict[float, int]:
    """In which bucket a start counts that is so late."""
    record, tally = Record(), Tally()
    tally.started("high", NOW - seconds * SECOND, NOW, **start)
    record.hear(tally, NOW)
    [(_, counted)] = record.told
    return {bound: count for bound, count in zip(BOUNDS, counted.late, strict=True) if count}


@given(flows())
def test_a_stored_flow_is_read_as_it_was(flow: Flow) -> None:
    assert flow_of(flow.to_fields()) == flow


@given(flows(), flows())
def test_what_came_since_is_what_was_added(earlier: Flow, more: Flow) -> None:
    since = earlier.plus(more).since(earlier)
    assert (since.started, since.finished, since.failed, since.passed, since.busy_ms, since.late) == (
        more.started,
        more.finished,
        more.failed,
        more.passed,
        more.busy_ms,
        more.late,
    )


def test_counters_that_began_anew_count_from_nothing() -> None:
    anew = Flow(started=3, finished=2)
    assert anew.since(Flow(started=2, finished=100)) == anew


def test_of_two_flows_the_later_start_stands() -> None:
    early = Flow(last_wait_ms=1, last_started_at=NOW)
    late = Flow(last_wait_ms=2, last_started_at=NOW + SECOND)
    assert early.plus(late).last_wait_ms == late.plus(early).last_wait_ms == late.plus(Flow()).last_wait_ms == 2
    assert early.plus(replace(early, last_wait_ms=3)).last_wait_ms == 3  # in one millisecond, the one counted last


@pytest.mark.parametrize(
    ("seconds", "bound"), [(-3, 0.25), (0, 0.25), (0.25, 0.25), (0.251, 0.5), (2, 2), (2.1, 5), (9999, math.inf)]
)
def test_a_start_counts_in_the_bucket_that_it_was_not_later_than(seconds: float, bound: float) -> None:
    assert late_of(seconds) == {bound: 1}


def test_a_retry_is_never_counted_as_late_but_its_wait_is_known(record: Record) -> None:
    assert late_of(4, first=False) == {}
    tally = Tally()
    tally.started("high", NOW - 4 * SECOND, NOW, first=False)
    record.hear(tally, NOW)
    [(_, counted)] = record.told
    assert (counted.started, counted.last_wait_ms, counted.last_started_at) == (1, 4000, NOW)


def test_what_starts_before_it_is_due_by_this_clock_has_not_waited(record: Record) -> None:
    tally = Tally()
    tally.started("high", NOW + SECOND, NOW)
    record.hear(tally, NOW)
    assert record.told[0][1].last_wait_ms == 0


def test_a_tally_counts_attempts_failures_and_the_time_they_took(record: Record) -> None:
    tally = Tally()
    tally.ended("low", 2 * SECOND, succeeded=True)
    tally.ended("low", 3 * SECOND, succeeded=False)
    tally.ended("low", -9 * SECOND, succeeded=True)  # a clock that went back
    tally.passed("low")
    record.hear(tally, NOW)
    assert record.told == [("low", Flow(finished=3, failed=1, busy_ms=5000, passed=1))]
    assert record.told[0][1].done == 4


def test_a_process_tells_at_once_and_then_at_its_pace(record: Record) -> None:
    tally = Tally()
    for second in range(25):
        tally.ended("high", SECOND, succeeded=True)
        record.hear(tally, NOW + second * SECOND)
    every = PACE // SECOND
    assert [counted.finished for _, counted in record.told] == [1, *[every] * (24 // every)]


def test_a_process_that_has_counted_nothing_tells_nothing(record: Record) -> None:
    tally = Tally()
    record.hear(tally, NOW)
    tally.passed("high")
    record.hear(tally, NOW)
    record.hear(tally, NOW + PACE)
    assert record.told == [("high", Flow(passed=1))]


def test_a_process_that_serves_several_queues_tells_of_one_at_a_time_and_of_each_in_turn(record: Record) -> None:
    tally = Tally()
    for second in range(6 * (PACE // SECOND)):
        tally.ended(("high", "normal", "low")[second % 3], SECOND, succeeded=True)
        record.hear(tally, NOW + second * SECOND)
    assert [queue for queue, _ in record.told] == ["high", "normal", "low", "high", "normal", "low"]


def test_what_could_not_be_told_is_kept_and_told_with_the_next(record: Record) -> None:
    tally = Tally()
    tally.ended("high", SECOND, succeeded=True)
    record.out_of_order = True
    record.hear(tally, NOW)
    tally.ended("high", SECOND, succeeded=True)
    record.hear(tally, NOW + PACE / 10)  # too soon to try again: trouble must not slow down every invocation
    assert record.warned == ["what was counted of high could not be told: OSError: no route"]
    record.out_of_order = False
    record.hear(tally, NOW + PACE)
    assert record.told == [("high", Flow(finished=2, busy_ms=2000))]


def test_a_clock_that_goes_back_does_not_silence_a_process(record: Record) -> None:
    tally = Tally()
    tally.passed("high")
    record.hear(tally, NOW + timedelta(days=1))
    tally.passed("high")
    record.hear(tally, NOW)
    assert len(record.told) == 2


def test_a_quantile_lies_within_its_bucket_in_proportion() -> None:
    late = [0] * len(BOUNDS)
    assert late_quantile(late, 0.99) is None
    late[0] = 100
    assert late_quantile(late, 0.5) == pytest.approx(0.125)
    late[4] = 100  # over two, up to five seconds
    assert late_quantile(late, 0.75) == pytest.approx(3.5)
    late[-1] = 200
    assert late_quantile(late, 0.99) == 1800


@given(LATE, st.floats(0.01, 1), st.floats(0.01, 1))
def test_a_higher_quantile_is_never_lower(late: tuple[int, ...], a: float, b: float) -> None:
    low, high = late_quantile(late, min(a, b)), late_quantile(late, max(a, b))
    assert (low is None and high is None and not sum(late)) or (low is not None and high is not None and low <= high)


def test_the_mean_takes_the_middle_of_each_bucket_and_nothing_for_later_than_it_is_told() -> None:
    late = [0] * len(BOUNDS)
    assert mean_late(late, longest=60) is None
    late[0], late[5] = 1, 3  # about an eighth of a second, and ten seconds
    assert mean_late(late, longest=60) == pytest.approx((0.125 + 3 * 10) / 4)
    late[-1] = 4
    assert mean_late(late, longest=60) == pytest.approx((0.125 + 3 * 10 + 4 * 60) / 8)
