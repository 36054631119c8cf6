from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from punctual.domain.executions.execution import Execution, Hold, Progress
from punctual.domain.executions.horizon import LEASE, RENEWAL
from punctual.domain.status import Status
from punctual.runtime.tasks.lease import PROGRESS_REST, Lease

START = datetime(2026, 11, 16, tzinfo=UTC)
EXECUTION = Execution(
    job_id="j", execution_id="e", owner="o", task="t", scheduled_at=START, status=Status.RUNNING, attempt=1
)


class Ledger:
    """Stands where the executions table does: notes each renewal, and answers as it is told."""

    def __init__(self, answers: list[Hold | Exception]) -> None:
        self.answers, self.renewals, self.renewed = answers, [], threading.Event()

    def renew(self, execution: Execution, now: datetime, progress: Progress | None) -> Hold:
        assert execution is EXECUTION
        self.renewals.append((now, progress))
        answer = self.answers.pop(0) if self.answers else Hold.KEPT
        if not self.answers:
            self.renewed.set()
        if isinstance(answer, Exception):
            raise answer
        return answer


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def lease(ledger: Ledger, clock: Clock, warnings: list[str]) -> Lease:
    return Lease(ledger, EXECUTION, clock, warnings.append, beat=0.001)  # type: ignore[arg-type]


def test_a_lease_survives_two_renewals_that_fail() -> None:
    assert 2 * RENEWAL + timedelta(seconds=5) <= LEASE


def test_it_renews_when_the_time_has_come_and_tries_again_after_a_fault() -> None:
    ledger, clock, warnings = Ledger([OSError("no route"), Hold.KEPT]), Clock(), []
    with lease(ledger, clock, warnings) as held:
        clock.now += RENEWAL
        assert ledger.renewed.wait(5)
    assert not held.lost
    assert len(ledger.renewals) == 2
    assert warnings == ["the lease could not be renewed, trying again: no route"]


def test_progress_is_told_with_a_renewal_before_its_time() -> None:
    ledger, clock = Ledger([Hold.KEPT]), Clock()
    with lease(ledger, clock, []) as held:
        held.report(Progress(percent=10))
        held.report(Progress(percent=20, message="more"))
        clock.now += PROGRESS_REST
        assert ledger.renewed.wait(5)
    assert [progress for _, progress in ledger.renewals] == [Progress(percent=20, message="more")]


def test_a_refused_renewal_means_that_the_lease_is_lost_and_is_not_asked_for_again() -> None:
    ledger, clock = Ledger([Hold.LOST]), Clock()
    held = lease(ledger, clock, [])
    with held:
        clock.now += RENEWAL
        assert ledger.renewed.wait(5)
        held._thread.join(5)
        clock.now += 5 * RENEWAL
    assert held.lost
    assert len(ledger.renewals) == 1
