"""Why AWS did not start a container: no capacity, or a quota. Such an attempt waits, and is not the task's fault."""

from __future__ import annotations

import re
from collections.abc import Sequence

from punctual.domain.executions.execution import Attempt, Outcome

FIRST_DELAY_SECONDS = 30
MAX_DELAY_SECONDS = 900
MAX_IN_A_ROW = 100
"""A day with these delays. After it, the failure counts as an attempt, so that the retry rule ends the wait."""

_QUOTA_OF_SPOT = "Fargate Spot vCPU resource count (L-36FBB829)"
_QUOTA_ON_DEMAND = "Fargate On-Demand vCPU resource count (L-3032A538)"
_NO_CAPACITY = re.compile(r"capacity is unavailable|insufficient capacity|\"(resource:(cpu|memory|eni|gpu)|agent)\"")
_QUOTA = re.compile(r"limit on the number of (vcpus|tasks)|servicequotaexceeded|ecs\.limitexceeded")
_THROTTLED = re.compile(r"throttl|rate exceeded")
_FAULTY = re.compile(r"ecs\.(server|sdkclient)exception")


def shortage_in(error: str, cause: str, *, spot: bool) -> str | None:
    """What AWS lacked, in words for users; ``None`` if the start failed for another reason, such as its image.

    ``error`` and ``cause`` are those of RunTask or of a task that stopped before its container started. AWS documents
    the texts of ``cause``, but no codes.
    """
    text = f"{error} {cause}".lower()
    if _QUOTA.search(text):
        quota = _QUOTA_OF_SPOT if spot else _QUOTA_ON_DEMAND
        return f"the account's quota is used up: request more of {quota}, or lower `long.vcpus` of the stage"
    if _NO_CAPACITY.search(text):
        return f"AWS has no {'Spot ' if spot else ''}capacity of Fargate at the moment"
    if error and _THROTTLED.search(text):  # a registry, too, throttles the pull of an image
        return "ECS throttles the starts of containers: lower `long.starts_per_second` of the stage"
    if _FAULTY.search(text):
        return "ECS did not answer the request to start a container"
    return None


def delay_seconds(earlier: Sequence[Attempt]) -> float | None:
    """The delay before the next start; ``None`` after ``MAX_IN_A_ROW`` attempts that were not started."""
    in_a_row = 0
    for attempt in reversed(earlier):
        if attempt.outcome is not Outcome.NOT_STARTED:
            break
        in_a_row += 1
    if in_a_row >= MAX_IN_A_ROW:
        return None
    return float(min(FIRST_DELAY_SECONDS * 2 ** min(in_a_row, 10), MAX_DELAY_SECONDS))
