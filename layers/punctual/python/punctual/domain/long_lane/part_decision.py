"""The decision on an ended attempt of a part: its next status, and the forecast for the next attempt."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from punctual.domain.executions.attempt_decision import AttemptDecision, AttemptResult, decide
from punctual.domain.executions.execution import Failure, Outcome
from punctual.domain.long_lane.laxity import after_attempt
from punctual.domain.long_lane.part import Part


def decide_part(
    part: Part, result: AttemptResult, *, now: datetime, uniform: Callable[[float, float], float]
) -> tuple[Part, AttemptDecision]:
    """Decide what follows from ``result``, and return it with the part as it is stored.

    The interruption of a part that was asked to leave its slot is a preemption. A part that was interrupted after a
    checkpoint resumes with only the remaining work: its forecast is shorter and its latest start later. ``uniform``
    draws the jitter of the backoff.
    """
    if result.outcome is Outcome.INTERRUPTED and part.preempt_reason:
        result = AttemptResult(outcome=Outcome.PREEMPTED, error=Failure(type="Preempted", message=part.preempt_reason))
    decision = decide(part, result, now=now, uniform=uniform)
    return after_attempt(part, decision), decision
