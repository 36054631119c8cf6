"""How an attempt ended whose container did not say so itself: told from what AWS says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Failure, Outcome
from punctual.domain.long_lane.part import Part

STOPPED = "Punctual.Stopped"
"""The container stopped without a word. The cause is JSON: its exit code, and the reason that ECS gives."""
LOST = "Punctual.Lost"
"""The container fell silent: its lease has lapsed."""
CANCELLED = "Punctual.Cancelled"
"""The container was asked to stop, and has not in the time that it was given."""
IMPOSSIBLE = "Punctual.Impossible"
"""No container can be started for it, now or later."""


def cause_of_stop(task: Mapping[str, Any]) -> str:
    """What ECS says of a stopped task, as the cause of a ``STOPPED`` error."""
    container: Mapping[str, Any] = next(iter(task.get("containers") or ()), {})
    return json.dumps(
        {
            "exit_code": container.get("exitCode"),
            "reason": container.get("reason") or task.get("stoppedReason") or "",
            "stop_code": task.get("stopCode") or "",
        }
    )


def verdict_on(part: Part, error: Mapping[str, str]) -> AttemptResult:
    """``error`` is what its state machine caught: an ``Error`` and a ``Cause``."""
    if part.cancel_at is not None:
        return AttemptResult(outcome=Outcome.CANCELLED)
    name, cause = error.get("Error", ""), error.get("Cause", "")
    match name:
        case "States.Timeout":
            message = f"stopped after {part.timeout_seconds} seconds"
            return AttemptResult(outcome=Outcome.TIMED_OUT, error=Failure(type="TimedOut", message=message))
        case "States.HeartbeatTimeout" if not part.reports:  # it does not beat: this is its time-out
            return verdict_on(part, {"Error": "States.Timeout"})
        case "States.HeartbeatTimeout" | "":
            return _lost("the container stopped beating and did not say how it ended")
        case "Punctual.Lost":
            return _lost(cause)
        case "Punctual.Stopped":
            return _stopped(part, cause)
        case "Punctual.Impossible":
            return AttemptResult(outcome=Outcome.FATAL, error=Failure(type="Impossible", message=cause[:1000]))
        case _:  # the container could not be started: in AWS's own words
            return AttemptResult(outcome=Outcome.FAILED, error=Failure(type=name, message=cause[:1000]), words=cause)


def _lost(message: str) -> AttemptResult:
    return AttemptResult(outcome=Outcome.LOST, error=Failure(type="LostContainer", message=message))


def _stopped(part: Part, cause: str) -> AttemptResult:
    said = _read(cause)
    code, reason = said.get("exit_code"), said.get("reason") or "no reason given"
    message = f"the container stopped with exit code {code}: {reason}" if code is not None else str(reason)
    if part.leave:
        return AttemptResult(outcome=Outcome.PREEMPTED, error=Failure(type="Preempted", message=part.leave))
    if code == 0 and not part.reports:
        return AttemptResult(outcome=Outcome.SUCCEEDED)
    if said.get("stop_code") in ("SpotInterruption", "TerminationNotice", "UserInitiated"):
        return AttemptResult(outcome=Outcome.INTERRUPTED, error=Failure(type="Interrupted", message=message))
    outcome = Outcome.FAILED if not part.reports else Outcome.LOST
    failure = Failure(type="ContainerStopped", message=message[:1000])
    return AttemptResult(outcome=outcome, error=failure, words=message)


def _read(cause: str) -> dict[str, Any]:
    try:
        said = json.loads(cause)
    except ValueError:
        return {"reason": cause}
    return said if isinstance(said, dict) else {"reason": cause}
