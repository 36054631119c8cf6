from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import exp, log
from statistics import mean

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from punctual.domain.forecasts.forecast import Forecast, Pace, Wait, forecast, remaining
from punctual.domain.forecasts.run_history import FEWEST_RELIED_ON, KEPT_RUNS, expected_seconds, noted
from punctual.domain.forecasts.run_time import RunTime, run_time_of

HOUR = 3600
DAY = 24 * HOUR
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
ALMOST = 1 - 1e-9
"""What a sum of floats may be off by."""

SECONDS = st.integers(0, 3 * DAY)
SHARES = st.floats(0.01, 0.99)
MOMENTS = st.floats(0, 4 * DAY)
HISTORIES = st.lists(SECONDS, min_size=FEWEST_RELIED_ON, max_size=KEPT_RUNS)
RUN_TIMES = st.builds(
    run_time_of,
    st.one_of(st.just([]), HISTORIES),
    st.one_of(st.none(), st.integers(1, 3 * DAY)),
    st.integers(1, 3 * DAY),
)
WAITS = st.builds(Wait, st.floats(0, DAY), st.floats(0, DAY))
FRACTIONS = st.floats(0, 1)
properties = settings(max_examples=200, deadline=None, derandomize=True)


@st.composite
def paces(draw: st.DrawFn) -> Pace:
    pace = Pace(fraction=draw(FRACTIONS), elapsed=draw(st.floats(1, 4 * DAY)))
    if draw(st.booleans()):
        return replace(pace, earlier_fraction=draw(FRACTIONS), earlier_elapsed=draw(MOMENTS))
    return pace


def around(seconds: float, share: float = 0.05, runs: int = KEPT_RUNS, seed: int = 1) -> list[int]:
    """Runs of so many seconds, give or take."""
    draw = random.Random(seed)
    return [round(seconds * exp(draw.gauss(0, share))) for _ in range(runs)]


def mixed(runs: list[int]) -> list[int]:
    """The same runs in an order that shows no drift."""
    rising = sorted(runs)
    return [*rising[::2], *reversed(rising[1::2])]


def run_time(runs: list[int], timeout: int = 7 * DAY) -> RunTime:
    return run_time_of(runs, None, timeout)


EIGHT_HOURS = run_time(around(8 * HOUR))


def told(
    taking: RunTime,
    *,
    started: float | None = None,
    now: float = 0,
    not_before: float = 0,
    wait: Wait | None = None,
    pace: Pace | None = None,
    deadline: float | None = None,
) -> Forecast:
    """The forecast where all instants are seconds after one of them."""
    return forecast(
        now=NOW + timedelta(seconds=now),
        run_time=taking,
        not_before=NOW + timedelta(seconds=not_before),
        wait=wait or Wait(),
        started_at=None if started is None else NOW + timedelta(seconds=started),
        pace=pace,
        deadline_at=None if deadline is None else NOW + timedelta(seconds=deadline),
    )


def after(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)


@pytest.mark.parametrize("runs", [(), (60,), (60, 60, 60, 60)])
def test_few_runs_are_not_relied_on(runs: tuple[int, ...]) -> None:
    assert expected_seconds(runs, declared=8 * HOUR, timeout=12 * HOUR) == 8 * HOUR


def test_without_runs_and_without_a_declaration_the_time_out_is_expected() -> None:
    assert expected_seconds((), declared=None, timeout=12 * HOUR) == 12 * HOUR


def test_five_runs_are_believed_before_the_declaration() -> None:
    assert expected_seconds((50, 40, 30, 20, 10), declared=8 * HOUR, timeout=12 * HOUR) == 40


def test_nine_runs_in_ten_take_no_longer_than_expected() -> None:
    assert expected_seconds(tuple(range(1, 51)), declared=None, timeout=HOUR) == 45


@given(st.lists(st.integers(0, HOUR), min_size=4, max_size=60), st.integers(HOUR, 1000 * HOUR))
def test_one_outlier_is_never_what_is_expected(runs: list[int], outlier: int) -> None:
    assert expected_seconds([*runs, outlier], declared=None, timeout=0) <= max(runs)


@given(st.lists(st.integers(0, HOUR), min_size=5, max_size=60))
def test_however_few_the_runs_four_in_five_take_no_longer_than_expected(runs: list[int]) -> None:
    expected = expected_seconds(runs, declared=None, timeout=0)
    assert expected in runs
    assert sum(run <= expected for run in runs) >= len(runs) * 0.8


def test_the_newest_runs_are_kept_in_order_and_the_oldest_forgotten() -> None:
    runs = noted(range(KEPT_RUNS), 1000, 1001)
    assert len(runs) == KEPT_RUNS
    assert runs[0] == 2
    assert runs[-2:] == (1000, 1001)


# How long a run takes


@properties
@given(RUN_TIMES, st.floats(0, 1), st.floats(0, 1), MOMENTS)
def test_what_is_surer_takes_longer(taking: RunTime, one: float, other: float, elapsed: float) -> None:
    taking = taking.given(elapsed)
    assert taking.quantile(min(one, other)) * ALMOST <= taking.quantile(max(one, other))
    assert taking.within(min(one, other) * DAY) * ALMOST <= taking.within(max(one, other) * DAY) + 1e-9


@properties
@given(RUN_TIMES, SHARES, MOMENTS)
def test_a_quantile_is_met_with_its_own_probability(taking: RunTime, share: float, elapsed: float) -> None:
    taking = taking.given(elapsed)
    assume(elapsed < taking.timeout)
    seconds = taking.quantile(share)
    expected = 1.0 if seconds >= taking.timeout else pytest.approx(share, abs=1e-5)
    assert taking.within(seconds) == expected


@properties
@given(RUN_TIMES, SHARES, MOMENTS, MOMENTS)
def test_who_has_run_longer_takes_longer_in_all(taking: RunTime, share: float, one: float, other: float) -> None:
    sooner, later = (taking.given(elapsed).quantile(share) for elapsed in sorted((one, other)))
    assert sooner >= min(one, other)
    assert later >= max(one, other)
    assert sooner * ALMOST <= later


@properties
@given(RUN_TIMES, MOMENTS, MOMENTS)
def test_what_is_known_of_the_start_stays_known(taking: RunTime, one: float, other: float) -> None:
    assert taking.given(one).given(other) == taking.given(max(one, other))


@properties
@given(HISTORIES, st.integers(1, 3 * DAY), SHARES)
def test_no_run_outlasts_its_time_out(runs: list[int], timeout: int, share: float) -> None:
    taking = run_time_of(runs, None, timeout)
    assert taking.quantile(share) <= timeout
    assert taking.within(timeout) == 1


def test_what_should_have_been_stopped_by_now_ends_now() -> None:
    late = told(run_time(around(HOUR), timeout=2 * HOUR), started=0, now=3 * HOUR, deadline=4 * HOUR)
    assert (late.median_end, late.p95_end, late.probability) == (after(3), after(3), 0)


def test_what_its_time_out_will_stop_does_not_make_its_deadline() -> None:
    """Thirty percent after five hours: it needs more than the twelve that it may take, however far the deadline is."""
    pace = Pace(fraction=0.3, elapsed=5 * HOUR)
    doomed = told(run_time(around(8 * HOUR), timeout=12 * HOUR), started=0, now=5 * HOUR, deadline=24 * HOUR, pace=pace)
    assert doomed.median_end == after(12)
    assert doomed.probability is not None
    assert doomed.probability < 0.1
    waits = told(run_time(around(8 * HOUR), timeout=4 * HOUR), now=0, deadline=24 * HOUR, wait=Wait(60, 90))
    assert waits.probability is not None
    assert waits.probability < 0.1


@properties
@given(st.lists(st.integers(1, 100), min_size=2, max_size=24), st.integers(2, 20))
def test_the_more_the_runs_varied_the_wider_the_forecast(differences: list[int], times: int) -> None:
    """The same runs around the same median, once with all their differences so many times as large."""

    def varying(by: int) -> RunTime:
        either_way = [sign * by * one for one in differences for sign in (-1, 1)]
        return run_time(mixed([10**5 + 10 * one for one in (*either_way, 0)]))

    narrow, wide = varying(1), varying(times)
    assert wide.quantile(0.5) == pytest.approx(narrow.quantile(0.5), abs=1)
    assert wide.quantile(0.95) - wide.quantile(0.5) > narrow.quantile(0.95) - narrow.quantile(0.5)


@properties
@given(st.lists(st.integers(1, HOUR), min_size=KEPT_RUNS - 1, max_size=KEPT_RUNS - 1), st.integers(HOUR, 7 * DAY))
def test_one_outlier_in_fifty_moves_p95_no_further_than_to_the_longest_of_the_others(
    runs: list[int], outlier: int
) -> None:
    assert run_time(mixed([*runs, outlier])).quantile(0.95) <= max(runs) + 0.5


@pytest.mark.parametrize("place", [0, 25, 49])
def test_one_outlier_in_fifty_moves_p95_by_little(place: int) -> None:
    runs = around(8 * HOUR)
    usual = run_time(runs).quantile(0.95)
    runs[place] = 100 * HOUR
    assert usual * 0.98 <= run_time(runs).quantile(0.95) <= usual * 1.05


@pytest.mark.parametrize("runs", [FEWEST_RELIED_ON, 10, 19])
def test_one_outlier_among_few_moves_p95_not_far_beyond_itself_and_not_the_median(runs: int) -> None:
    taking = run_time([*around(HOUR, runs=runs - 1), 50 * HOUR])
    assert taking.quantile(0.95) <= 50 * HOUR * 1.5
    assert taking.quantile(0.5) == pytest.approx(HOUR, rel=0.1)


@pytest.mark.parametrize("each", [0.01, -0.01, 0.05])
def test_a_drift_is_followed_to_the_next_run(each: float) -> None:
    runs = [round(seconds * exp(each * number)) for number, seconds in enumerate(around(2 * HOUR))]
    following = 2 * HOUR * exp(each * KEPT_RUNS)
    assert run_time(runs).quantile(0.5) == pytest.approx(following, rel=0.04)
    assert abs(log(run_time(mixed(runs)).quantile(0.5) / following)) > 20 * abs(each)


def test_a_drift_that_is_followed_leaves_more_room_for_it_may_be_misjudged() -> None:
    def room(each: float, seed: int) -> float:
        runs = [round(one * exp(each * i)) for i, one in enumerate(around(2 * HOUR, runs=12, seed=seed))]
        return log(run_time(runs).quantile(0.95) / run_time(runs).quantile(0.5))

    assert mean(room(0.1, seed) for seed in range(40)) > 1.02 * mean(room(0, seed) for seed in range(40))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_runs_that_drift_as_if_by_rule_leave_a_little_room_too(share: float) -> None:
    taking = run_time([10 * 2**number for number in range(12)])
    assert taking.quantile(share) == pytest.approx(10 * 2**12, rel=0.02)
    assert taking.within(taking.quantile(share)) == pytest.approx(share, abs=1e-5)


def test_a_drift_that_may_be_an_accident_is_not_followed() -> None:
    runs = around(2 * HOUR)
    assert run_time(runs) == run_time(mixed(runs))


def test_until_there_are_five_runs_it_takes_about_what_was_declared() -> None:
    taking = run_time_of((60, 60, 60, 60), HOUR, DAY)
    assert taking.quantile(0.5) == pytest.approx(HOUR)
    assert taking.quantile(0.95) == pytest.approx(1.5 * HOUR)
    assert run_time_of((60, 60, 60, 60, 60), HOUR, DAY).quantile(0.5) == pytest.approx(60, abs=1)


def test_what_is_declared_beyond_the_time_out_ends_with_it() -> None:
    assert run_time_of((), 2 * HOUR, HOUR).quantile(0.5) == HOUR


def test_of_what_runs_far_beyond_its_declaration_a_share_is_still_to_come() -> None:
    taking = run_time_of((), HOUR, 7 * DAY).given(10 * HOUR)
    assert taking.quantile(0.5) > 10.5 * HOUR
    assert taking.quantile(0.95) > 14 * HOUR


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_of_what_nothing_is_known_anything_up_to_the_time_out_is_as_likely(share: float) -> None:
    taking = run_time_of((), None, HOUR)
    assert taking.quantile(share) == pytest.approx(share * HOUR)
    assert taking.given(HOUR / 2).quantile(share) == pytest.approx((1 + share) * HOUR / 2)


@pytest.mark.parametrize("runs", [FEWEST_RELIED_ON, 18, 19, 20, KEPT_RUNS])
def test_between_the_places_of_its_runs_a_forecast_has_no_holes(runs: int) -> None:
    taking = run_time(mixed(around(HOUR, runs=runs)))
    seconds = [taking.quantile(thousandth / 1000) for thousandth in range(1001)]
    assert seconds == sorted(seconds)
    assert len(set(seconds)) == len(seconds)


@pytest.mark.parametrize("seconds", [0, 1, 60, 8 * HOUR])
def test_runs_that_were_all_alike_leave_a_little_room(seconds: int) -> None:
    taking = run_time([seconds] * KEPT_RUNS)
    assert taking.quantile(0.5) == pytest.approx(seconds, abs=0.5)
    assert taking.quantile(0.5) < taking.quantile(0.95) <= seconds + 0.5
    assert taking.given(seconds + 1).quantile(0.95) > seconds + 1 + seconds / 100


# How far it is


def hours_in_all(elapsed: float, fraction: float, share: float = 0.5, taking: RunTime = EIGHT_HOURS) -> float:
    pace = Pace(fraction=fraction, elapsed=elapsed * HOUR)
    return elapsed + remaining(taking, elapsed * HOUR, pace).quantile(share) / HOUR


def test_a_job_of_eight_hours_that_is_30_percent_done_after_five_is_seen_at_once() -> None:
    pace = Pace(fraction=0.3, elapsed=5 * HOUR)
    seen = told(EIGHT_HOURS, started=0, now=5 * HOUR, pace=pace, deadline=10 * HOUR)
    unseen = told(EIGHT_HOURS, started=0, now=5 * HOUR, deadline=10 * HOUR)
    assert seen.median_end > after(14)
    assert seen.probability is not None
    assert seen.probability < 0.01
    assert unseen.probability is not None
    assert unseen.probability > 0.99


def test_the_first_word_of_progress_changes_nothing_and_a_tenth_done_does() -> None:
    usual = EIGHT_HOURS.quantile(0.5) / HOUR
    assert hours_in_all(1, 0.001) == pytest.approx(usual, rel=0.001)
    assert hours_in_all(1, 0.0) == pytest.approx(usual)
    assert hours_in_all(2, 0.1) > 1.8 * usual


def test_one_that_is_ahead_ends_sooner() -> None:
    assert hours_in_all(2, 0.5) == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize("percent", range(0, 100, 3))
def test_one_that_goes_as_usual_is_not_doubted_for_telling_so(percent: int) -> None:
    """Told in whole percent, just before the next: it seems to be slower than it is."""
    elapsed = 8 * HOUR * (percent + 0.9) / 100
    pace = Pace(fraction=percent / 100, elapsed=elapsed)
    assert remaining(EIGHT_HOURS, elapsed, pace).within(9.5 * HOUR - elapsed) > 0.95


def test_the_more_is_done_the_surer_the_end_but_never_certain() -> None:
    spreads = []
    for percent in (5, 10, 20, 40, 60, 80, 90, 95, 99, 100):
        elapsed = 16 * percent / 100
        spreads.append(hours_in_all(elapsed, percent / 100, 0.95) - hours_in_all(elapsed, percent / 100, 0.5))
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] > 1 / 60


def test_without_any_history_the_pace_rules() -> None:
    assert hours_in_all(2, 0.1, taking=run_time_of((), None, 7 * DAY)) == pytest.approx(20, rel=0.05)


def test_one_that_slowed_down_lately_ends_later_and_one_that_sped_up_sooner() -> None:
    def ends(earlier: float | None) -> float:
        pace = Pace(fraction=0.5, elapsed=4 * HOUR, earlier_fraction=earlier, earlier_elapsed=3 * HOUR)
        return remaining(EIGHT_HOURS, 4 * HOUR, pace).quantile(0.5) / HOUR

    as_ever = ends(0.375)
    assert as_ever == pytest.approx(ends(None))
    assert ends(0.48) > as_ever + 3
    assert ends(0.1) < as_ever - 1
    assert ends(0.9) == ends(0.5)


def test_one_that_stands_still_gets_worse_by_the_minute() -> None:
    def stalled(minutes: int) -> Forecast:
        elapsed = 4 * HOUR + 60 * minutes
        pace = Pace(fraction=0.5, elapsed=elapsed, earlier_fraction=0.5, earlier_elapsed=4 * HOUR)
        return told(EIGHT_HOURS, started=0, now=elapsed, pace=pace, deadline=9 * HOUR)

    five, thirty, sixty = stalled(5), stalled(30), stalled(60)
    assert five.median_end < thirty.median_end < sixty.median_end
    assert five.p95_end < thirty.p95_end < sixty.p95_end
    assert (five.probability or 0) > 0.95 > 0.05 > (thirty.probability or 0) > (sixty.probability or 0)


def test_one_that_fell_silent_is_taken_to_stand_still() -> None:
    heard = Pace(fraction=0.5, elapsed=4 * HOUR)
    assert told(EIGHT_HOURS, started=0, now=6 * HOUR, pace=heard).median_end > after(11)


@properties
@given(RUN_TIMES, FRACTIONS, st.floats(1, 4 * DAY), st.booleans(), MOMENTS, MOMENTS, SHARES)
def test_whoever_stands_still_never_ends_sooner(
    taking: RunTime, fraction: float, stood_at: float, known: bool, one: float, other: float, share: float
) -> None:
    def ends(since: float) -> float:
        pace = Pace(fraction=fraction, elapsed=stood_at + since)
        if known:
            pace = replace(pace, earlier_fraction=fraction, earlier_elapsed=stood_at)
        return stood_at + since + remaining(taking, stood_at + since, pace).quantile(share)

    assert ends(min(one, other)) * ALMOST <= ends(max(one, other)) + 1e-6


@properties
@given(RUN_TIMES, paces(), MOMENTS, MOMENTS, SHARES)
def test_whoever_falls_silent_never_ends_sooner(
    taking: RunTime, pace: Pace, one: float, other: float, share: float
) -> None:
    sooner, later = (
        elapsed + remaining(taking, elapsed, pace).quantile(share)
        for elapsed in sorted((max(one, pace.elapsed), max(other, pace.elapsed)))
    )
    assert sooner * ALMOST <= later + 1e-6


# When it ends


@properties
@given(RUN_TIMES, MOMENTS, MOMENTS, st.one_of(st.none(), MOMENTS), WAITS, st.one_of(st.none(), paces()), MOMENTS)
def test_it_never_ends_before_now_nor_surely_before_probably(
    taking: RunTime,
    now: float,
    not_before: float,
    started: float | None,
    wait: Wait,
    pace: Pace | None,
    deadline: float,
) -> None:
    foreseen = told(taking, now=now, not_before=not_before, started=started, wait=wait, pace=pace, deadline=deadline)
    assert NOW + timedelta(seconds=now) <= foreseen.median_end <= foreseen.p95_end
    assert foreseen.probability is not None
    assert 0 <= foreseen.probability <= 1
    if deadline < now:
        assert foreseen.probability == 0


@properties
@given(RUN_TIMES, st.booleans(), WAITS, MOMENTS, MOMENTS, MOMENTS)
def test_as_time_passes_without_progress_it_never_ends_sooner_nor_is_a_deadline_likelier_met(
    taking: RunTime, runs: bool, wait: Wait, one: float, other: float, deadline: float
) -> None:
    sooner, later = (
        told(taking, started=0 if runs else None, wait=wait, now=now, deadline=deadline) for now in sorted((one, other))
    )
    room = timedelta(milliseconds=20)
    assert sooner.median_end <= later.median_end + room
    assert sooner.p95_end <= later.p95_end + room
    assert sooner.probability is not None
    assert later.probability is not None
    assume(deadline < taking.timeout)
    assert sooner.probability >= later.probability - 1e-9


def test_before_it_starts_it_ends_a_wait_and_a_run_after_it_may_start() -> None:
    half = EIGHT_HOURS.quantile(0.5) / HOUR
    assert told(EIGHT_HOURS).median_end == after(half)
    assert told(EIGHT_HOURS, now=HOUR, not_before=3 * HOUR).median_end == after(3 + half)
    assert told(EIGHT_HOURS, now=3 * HOUR, not_before=HOUR).median_end == after(3 + half)
    waits = told(EIGHT_HOURS, not_before=3 * HOUR, wait=Wait(2 * HOUR, 2 * HOUR))
    assert abs(waits.median_end - after(5 + half)) < timedelta(seconds=1)


def test_a_long_wait_and_a_long_run_seldom_come_together() -> None:
    taking, wait = run_time(around(8 * HOUR, 0.2)), Wait(2 * HOUR, 5 * HOUR)
    either = max(taking.quantile(0.5) + 5 * HOUR, taking.quantile(0.95) + 2 * HOUR) / HOUR
    both = (taking.quantile(0.95) + 5 * HOUR) / HOUR
    assert after(either) < told(taking, wait=wait).p95_end < after(both)


@pytest.mark.parametrize("wait", [Wait(600, 3600), Wait(0, 3600), Wait(600, 600)])
def test_a_wait_is_what_its_two_figures_say(wait: Wait) -> None:
    assert wait.quantile(0.5) == pytest.approx(wait.median)
    assert wait.quantile(0.95) == pytest.approx(wait.p95)
    assert wait.quantile(0.01) >= 0


def test_the_latest_safe_start_leaves_the_run_time_that_is_seldom_exceeded() -> None:
    before = told(EIGHT_HOURS, wait=Wait(HOUR, HOUR), deadline=20 * HOUR)
    assert before.latest_safe_start == after(20 - EIGHT_HOURS.quantile(0.95) / HOUR)
    assert told(EIGHT_HOURS, started=0, now=HOUR, deadline=20 * HOUR).latest_safe_start is None


def test_without_a_deadline_there_is_none_to_meet() -> None:
    free = told(EIGHT_HOURS)
    assert (free.probability, free.latest_safe_start) == (None, None)


def test_who_starts_at_the_latest_safe_start_meets_the_deadline_in_nineteen_of_twenty_cases() -> None:
    latest = told(EIGHT_HOURS, deadline=20 * HOUR).latest_safe_start
    assert latest is not None
    starts = (latest - NOW).total_seconds()
    assert told(EIGHT_HOURS, now=starts, deadline=20 * HOUR).probability == pytest.approx(0.95, abs=1e-4)
