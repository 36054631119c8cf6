"""The exponential backoff after which SQS delivers a failed message again."""

from __future__ import annotations

from datetime import timedelta

MAX_DOUBLINGS = 10
"""Limits the exponent, not the delay: each caller's longest delay is reached earlier."""


def redelivery_delay(deliveries: int, shortest: timedelta, longest: timedelta) -> timedelta:
    """Return the delay before the next delivery: ``shortest`` after the first one, and doubled after each further one.

    Never more than ``longest``.
    """
    doublings = min(deliveries - 1, MAX_DOUBLINGS)
    return min(shortest * (1 << doublings), longest)
