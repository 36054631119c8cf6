from __future__ import annotations

import threading
from datetime import UTC, datetime

from punctual.domain.executions.execution import Execution, LeaseState
from punctual.domain.executions.lease import LEASE_RENEWAL_INTERVAL
from punctual.domain.executions.progress import Progress
from punctual.domain.status import Status
from punctual.runtime.tasks.lease import PROGRESS_INTERVAL, Lease

START = datetime(2026, 11, 16, tzinfo=UTC)
EXECUTION = Execution(
    job_id="j", execution_id="e", owner="o", task="t", scheduled_at=START, status=Status.RUNNING, attempt=1
)


class FakeExecutions:
    """Records each renewal, and returns or raises the given answers in order."""

    def __init__(self, answers: list[LeaseState | Exception]) -> None:
        self.answers, self.renewals, self.renewed = answers, [], threading.Event()

    def renew(self, execution: Execution, now: datetime, progress: Progress | None) -> LeaseState:
        assert execution is EXECUTION
        self.renewals.append((now, progress))
        answer = self.answers.pop(0) if self.answers else LeaseState.KEPT
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


def lease(executions: FakeExecutions, clock: Clock, warnings: list[str]) -> Lease:
    return Lease(executions, EXECUTION, clock, warnings.append, poll_seconds=0.001)  # type: ignore[arg-type]


def test_a_due_renewal_is_retried_after_an_error() -> None:
    executions, clock, warnings = FakeExecutions([OSError("no route"), LeaseState.KEPT]), Clock(), []
    with lease(executions, clock, warnings) as held:
        clock.now += LEASE_RENEWAL_INTERVAL
        assert executions.renewed.wait(60)
    assert not held.lost
    assert len(executions.renewals) == 2
    assert warnings == ["cannot renew the lease, will retry: no route"]


def test_progress_is_stored_with_an_early_renewal() -> None:
    executions, clock = FakeExecutions([LeaseState.KEPT]), Clock()
    with lease(executions, clock, []) as held:
        held.report(Progress(percent=10))
        held.report(Progress(percent=20, message="more"))
        clock.now += PROGRESS_INTERVAL
        assert executions.renewed.wait(60)
    assert [progress for _, progress in executions.renewals] == [Progress(percent=20, message="more")]


def test_a_rejected_renewal_loses_the_lease_and_stops_renewing() -> None:
    executions, clock = FakeExecutions([LeaseState.LOST]), Clock()
    held = lease(executions, clock, [])
    with held:
        clock.now += LEASE_RENEWAL_INTERVAL
        assert executions.renewed.wait(60)
        held._thread.join(60)
        clock.now += 5 * LEASE_RENEWAL_INTERVAL
    assert held.lost
    assert len(executions.renewals) == 1
