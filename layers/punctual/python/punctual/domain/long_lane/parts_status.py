"""Derives the status and the outcome of a long execution from its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from punctual.domain.executions.execution import Attempt, Failure, Result
from punctual.domain.executions.progress import Progress
from punctual.domain.instant import to_text
from punctual.domain.long_lane.part import COLLECT, WHOLE, Part
from punctual.domain.status import FINAL, Status

_MOST_ADVANCED_FIRST = (Status.RUNNING, Status.STARTING, Status.WAITING, Status.RETRYING)
"""An execution has the status of its most advanced live part: the first of these that occurs."""


@dataclass(frozen=True, kw_only=True)
class PartsStatus:
    """The fields of a live execution that are derived from its parts."""

    status: Status
    reason: str | None = None
    attempt: int = 0
    attempts: tuple[Attempt, ...] = ()
    started_at: datetime | None = None
    retry_at: datetime | None = None
    worker_id: str | None = None
    progress: Progress | None = None
    error: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class PartsOutcome(PartsStatus):
    """The fields of an ended execution."""

    result: Result | None = None


def status_of_parts(parts: Sequence[Part]) -> PartsStatus | None:
    """Return the status of an execution with these parts; ``None`` if none has asked for a slot or all have ended."""
    statuses = Counter(part.status for part in parts)
    status = next((one for one in _MOST_ADVANCED_FIRST if statuses[one]), None)
    if status is None:
        return None
    if [part.name for part in parts] == [WHOLE]:
        return _status_of_single_part(parts[0])
    started = _starts(parts)
    return PartsStatus(
        status=status,
        reason=_counts_reason(statuses),
        attempt=1 if started else 0,
        started_at=min(started, default=None),
        progress=_progress(parts),
    )


def are_all_created(parts: Sequence[Part]) -> bool:
    """Whether every partition has its part: a conductor may crash while it creates them."""
    return bool(parts) and sum(part.name != COLLECT for part in parts) == parts[0].count


def outcome_when_cancelled(parts: Sequence[Part], reason: str | None) -> PartsOutcome:
    """Return the outcome of an execution that was cancelled and has not succeeded. Its parts may not have ended."""
    return replace(outcome_of_parts(parts, None), status=Status.CANCELLED, reason=reason)


def outcome_of_parts(parts: Sequence[Part], result: Result | None) -> PartsOutcome:
    """Return the outcome of an execution whose parts have all ended. ``result`` applies if all succeeded."""
    unsuccessful = [part for part in parts if part.status is not Status.SUCCEEDED]
    if [part.name for part in parts] == [WHOLE]:
        [part] = parts
        first = part.attempts[0].started_at if part.attempts else part.started_at
        return PartsOutcome(
            status=part.status,
            reason=part.reason,
            attempt=part.attempt,
            attempts=part.attempts,
            started_at=first,
            worker_id=part.worker_id,
            progress=part.progress,
            error=part.error,
            result=result if not unsuccessful else part.result,
        )
    started = _starts(parts)
    return PartsOutcome(
        status=_worst_status(unsuccessful),
        reason=_failure_reason(unsuccessful, len(parts)) if unsuccessful else None,
        attempt=1 if started else 0,
        started_at=min(started, default=None),
        progress=_progress(parts),
        error=next((part.error for part in unsuccessful if part.error), None),
        result=result if not unsuccessful else None,
    )


def _starts(parts: Sequence[Part]) -> list[datetime]:
    """Return the starts of all attempts. A part that was granted a new slot may not have started in it yet."""
    started = [attempt.started_at for part in parts for attempt in part.attempts if attempt.started_at]
    return started + [part.started_at for part in parts if part.started_at]


def _worst_status(unsuccessful: Sequence[Part]) -> Status:
    statuses = {part.status for part in unsuccessful}
    if not statuses:
        return Status.SUCCEEDED
    return statuses.pop() if len(statuses) == 1 else Status.FAILED


def _failure_reason(unsuccessful: Sequence[Part], total: int) -> str:
    shown = [part.name for part in unsuccessful[:5]]
    names = ", ".join(shown) + (" …" if len(unsuccessful) > len(shown) else "")
    return f"{len(unsuccessful)} of {total} parts did not succeed: {names}"


def _status_of_single_part(part: Part) -> PartsStatus:
    first = part.attempts[0].started_at if part.attempts else None
    return PartsStatus(
        status=part.status,
        reason=_single_part_reason(part),
        attempt=part.attempt,
        attempts=part.attempts,
        started_at=first or part.started_at,
        retry_at=part.retry_at,
        worker_id=part.worker_id,
        progress=part.progress,
        error=part.error,
    )


def _single_part_reason(part: Part) -> str | None:
    match part.status:
        case Status.WAITING:
            waits = f"waits for a slot; the latest safe start is {to_text(part.latest_start)}"
            return f"{part.reason}; {waits}" if part.reason else waits
        case Status.STARTING:
            return "the container is starting"
        case Status.RUNNING:
            return f"asked to stop at its next checkpoint: {part.preempt_reason}" if part.preempt_reason else None
        case _:
            return part.reason


def _counts_reason(statuses: Counter[Status]) -> str:
    counts = [f"{count} {status}" for status in Status if (count := statuses[status])]
    return f"parts: {', '.join(counts)}"


def _progress(parts: Sequence[Part]) -> Progress:
    """Average the progress of the partitions. Each has the same weight, and ``collect`` is not included."""
    partitions = [part for part in parts if part.name != COLLECT]
    done = sum(part.status in FINAL for part in partitions)
    percent = sum(_percent(part) for part in partitions) / len(partitions)
    message = f"{done} of {partitions[0].count} partitions done"
    return Progress(percent=round(percent, 1), message=message, done=done, total=partitions[0].count)


def _percent(part: Part) -> float:
    if part.status in FINAL:
        return 100.0
    return part.progress.percent if part.progress else 0.0
