"""The retry policy: the number of attempts and the backoff between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with full jitter.

    The delay before attempt *n + 1* is uniformly distributed between 0 and
    ``backoff_seconds * backoff_rate ** (n - 1)``, capped by ``max_backoff_seconds``.
    """

    max_attempts: int = 3
    backoff_seconds: float = 10
    backoff_rate: float = 2
    max_backoff_seconds: float = 3600

    def allows_after(self, attempt: int) -> bool:
        """Whether another attempt follows attempt number ``attempt``."""
        return attempt < self.max_attempts

    def max_backoff(self, attempt: int) -> float:
        """The maximum delay in seconds after attempt ``attempt``. Never overflows."""
        delay = self.backoff_seconds
        for _ in range(attempt - 1):
            if delay >= self.max_backoff_seconds:
                break
            delay *= self.backoff_rate
        return min(delay, self.max_backoff_seconds)

    def backoff(self, attempt: int, uniform: Callable[[float, float], float]) -> timedelta:
        """The delay after attempt ``attempt``; ``uniform(a, b)`` draws the jitter."""
        return timedelta(seconds=uniform(0, self.max_backoff(attempt)))
