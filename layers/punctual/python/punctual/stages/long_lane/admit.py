"""Admit: give the slots of the long lane to the parts with the least laxity, and preempt for a part at risk.

Several admissions may run at once. A slot is given by compare-and-swap on the lane's occupancy; after a lost race the
lane is read again. An admission reads at most one waiting part more than it has slots to give: its cost does not grow
with the queue.

A part that is already too late keeps its place at the head of the queue. If parts that can still meet
their deadline overtook it, one deadline in five would be saved when the lane is far too small. But forecasts err, so
some deadlines would be lost whenever the lane is large enough, and the overtaken parts would be late by days instead of
hours (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from heapq import merge
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from punctual.domain.long_lane.laxity import LaneLimits, Occupancy, SlotResult, admission_key, pace, slack
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Containers, Slots

MAX_LANE_READS = 20
"""Reads of the lane per admission. Each conflict means that another admission made progress and goes on; the next tick
is the last resort."""

AT_RISK_HORIZON = timedelta(minutes=10)
"""A waiting part whose latest start lies within this is at risk of missing its deadline, if no slot is free."""

RESCUE_LIMIT = timedelta(minutes=10)
"""A part whose latest start passed longer ago than this misses its deadline anyway: no part is preempted for it."""

PREEMPTION_MARGIN = timedelta(minutes=30)
"""The slack beyond ``AT_RISK_HORIZON`` that a part must have to be preempted: it starts twice, and waits for a slot
again."""

MAX_AT_RISK_PARTS = 20
"""Waiting parts examined per call of ``make_room``."""


@dataclass(frozen=True)
class Admission:
    slots: Slots
    containers: Containers
    limits: LaneLimits
    clock: Clock
    new_key: Callable[[], str]

    def admit(self, requesting: Iterable[Part] = ()) -> list[Part]:
        """Give the free slots to the waiting parts with the least laxity. Returns the parts that got one.

        ``requesting`` are parts that have just requested a slot: the index of waiting parts may not contain them yet.
        """
        newest = sorted(requesting, key=_admission_key)
        admitted: list[Part] = []
        for _ in range(MAX_LANE_READS):
            if self._grant_free_slots(newest, admitted) is not SlotResult.CONTENDED:
                break
        return admitted

    def make_room(self) -> list[Part]:
        """Preempt preemptible parts with slack in favour of parts that would otherwise miss their deadlines.

        Parts ahead in the queue that are already too late take their slots first, so room is made for them too. If
        preemption cannot free enough, no part is preempted. Returns the preempted parts.
        """
        now = self.clock()
        waiting = islice(self._waiting_in_order(), MAX_AT_RISK_PARTS)
        at_risk = list(takewhile(lambda part: part.latest_start <= now + AT_RISK_HORIZON, waiting))
        if not any(_can_be_rescued(part, now) for part in at_risk):
            return []
        projected = self.slots.occupancy()
        if self.limits.allow(reduce(_plus, at_risk, projected)):
            return []
        holders = list(self.slots.holders())
        for part in holders:
            if (
                part.preempt_reason
            ):  # an earlier admission may have crashed before it stopped the container: repeat the stop
                self._stop(part, part.preempt_reason)
            if part.preempt_reason or part.cancel_at:
                projected = projected.minus(part.cpu)
        candidates = sorted((part for part in holders if _can_be_preempted(part, now)), key=lambda one: slack(one, now))
        return list(self._preempt(at_risk, projected, candidates, now))

    def _grant_free_slots(self, newest: list[Part], admitted: list[Part]) -> SlotResult | None:
        """Grant slots until the next part does not fit, no part waits, or a race is lost (``CONTENDED``)."""
        seen = self.slots.occupancy()
        if self.limits.are_reached_by(seen):
            return None
        for part in self._waiting_in_order(newest):
            now = self.clock()
            start_at, next_start = pace(seen.next_start, now, self.limits.starts_per_second)
            after = seen.plus(part.cpu, next_start)
            if not self.limits.allow(after):  # no smaller part overtakes it: it would starve
                return None
            grant = self.slots.allocate(part, start_at=start_at, key=self.new_key(), seen=seen, after=after, now=now)
            if grant is SlotResult.CONTENDED:
                return grant
            if grant is SlotResult.GRANTED:
                seen = after
                admitted.append(part)
                if self.limits.are_reached_by(seen):
                    return None
        return None

    def _waiting_in_order(self, newest: Sequence[Part] = ()) -> Iterator[Part]:
        """The waiting parts, each once, least laxity first, except parts larger than the whole lane."""
        waiting = merge(self.slots.waiting(), newest, key=_admission_key) if newest else self.slots.waiting()
        known: set[tuple[str, str]] = set()
        for part in waiting:
            identity = (part.execution_id, part.name)
            if part.cpu <= self.limits.cpu and identity not in known:
                known.add(identity)
                yield part

    def _preempt(
        self, at_risk: list[Part], projected: Occupancy, candidates: list[Part], now: datetime
    ) -> Iterator[Part]:
        for part in at_risk:
            projected = _plus(projected, part)
            if self.limits.allow(projected) or not _can_be_rescued(part, now):
                continue
            for victim in self._choose_victims(projected, candidates):
                candidates.remove(victim)
                projected = projected.minus(victim.cpu)
                reason = f"execution {part.execution_id} needs its slot to be in time"
                if self.slots.preempt(victim, reason, now):
                    self._stop(victim, f"preempted for {part.execution_id}")
                    yield victim

    def _choose_victims(self, projected: Occupancy, candidates: list[Part]) -> list[Part]:
        """The candidates with the most slack, as few as suffice; none if all of them do not suffice."""
        chosen: list[Part] = []
        for part in reversed(candidates):
            if not self.limits.allow(projected):
                chosen.append(part)
                projected = projected.minus(part.cpu)
        if not self.limits.allow(projected):
            return []
        for part in chosen[::-1]:  # a large part chosen last may make smaller ones before it unnecessary
            if self.limits.allow(_plus(projected, part)):
                chosen.remove(part)
                projected = _plus(projected, part)
        return chosen

    def _stop(self, part: Part, reason: str) -> None:
        if part.task_arn:
            self.containers.stop(part.task_arn, reason)


def _can_be_rescued(part: Part, now: datetime) -> bool:
    return part.latest_start >= now - RESCUE_LIMIT


def _can_be_preempted(part: Part, now: datetime) -> bool:
    if part.preempt_reason is not None or part.cancel_at is not None:  # it was preempted or cancelled already
        return False
    has_slack = slack(part, now) > AT_RISK_HORIZON + PREEMPTION_MARGIN
    return part.preemptible and part.status is Status.RUNNING and has_slack


def _admission_key(part: Part) -> str:
    assert part.requested_at is not None, "a waiting part has requested a slot"
    return admission_key(part, part.requested_at)


def _plus(occupancy: Occupancy, part: Part) -> Occupancy:
    return occupancy.plus(part.cpu)
