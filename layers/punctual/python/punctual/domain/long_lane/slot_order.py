"""Who gets the next slots of the long lane: the rule that admission applies, for requests that foresee its decision."""

from __future__ import annotations

from collections.abc import Iterable

from punctual.domain.long_lane.laxity import LaneLimits, Occupancy
from punctual.domain.long_lane.part import Part


def next_grants(waiting: Iterable[Part], occupancy: Occupancy, limits: LaneLimits) -> list[Part]:
    """The first of ``waiting``, in admission order, that fit into the lane.

    A part that does not fit blocks those behind it. A part that is larger than the whole lane is left out.
    """
    granted: list[Part] = []
    for part in waiting:
        if part.cpu > limits.cpu:
            continue
        occupancy = occupancy.plus(part.cpu)
        if not limits.allow(occupancy):
            break
        granted.append(part)
        if limits.are_reached_by(occupancy):
            break
    return granted
