from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.jobs.misfire import MAX_CATCH_UP_RUNS, Misfire, MisfirePolicy
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import At

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def never_cancelled(_: datetime) -> bool:
    """No execution was cancelled."""
    return False


def every(seconds: int, since: timedelta) -> tuple[Every, list[datetime]]:
    """A schedule, and its instants from ``since`` ago until half an hour ahead."""
    schedule = Every(seconds, NOW - since)
    instants = []
    due = schedule.next_after(NOW - since)
    while due is not None and due <= NOW + timedelta(minutes=30):
        instants.append(due)
        due = schedule.next_after(due)
    return schedule, instants


@given(
    seconds=st.integers(1, 3600),
    count=st.integers(0, 400),
    grace=st.integers(0, 7200),
    policy=st.sampled_from(MisfirePolicy),
)
def test_each_instant_runs_or_is_covered_or_is_missed(
    seconds: int, count: int, grace: int, policy: MisfirePolicy
) -> None:
    schedule, instants = every(seconds, timedelta(seconds=seconds * count))
    decision = Misfire(policy=policy, grace_seconds=grace).decide(
        instants, schedule, NOW, was_cancelled=never_cancelled
    )
    not_run = decision.covered | decision.missed
    assert not decision.covered & decision.missed
    in_time = {due for due in instants if due >= NOW - timedelta(seconds=grace)}
    assert not not_run & in_time, "an instant within its grace period runs"
    past = [due for due in instants if due <= NOW]
    ran = [due for due in past if due not in not_run]
    if policy is MisfirePolicy.RUN_LATEST and past:
        assert ran[-1] == past[-1], "the latest runs"
        assert set(ran[:-1]) <= in_time, "and no other missed instant runs"
    if policy is MisfirePolicy.SKIP:
        assert set(ran) <= in_time
    if policy is MisfirePolicy.RUN_ALL:
        assert len(set(ran) - in_time) == min(MAX_CATCH_UP_RUNS, len(set(past) - in_time))


@given(split=st.integers(1, 99), policy=st.sampled_from(MisfirePolicy))
def test_deciding_in_pieces_equals_deciding_all_at_once(split: int, policy: MisfirePolicy) -> None:
    schedule, instants = every(60, timedelta(minutes=200))
    rule = Misfire(policy=policy)
    whole = rule.decide(instants, schedule, NOW, was_cancelled=never_cancelled)
    pieces = (instants[:split], instants[split:])
    first, rest = (rule.decide(piece, schedule, NOW, was_cancelled=never_cancelled) for piece in pieces)
    assert first.covered | rest.covered == whole.covered
    assert first.missed | rest.missed == whole.missed


@pytest.mark.parametrize(
    ("policy", "runs"), [(MisfirePolicy.RUN_LATEST, True), (MisfirePolicy.RUN_ALL, True), (MisfirePolicy.SKIP, False)]
)
def test_a_one_time_job_is_its_own_latest_instant(policy: MisfirePolicy, runs: bool) -> None:
    at = NOW - timedelta(hours=1)
    decision = Misfire(policy=policy).decide([at], At(at), NOW, was_cancelled=never_cancelled)
    assert (at not in decision.missed | decision.covered) is runs


@pytest.mark.parametrize(
    ("policy", "run"), [(MisfirePolicy.RUN_LATEST, 1), (MisfirePolicy.RUN_ALL, 20), (MisfirePolicy.SKIP, 0)]
)
def test_an_instant_due_in_a_pause_is_missed_however_short_the_pause(policy: MisfirePolicy, run: int) -> None:
    schedule, instants = every(2, timedelta(seconds=41))
    past = [due for due in instants if due <= NOW]
    decision = Misfire(policy=policy).decide(instants, schedule, NOW, missed_until=NOW, was_cancelled=never_cancelled)
    ran = [due for due in past if due not in decision.missed | decision.covered]
    assert (len(past), len(ran)) == (20, run)
    assert not (decision.missed | decision.covered) - set(past), "future instants are not affected"
    if policy is MisfirePolicy.RUN_LATEST:
        assert ran == past[-1:] == [decision.covered_by]


def test_a_cancelled_execution_covers_no_other() -> None:
    schedule, instants = every(60, timedelta(minutes=20))
    past = [due for due in instants if due <= NOW]
    decision = Misfire(grace_seconds=0).decide(instants, schedule, NOW, was_cancelled=lambda due: due in past[-2:])
    assert decision.covered_by == past[-3]
    assert decision.covered >= set(past[:-3])
    all_cancelled = Misfire(grace_seconds=0).decide(past, schedule, NOW, was_cancelled=lambda due: due in past)
    assert not all_cancelled.covered | all_cancelled.missed
