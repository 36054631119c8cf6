from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Failure, Outcome
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.part_decision import decide_part
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def running(*, checkpoint: str | None = None, preempt_reason: str | None = None) -> Part:
    """A part that has run for one of its four hours."""
    return Part(
        execution_id="e",
        name="all",
        job_id="j",
        owner="o",
        status=Status.RUNNING,
        cpu=1024,
        memory_mb=2048,
        latest_start=NOW + HOUR,
        expected_seconds=4 * 3600,
        attempt=1,
        started_at=NOW - HOUR,
        checkpoint=checkpoint,
        preempt_reason=preempt_reason,
    )


@pytest.mark.parametrize(
    ("outcome", "checkpoint", "remaining_hours"),
    [
        (Outcome.PREEMPTED, "s3", 3),
        (Outcome.INTERRUPTED, "s3", 3),
        (Outcome.INTERRUPTED, None, 4),
        (Outcome.FAILED, "s3", 4),
    ],
)
def test_only_an_interruption_after_a_checkpoint_shortens_the_forecast(
    outcome: Outcome, checkpoint: str | None, remaining_hours: int
) -> None:
    after, decision = decide_part(
        running(checkpoint=checkpoint), AttemptResult(outcome=outcome), now=NOW, uniform=lambda low, _high: low
    )
    assert decision.attempt.outcome is outcome
    assert after.expected_seconds == remaining_hours * 3600
    assert after.latest_start == NOW + HOUR + (4 - remaining_hours) * HOUR


def test_the_interruption_of_a_part_that_was_preempted_is_a_preemption() -> None:
    interrupted = AttemptResult(outcome=Outcome.INTERRUPTED, error=Failure(type="Interrupted", message="SIGTERM"))
    part = running(checkpoint="s3", preempt_reason="x needs its slot")
    after, decision = decide_part(part, interrupted, now=NOW, uniform=lambda low, _high: low)
    assert decision.attempt.outcome is Outcome.PREEMPTED
    assert decision.attempt.error == Failure(type="Preempted", message="x needs its slot")
    assert (decision.status, decision.reason) == (Status.RETRYING, "x needs its slot")
    assert after.expected_seconds == 3 * 3600


@pytest.mark.parametrize("outcome", [Outcome.SUCCEEDED, Outcome.FAILED, Outcome.LOST])
def test_any_other_end_of_a_part_that_was_preempted_keeps_its_outcome(outcome: Outcome) -> None:
    result = AttemptResult(outcome=outcome)
    _, decision = decide_part(
        running(preempt_reason="x needs its slot"), result, now=NOW, uniform=lambda low, _high: low
    )
    assert decision.attempt.outcome is outcome
