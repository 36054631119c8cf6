"""Admission round: one pass over the lane, triggered by changed parts or by the tick of every minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.stages.long_lane.admit import Admission
    from punctual.stages.long_lane.execution_sync import ExecutionSync
    from punctual.stages.long_lane.grant import GrantSender
    from punctual.stages.long_lane.lease_watch import LeaseWatch


@dataclass(frozen=True, kw_only=True)
class RoundReport:
    """The parts that a round acted on."""

    granted: list[Part] = field(default_factory=list)
    preempted: list[Part] = field(default_factory=list)
    expired: list[Part] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class AdmissionRound:
    grants: GrantSender
    executions: ExecutionSync
    leases: LeaseWatch
    admission: Admission

    def run(self, changed: Sequence[Part], *, is_tick: bool) -> RoundReport:
        """Send the grants of parts that got a slot, update their executions, then give free slots and make room.

        Grants come first: a state machine run waits for each. Leases are checked on a tick only. Room is made last, for
        the parts at risk that found no free slot. Idempotent: after a crash the same records are delivered again.
        """
        for part in changed:
            if part.status is Status.STARTING:
                self.grants.send(part)
        self.executions.update(changed)
        expired = self.leases.tick() if is_tick else []
        granted = self.admission.admit(part for part in changed if part.status is Status.WAITING)
        return RoundReport(granted=granted, preempted=self.admission.make_room(), expired=expired)
