from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.jobs.misfire import MOST_MADE_UP, Misfire, Policy
from punctual.domain.schedules.schedule import At, Every

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def none(_: datetime) -> bool:
    """Nothing was cancelled by hand."""
    return False


def every(seconds: int, since: timedelta) -> tuple[Every, list[datetime]]:
    """A schedule, and its instants since then up to half an hour ahead."""
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
    policy=st.sampled_from(Policy),
)
def test_each_instant_runs_or_has_one_reason_not_to(seconds: int, count: int, grace: int, policy: Policy) -> None:
    schedule, instants = every(seconds, timedelta(seconds=seconds * count))
    sorted_out = Misfire(policy=policy, grace_seconds=grace).sort_out(instants, schedule, NOW, withdrawn=none)
    left_out = sorted_out.covered | sorted_out.missed
    assert not sorted_out.covered & sorted_out.missed
    in_time = {due for due in instants if due >= NOW - timedelta(seconds=grace)}
    assert not left_out & in_time, "what is not late beyond its grace runs"
    gone_by = [due for due in instants if due <= NOW]
    ran = [due for due in gone_by if due not in left_out]
    if policy is Policy.RUN_LATEST and gone_by:
        assert ran[-1] == gone_by[-1], "the latest runs"
        assert set(ran[:-1]) <= in_time, "and of those that were missed no other"
    if policy is Policy.SKIP:
        assert set(ran) <= in_time
    if policy is Policy.RUN_ALL:
        assert len(set(ran) - in_time) == min(MOST_MADE_UP, len(set(gone_by) - in_time))


@given(split=st.integers(1, 99), policy=st.sampled_from(Policy))
def test_sorting_out_piece_by_piece_gives_what_the_whole_would(split: int, policy: Policy) -> None:
    schedule, instants = every(60, timedelta(minutes=200))
    rule = Misfire(policy=policy)
    whole = rule.sort_out(instants, schedule, NOW, withdrawn=none)
    pieces = (instants[:split], instants[split:])
    first, rest = (rule.sort_out(piece, schedule, NOW, withdrawn=none) for piece in pieces)
    assert first.covered | rest.covered == whole.covered
    assert first.missed | rest.missed == whole.missed


@pytest.mark.parametrize(("policy", "runs"), [(Policy.RUN_LATEST, True), (Policy.RUN_ALL, True), (Policy.SKIP, False)])
def test_a_job_that_runs_once_is_its_own_latest(policy: Policy, runs: bool) -> None:
    at = NOW - timedelta(hours=1)
    sorted_out = Misfire(policy=policy).sort_out([at], At(at), NOW, withdrawn=none)
    assert (at not in sorted_out.missed | sorted_out.covered) is runs


@pytest.mark.parametrize(("policy", "run"), [(Policy.RUN_LATEST, 1), (Policy.RUN_ALL, 20), (Policy.SKIP, 0)])
def test_what_came_due_in_a_pause_was_missed_however_short_the_pause(policy: Policy, run: int) -> None:
    schedule, instants = every(2, timedelta(seconds=41))
    gone_by = [due for due in instants if due <= NOW]
    sorted_out = Misfire(policy=policy).sort_out(instants, schedule, NOW, missed_until=NOW, withdrawn=none)
    ran = [due for due in gone_by if due not in sorted_out.missed | sorted_out.covered]
    assert (len(gone_by), len(ran)) == (20, run)
    assert not (sorted_out.missed | sorted_out.covered) - set(gone_by), "what comes later is not touched"
    if policy is Policy.RUN_LATEST:
        assert ran == gone_by[-1:] == [sorted_out.covered_by]


def test_what_was_cancelled_by_hand_covers_no_other() -> None:
    schedule, instants = every(60, timedelta(minutes=20))
    gone_by = [due for due in instants if due <= NOW]
    sorted_out = Misfire(grace_seconds=0).sort_out(instants, schedule, NOW, withdrawn=lambda due: due in gone_by[-2:])
    assert sorted_out.covered_by == gone_by[-3]
    assert sorted_out.covered >= set(gone_by[:-3])
    all_of_them = Misfire(grace_seconds=0).sort_out(gone_by, schedule, NOW, withdrawn=lambda due: due in gone_by)
    assert not all_of_them.covered | all_of_them.missed
