from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Outcome
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.part_decision import decide_part
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def running(*, checkpoint: str | None) -> Part:
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
