"""The progress that a running task reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

MAX_MESSAGE_LENGTH = 500


@dataclass(frozen=True, kw_only=True)
class Progress:
    """``done`` and ``total`` are in units of the task's choice, such as rows, files or days."""

    percent: float
    message: str = ""
    done: float | None = None
    total: float | None = None


def progress_of(
    percent: float | None = None, message: str = "", done: float | None = None, total: float | None = None
) -> Progress:
    """Normalise a task's report for storage: percent clamped to 0 to 100, message cut to 500 characters.

    Without ``percent`` it is computed from ``done`` and ``total``. Raises ``ValueError`` if neither is given, or for a
    number that is not finite.
    """
    if not all(isfinite(number) for number in (percent, done, total) if number is not None):
        raise ValueError("progress must be finite numbers, not NaN or infinity")
    if total is not None and total <= 0:
        raise ValueError(f"total must be greater than 0, not {total}")
    if percent is None:
        if total is None:
            raise ValueError("give percent, or done and total")
        percent = 100 * (done or 0) / total
    return Progress(
        percent=min(max(float(percent), 0.0), 100.0),
        message=str(message)[:MAX_MESSAGE_LENGTH],
        done=None if done is None else float(done),
        total=None if total is None else float(total),
    )


def completed(progress: Progress | None) -> Progress:
    """Return the progress of work that has succeeded: all of it is done, whatever was reported last."""
    if progress is None:
        return Progress(percent=100.0)
    return replace(progress, percent=100.0, done=progress.done if progress.total is None else progress.total)
