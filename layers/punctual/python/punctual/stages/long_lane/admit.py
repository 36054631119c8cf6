"""Admit: give the slots of the long lane to those who can wait the least, and make room for one in danger.

Several admissions may run at once. A slot is given only if the lane is still as it was seen; if not, look again. Each
looks at no more of those who wait than it has slots to give, and one: what it costs does not grow with the queue.

Whoever is too late already keeps its place at the head. To let those pass who can still make it would save one deadline
in five when the lane is far too small; but forecasts err, so it loses some whenever the lane is large enough, and those
who have to stand back are late by days instead of hours (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from heapq import merge
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from punctual.domain.long_lane.laxity import Grant, LaneLimits, Occupancy, pace, slack, turn_of
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Containers, Slots

MOST_LOOKS = 20
"""Each time that the lane has changed, another admission was at work, and goes on. The next tick is the last resort."""

URGENCY = timedelta(minutes=10)
"""Whoever has to start within this is in danger when nothing is free."""

HOPE = timedelta(minutes=10)
"""Whoever should have started longer ago than this has no use for a slot that another gives up."""

MARGIN = timedelta(minutes=30)
"""What one asked to leave must have beyond ``URGENCY``: it starts twice, and waits for a slot again."""

MOST_RESCUED = 20
"""Looked at for danger in one go."""


@dataclass(frozen=True)
class Admission:
    slots: Slots
    containers: Containers
    limits: LaneLimits
    clock: Clock
    new_key: Callable[[], str]

    def admit(self, asking: Iterable[Part] = ()) -> list[Part]:
        """Give the free slots to the least laxity. Whoever got one is returned.

        ``asking`` are some who began to ask just now: those who wait are read from an index that is a moment late.
        """
        newest = sorted(asking, key=_turn)
        admitted: list[Part] = []
        for _ in range(MOST_LOOKS):
            if self._give(newest, admitted) is not Grant.CROWDED:
                break
        return admitted

    def make_room(self) -> list[Part]:
        """Have preemptible parts with slack leave for those who would otherwise miss their deadlines.

        Those ahead who are too late already take their slots first, so there has to be room for them too. If there
        are not enough who can leave, nobody has to. Whoever was asked is returned.
        """
        now = self.clock()
        danger = list(takewhile(lambda part: part.latest_start <= now + URGENCY, islice(self._in_turn(), MOST_RESCUED)))
        if not any(_can_be_saved(part, now) for part in danger):
            return []
        soon = self.slots.occupancy()
        if self.limits.hold(reduce(_plus, danger, soon)):
            return []
        holders = list(self.slots.holders())
        for part in holders:
            if part.leave:  # whoever asked it may have died before it could stop the container: again
                self._stop(part, part.leave)
            if part.leave or part.cancel_at:
                soon = soon.minus(part.cpu)
        lax = sorted((part for part in holders if _may_leave(part, now)), key=lambda part: slack(part, now))
        return list(self._rescue(danger, soon, lax, now))

    def _give(self, newest: list[Part], admitted: list[Part]) -> Grant | None:
        """One look at the lane, until nothing more fits in, nobody waits, or the lane is crowded."""
        seen = self.slots.occupancy()
        if self.limits.filled_by(seen):
            return None
        for part in self._in_turn(newest):
            now = self.clock()
            start_at, next_start = pace(seen.next_start, now, self.limits.starts_per_second)
            after = seen.plus(part.cpu, next_start)
            if not self.limits.hold(after):  # and nobody smaller passes it, or it might wait for ever
                return None
            grant = self.slots.grant(part, start_at=start_at, key=self.new_key(), seen=seen, after=after, now=now)
            if grant is Grant.CROWDED:
                return grant
            if grant is Grant.GIVEN:
                seen = after
                admitted.append(part)
                if self.limits.filled_by(seen):
                    return None
        return None

    def _in_turn(self, newest: Sequence[Part] = ()) -> Iterator[Part]:
        """Those who wait, but for any that the lane could not hold if it were empty."""
        waiting = merge(self.slots.waiting(), newest, key=_turn) if newest else self.slots.waiting()
        known: set[tuple[str, str]] = set()
        for part in waiting:
            who = (part.execution_id, part.name)
            if part.cpu <= self.limits.cpu and who not in known:
                known.add(who)
                yield part

    def _rescue(self, danger: list[Part], soon: Occupancy, lax: list[Part], now: datetime) -> Iterator[Part]:
        for part in danger:
            soon = _plus(soon, part)
            if self.limits.hold(soon) or not _can_be_saved(part, now):
                continue
            for one in self._enough(soon, lax):
                lax.remove(one)
                soon = soon.minus(one.cpu)
                if self.slots.ask_to_leave(one, f"execution {part.execution_id} needs its slot to be in time", now):
                    self._stop(one, f"preempted for {part.execution_id}")
                    yield one

    def _enough(self, soon: Occupancy, lax: list[Part]) -> list[Part]:
        """Those with the most slack, as many as have to leave; none when all of them would not do."""
        chosen: list[Part] = []
        for part in reversed(lax):
            if not self.limits.hold(soon):
                chosen.append(part)
                soon = soon.minus(part.cpu)
        if not self.limits.hold(soon):
            return []
        for part in chosen[::-1]:  # a large one may have made small ones before it needless
            if self.limits.hold(_plus(soon, part)):
                chosen.remove(part)
                soon = _plus(soon, part)
        return chosen

    def _stop(self, part: Part, reason: str) -> None:
        if part.task_arn:
            self.containers.stop(part.task_arn, reason)


def _can_be_saved(part: Part, now: datetime) -> bool:
    return part.latest_start >= now - HOPE


def _may_leave(part: Part, now: datetime) -> bool:
    asked = part.leave is not None or part.cancel_at is not None
    return part.preemptible and part.status is Status.RUNNING and not asked and slack(part, now) > URGENCY + MARGIN


def _turn(part: Part) -> str:
    assert part.asked_at is not None, "whoever waits has asked"
    return turn_of(part, part.asked_at)


def _plus(occupancy: Occupancy, part: Part) -> Occupancy:
    return occupancy.plus(part.cpu)
