"""Where a long execution stands, as told by its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from punctual.domain.executions.execution import Attempt, Failure, Progress, Result
from punctual.domain.instant import to_text
from punctual.domain.long_lane.part import COLLECT, WHOLE, Part
from punctual.domain.status import FINAL, Status

_FOREMOST = (Status.RUNNING, Status.STARTING, Status.WAITING, Status.RETRYING)
"""An execution is what the most advanced of its living parts is."""


@dataclass(frozen=True, kw_only=True)
class Standing:
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
class Ending(Standing):
    """How an execution ended. All of its parts have."""

    result: Result | None = None


def standing_of(parts: Sequence[Part]) -> Standing | None:
    """How an execution with these parts stands; ``None`` when none of them has asked for a slot yet or all ended."""
    statuses = Counter(part.status for part in parts)
    status = next((one for one in _FOREMOST if statuses[one]), None)
    if status is None:
        return None
    if [part.name for part in parts] == [WHOLE]:
        return _standing_of_one(parts[0])
    started = _starts(parts)
    return Standing(
        status=status,
        reason=_reason(statuses),
        attempt=1 if started else 0,
        started_at=min(started, default=None),
        progress=_progress(parts),
    )


def ending_of(parts: Sequence[Part], result: Result | None) -> Ending:
    """How an execution ended whose parts all have. ``result`` is what came of it, if they all succeeded."""
    bad = [part for part in parts if part.status is not Status.SUCCEEDED]
    if [part.name for part in parts] == [WHOLE]:
        [part] = parts
        first = part.attempts[0].started_at if part.attempts else part.started_at
        return Ending(
            status=part.status,
            reason=part.reason,
            attempt=part.attempt,
            attempts=part.attempts,
            started_at=first,
            worker_id=part.worker_id,
            progress=part.progress,
            error=part.error,
            result=result if not bad else part.result,
        )
    started = _starts(parts)
    return Ending(
        status=_worst(bad),
        reason=f"{len(bad)} of {len(parts)} parts did not succeed: {_names(bad)}" if bad else None,
        attempt=1 if started else 0,
        started_at=min(started, default=None),
        progress=_progress(parts),
        error=next((part.error for part in bad if part.error), None),
        result=result if not bad else None,
    )


def _starts(parts: Sequence[Part]) -> list[datetime]:
    """Of all their attempts. One that was granted another slot has not started in it yet."""
    started = [attempt.started_at for part in parts for attempt in part.attempts if attempt.started_at]
    return started + [part.started_at for part in parts if part.started_at]


def _worst(bad: Sequence[Part]) -> Status:
    statuses = {part.status for part in bad}
    if not statuses:
        return Status.SUCCEEDED
    return statuses.pop() if len(statuses) == 1 else Status.FAILED


def _names(parts: Sequence[Part]) -> str:
    shown = [part.name for part in parts[:5]]
    return ", ".join(shown) + (" …" if len(parts) > len(shown) else "")


def _standing_of_one(part: Part) -> Standing:
    first = part.attempts[0].started_at if part.attempts else None
    return Standing(
        status=part.status,
        reason=_why(part),
        attempt=part.attempt,
        attempts=part.attempts,
        started_at=first or part.started_at,
        retry_at=part.retry_at,
        worker_id=part.worker_id,
        progress=part.progress,
        error=part.error,
    )


def _why(part: Part) -> str | None:
    match part.status:
        case Status.WAITING:
            waits = f"waits for a slot; the latest safe start is {to_text(part.latest_start)}"
            return f"{part.reason}; {waits}" if part.reason else waits
        case Status.STARTING:
            return "its container is starting"
        case Status.RUNNING:
            return f"asked to leave: {part.leave}" if part.leave else None
        case _:
            return part.reason


def _reason(statuses: Counter[Status]) -> str:
    counts = [f"{count} {status}" for status in Status if (count := statuses[status])]
    return f"parts: {', '.join(counts)}"


def _progress(parts: Sequence[Part]) -> Progress:
    """Each partition counts the same, whatever it says of itself; the collecting step is not among them."""
    partitions = [part for part in parts if part.name != COLLECT]
    done = sum(part.status in FINAL for part in partitions)
    share = sum(_share(part) for part in partitions) / len(partitions)
    message = f"{done} of {partitions[0].count} partitions done"
    return Progress(percent=round(share, 1), message=message, done=done, total=partitions[0].count)


def _share(part: Part) -> float:
    if part.status in FINAL:
        return 100.0
    return part.progress.percent if part.progress else 0.0
