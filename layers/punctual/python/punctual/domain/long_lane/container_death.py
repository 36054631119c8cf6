"""Infers the result of an attempt whose container ended without a final report, from what AWS reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Failure, Outcome
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.start_failure import delay_seconds, shortage_in

STOPPED = "Punctual.Stopped"
"""The container stopped without a final report. The cause is JSON: the exit code and the reason given by ECS."""
LOST = "Punctual.Lost"
"""The container stopped sending heartbeats: its lease has expired."""
CANCELLED = "Punctual.Cancelled"
"""The container was asked to stop and did not within the grace period."""
IMPOSSIBLE = "Punctual.Impossible"
"""No container can be started for this part, now or later."""


def cause_of_stop(task: Mapping[str, Any]) -> str:
    """Return the cause of a ``STOPPED`` error from the description of a stopped ECS task."""
    container: Mapping[str, Any] = next(iter(task.get("containers") or ()), {})
    return json.dumps(
        {
            "exit_code": container.get("exitCode"),
            "reason": container.get("reason") or task.get("stoppedReason") or "",
            "stop_code": task.get("stopCode") or "",
        }
    )


def infer_result(part: Part, error: Mapping[str, str]) -> AttemptResult:
    """Infer the result from ``error``, the ``Error`` and ``Cause`` that the state machine caught."""
    if part.cancel_at is not None:
        return AttemptResult(outcome=Outcome.CANCELLED)
    name, cause = error.get("Error", ""), error.get("Cause", "")
    match name:
        case "States.Timeout":
            message = f"stopped after {part.timeout_seconds} seconds"
            return AttemptResult(outcome=Outcome.TIMED_OUT, error=Failure(type="TimedOut", message=message))
        case "States.HeartbeatTimeout" if (
            not part.uses_runner
        ):  # such a container sends no heartbeats: this is its timeout
            return infer_result(part, {"Error": "States.Timeout"})
        case "States.HeartbeatTimeout" | "":
            return _lost("the container stopped sending heartbeats and sent no final report")
        case "Punctual.Lost":
            return _lost(cause)
        case "Punctual.Stopped":
            return _stopped(part, cause)
        case "Punctual.Impossible":
            return AttemptResult(outcome=Outcome.FATAL, error=Failure(type="Impossible", message=cause[:1000]))
        case _:  # the container could not be started: keep the message from AWS
            failed = AttemptResult(
                outcome=Outcome.FAILED, error=Failure(type=name, message=cause[:1000]), aws_message=cause
            )
            return _not_started(part, name, cause) or failed


def _not_started(part: Part, error: str, cause: str) -> AttemptResult | None:
    """The result of a start that waits for AWS; ``None`` if it failed for another reason, or has waited for a day."""
    shortage, delay = shortage_in(error, cause, spot=part.spot), delay_seconds(part.attempts)
    if shortage is None or delay is None:
        return None
    failure = Failure(type="NoCapacity", message=shortage)
    return AttemptResult(outcome=Outcome.NOT_STARTED, error=failure, retry_after_seconds=delay)


def _lost(message: str) -> AttemptResult:
    return AttemptResult(outcome=Outcome.LOST, error=Failure(type="LostContainer", message=message))


def _stopped(part: Part, cause: str) -> AttemptResult:
    stop = _parse_cause(cause)
    code, reason = stop.get("exit_code"), stop.get("reason") or "no reason given"
    message = f"the container stopped with exit code {code}: {reason}" if code is not None else str(reason)
    if code == 0 and not part.uses_runner and not part.preempt_reason:
        return AttemptResult(outcome=Outcome.SUCCEEDED)
    if part.preempt_reason or stop.get("stop_code") in ("SpotInterruption", "TerminationNotice", "UserInitiated"):
        return AttemptResult(outcome=Outcome.INTERRUPTED, error=Failure(type="Interrupted", message=message))
    if code is None and (waits := _not_started(part, "", message)):
        return waits
    outcome = Outcome.FAILED if not part.uses_runner else Outcome.LOST
    failure = Failure(type="ContainerStopped", message=message[:1000])
    return AttemptResult(outcome=outcome, error=failure, aws_message=message)


def _parse_cause(cause: str) -> dict[str, Any]:
    try:
        fields = json.loads(cause)
    except ValueError:
        return {"reason": cause}
    return fields if isinstance(fields, dict) else {"reason": cause}
