"""How often a failed execution is tried again, and how long it rests in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with full jitter: the rest before attempt *n + 1* is uniform between nothing and
    ``backoff_seconds * backoff_rate ** (n - 1)``, capped by ``max_backoff_seconds``."""

    max_attempts: int = 3
    backoff_seconds: float = 10
    backoff_rate: float = 2
    max_backoff_seconds: float = 3600

    def allows_after(self, attempt: int) -> bool:
        """Whether there is an attempt after number ``attempt``."""
        return attempt < self.max_attempts

    def longest_rest(self, attempt: int) -> float:
        """The most seconds that may pass after attempt ``attempt`` failed. Never overflows."""
        rest = self.backoff_seconds
        for _ in range(attempt - 1):
            if rest >= self.max_backoff_seconds:
                break
            rest *= self.backoff_rate
        return min(rest, self.max_backoff_seconds)

    def rest(self, attempt: int, uniform: Callable[[float, float], float]) -> timedelta:
        """How long to rest after attempt ``attempt`` failed; ``uniform(a, b)`` draws the jitter."""
        return timedelta(seconds=uniform(0, self.longest_rest(attempt)))
