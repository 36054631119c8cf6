"""How far a running task says that it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

LONGEST_MESSAGE = 500


@dataclass(frozen=True, kw_only=True)
class Progress:
    """``done`` of ``total`` are units of the task's own choosing: rows, files, days."""

    percent: float
    message: str = ""
    done: float | None = None
    total: float | None = None


def progress_of(
    percent: float | None = None, message: str = "", done: float | None = None, total: float | None = None
) -> Progress:
    """What a task reported, fit to be stored: within 0 to 100 percent, with a message of at most 500 characters.

    Without ``percent`` it is ``done`` of ``total``. Raises ``ValueError`` when neither says how far the task is.
    """
    if not all(isfinite(number) for number in (percent, done, total) if number is not None):
        raise ValueError("progress must be told in numbers, not NaN or infinity")
    if total is not None and total <= 0:
        raise ValueError(f"total must be more than 0, not {total}")
    if percent is None:
        if total is None:
            raise ValueError("give percent, or done and total")
        percent = 100 * (done or 0) / total
    return Progress(
        percent=min(max(float(percent), 0.0), 100.0),
        message=str(message)[:LONGEST_MESSAGE],
        done=None if done is None else float(done),
        total=None if total is None else float(total),
    )
