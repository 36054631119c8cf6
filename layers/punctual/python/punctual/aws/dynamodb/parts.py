"""The parts table, and in it the occupancy record of the long lane.

A part acquires and releases its slot in one transaction with that record, so parts and occupancy always agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.execution_item import as_text, attempts_text
from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.part_item import item_to_part
from punctual.aws.dynamodb.table import Table, transact
from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.progress import Progress
from punctual.domain.instant import from_text
from punctual.domain.long_lane.assignment import Assignment
from punctual.domain.long_lane.laxity import Occupancy, SlotResult
from punctual.domain.long_lane.part import Part
from punctual.domain.status import FINAL, SLOT_HOLDING_STATUSES, Status, sources_of

LANE = "long"
LANE_KEY = {"execution_id": "#lane", "part": LANE}
PARTS_PER_PAGE = 50
NEVER = "never"
PREEMPTION = ("preempt_reason", "preempt_requested_at")
"""Removed when the attempt that was asked to release its slot has ended."""
START_LEASE = timedelta(minutes=10)
"""How long a container may take to start, from the granted instant on: longer than Step Functions waits for its first
heartbeat. A part that is ``starting`` for longer has lost its state machine run."""


@dataclass(frozen=True)
class DynamoParts:
    table: Table
    retention: timedelta

    def get(self, execution_id: str, name: str) -> Part | None:
        item = self.table.get({"execution_id": execution_id, "part": name}, consistent=True)
        return None if item is None else item_to_part(item)

    def of(self, execution_id: str) -> list[Part]:
        pages = self.table.query("#execution_id = :id", {"id": execution_id}, consistent=True)
        return [item_to_part(item) for page in pages for item in page]

    def waiting(self) -> Iterator[Part]:
        for page in self.table.query("#waiting = :lane", {"lane": LANE}, index="waiting", page_size=PARTS_PER_PAGE):
            yield from (item_to_part(item) for item in page)

    def holders(self) -> Iterator[Part]:
        for page in self.table.query("#holding = :lane", {"lane": LANE}, index="holding"):
            keys = ({"execution_id": item["execution_id"], "part": item["part"]} for item in page)
            parts = (item_to_part(item) for item in self.table.get_many(keys, consistent=True))
            yield from (part for part in parts if part.status in SLOT_HOLDING_STATUSES)

    def occupancy(self) -> Occupancy:
        item = self.table.get(LANE_KEY, consistent=True) or {}
        paced = item.get("next_start", NEVER)
        return Occupancy(
            tasks=item.get("tasks", 0), cpu=item.get("cpu", 0), next_start=None if paced == NEVER else from_text(paced)
        )

    def allocate(
        self, part: Part, *, start_at: datetime, key: str, seen: Occupancy, after: Occupancy, now: datetime
    ) -> SlotResult:
        taken = self.table.update_request(
            LANE_KEY, set=_occupancy_item(after), condition=_UNCHANGED, values=_occupancy_item(seen)
        )
        given = self._transition(
            part,
            Status.STARTING,
            {
                "attempt": part.attempt + 1,
                "key": key,
                "granted_at": instant_text(now),
                "start_at": instant_text(start_at),
                "holding": LANE,
                "lease_until": instant_text(start_at + START_LEASE),
            },
            remove=[
                "waiting",
                "admission_key",
                "started_at",
                "tokens",
                "task_arn",
                "claimed_by",
                *PREEMPTION,
                "progress",
                "reason",
            ],
        )
        part_held, lane_held = transact(self.table.client, [{"Update": given}, {"Update": taken}])
        if part_held and lane_held:
            return SlotResult.GRANTED
        return SlotResult.CONTENDED if part_held else SlotResult.NOT_WAITING

    def claim(
        self, assignment: Assignment, token: str, task_arn: str | None, lease: datetime | None, now: datetime
    ) -> Part | None:
        container = task_arn or token
        request = self.table.update_request(
            _assigned_key(assignment),
            set={
                "status": str(Status.RUNNING),
                "started_at": instant_text(now),
                "task_arn": task_arn,
                "claimed_by": container,
                "lease_until": instant_text(lease),
            },
            remove=[] if lease else ["lease_until"],
            add={"tokens": frozenset({token})} if token else {},
            condition="#attempt = :attempt AND #key = :key"
            " AND (#status = :starting OR (#status = :running AND #claimed_by = :container))",
            values={
                "attempt": assignment.attempt,
                "key": assignment.key,
                "container": container,
                "starting": str(Status.STARTING),
                "running": str(Status.RUNNING),
            },
        )
        written = self.table.apply(request)
        return item_to_part(written.item) if written.applied else None

    def add_token(self, assignment: Assignment, token: str) -> bool:
        request = self.table.update_request(
            _assigned_key(assignment), add={"tokens": frozenset({token})}, **_running_condition(assignment)
        )
        return self.table.apply(request).applied

    def renew(self, assignment: Assignment, lease: datetime, progress: Progress | None) -> Part | None:
        """Extend the lease and store the progress; ``None`` for a container that has lost its lease."""
        return self._update_running(assignment, {"lease_until": instant_text(lease), "progress": as_text(progress)})

    def record_checkpoint(self, assignment: Assignment, location: str, lease: datetime) -> Part | None:
        return self._update_running(assignment, {"lease_until": instant_text(lease), "checkpoint": location})

    def preempt(self, part: Part, reason: str, now: datetime) -> bool:
        return self.table.update(
            _key(part),
            set={"preempt_reason": reason, "preempt_requested_at": instant_text(now)},
            condition="#status = :running AND #attempt = :attempt AND attribute_not_exists(#preempt_reason)",
            values={"running": str(Status.RUNNING), "attempt": part.attempt},
        ).applied

    def ask_to_stop(self, part: Part, until: datetime, reason: str) -> bool:
        """Ask a running part to stop by ``until``, without a retry. Idempotent.

        ``False`` if the part is not running this attempt.
        """
        return self.table.update(
            _key(part),
            set={"cancel_at": instant_text(until), "cancel_reason": reason},
            condition="#status = :running AND #attempt = :attempt",
            values={"running": str(Status.RUNNING), "attempt": part.attempt},
        ).applied

    def conclude(self, part: Part, decision: AttemptDecision, now: datetime, *, unless_renewed: bool = False) -> bool:
        """Apply the end of an attempt and release its slot; ``False`` if it was already applied.

        ``unless_renewed``: only if the lease is still the one in ``part``.
        """
        final = decision.status in FINAL
        error = decision.attempt.error
        # a part that was asked to stop is not retried
        conditions = ["attribute_not_exists(#cancel_at)"] if decision.status is Status.RETRYING else []
        conditions += ["#lease_until = :lease_until"] if unless_renewed else []
        ended = self._transition(
            part,
            decision.status,
            {
                "reason": decision.reason,
                "retry_at": instant_text(decision.retry_at),
                "attempts": attempts_text((*part.attempts, decision.attempt)),
                "expected_seconds": part.expected_seconds,
                "latest_start": instant_text(part.latest_start),
                "error": as_text(error),
                "result": as_text(decision.result),
                "ended_at": instant_text(now) if final else None,
                "expires_at": self._expiry(now) if final else None,
            },
            remove=["holding", "lease_until", "tickets", "key", *PREEMPTION]
            + ([] if error is not None else ["error"])
            + ([] if decision.reason is not None else ["reason"]),
            sources=SLOT_HOLDING_STATUSES,
            also=conditions,
            values={"lease_until": instant_text(part.lease_until)} if unless_renewed else {},
        )
        return all(transact(self.table.client, [{"Update": ended}, {"Update": self._slot_release(part)}]))

    def cancel(self, part: Part, reason: str, now: datetime) -> bool:
        """Cancel a part in any status and release its slot if it holds one; ``False`` if its status has changed."""
        ending = {"reason": reason, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        removed = ["holding", "waiting", "admission_key", "lease_until", "tickets", "key", *PREEMPTION, "retry_at"]
        ended = self._transition(part, Status.CANCELLED, ending, remove=removed, sources=[part.status])
        if part.status in SLOT_HOLDING_STATUSES:
            return all(transact(self.table.client, [{"Update": ended}, {"Update": self._slot_release(part)}]))
        return self.table.apply(ended).applied

    def cancel_slot_request(self, part: Part, reason: str, now: datetime) -> bool:
        changes = {"reason": reason, "retry_at": instant_text(now)}
        removed = ["waiting", "admission_key", "tickets"]
        return self._move(part, Status.RETRYING, changes, remove=removed, sources=[Status.WAITING])

    def fail_waiting(self, part: Part, reason: str, now: datetime) -> bool:
        """End a part that never acquired a slot."""
        ending = {"reason": reason, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        return self._move(
            part, Status.FAILED, ending, remove=["waiting", "admission_key", "tickets"], sources=[Status.WAITING]
        )

    def recount(self, seen: Occupancy, holders: Iterable[Part]) -> bool:
        """Set the occupancy to the sum over ``holders``, if it is still as ``seen`` (compare-and-swap)."""
        holders = list(holders)
        return self.table.update(
            LANE_KEY,
            set={"tasks": len(holders), "cpu": sum(part.cpu for part in holders)},
            condition=_UNCHANGED,
            values=_occupancy_item(seen),
        ).applied

    def _update_running(self, assignment: Assignment, changes: Item) -> Part | None:
        written = self.table.update(_assigned_key(assignment), set=changes, **_running_condition(assignment))
        return item_to_part(written.item) if written.applied else None

    def _slot_release(self, part: Part) -> dict[str, Any]:
        return self.table.update_request(LANE_KEY, add={"tasks": -1, "cpu": -part.cpu})

    def _move(
        self, part: Part, target: Status, changes: Item, *, remove: Iterable[str] = (), sources: Iterable[Status]
    ) -> bool:
        return self.table.apply(self._transition(part, target, changes, remove=remove, sources=sources)).applied

    def _transition(
        self,
        part: Part,
        target: Status,
        changes: Item,
        *,
        remove: Iterable[str] = (),
        add: Mapping[str, Any] = MappingProxyType({}),
        sources: Iterable[Status] | None = None,
        also: Iterable[str] = (),
        values: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Build the update to ``target`` if the attempt is unchanged and the current status is in ``sources``.

        ``sources`` defaults to all statuses with a transition to ``target``. ``also`` are further conditions.
        """
        origins = {f"from_{source}": str(source) for source in sources or sources_of(target)}
        condition = f"#attempt = :attempt AND #status IN ({', '.join(f':{name}' for name in origins)})"
        return self.table.update_request(
            _key(part),
            set={"status": str(target), **changes},
            remove=remove,
            add=add,
            condition=" AND ".join([condition, *also]),
            values={"attempt": part.attempt, **origins, **values},
        )

    def _expiry(self, now: datetime) -> int:
        return int((now + self.retention).timestamp())


def _assigned_key(assignment: Assignment) -> Item:
    return {"execution_id": assignment.execution_id, "part": assignment.part}


def _running_condition(assignment: Assignment) -> dict[str, Any]:
    """The condition that the part still runs the assigned attempt."""
    values = {"running": str(Status.RUNNING), "attempt": assignment.attempt, "key": assignment.key}
    return {"condition": "#status = :running AND #attempt = :attempt AND #key = :key", "values": values}


def _key(part: Part) -> Item:
    return {"execution_id": part.execution_id, "part": part.name}


def _occupancy_item(occupancy: Occupancy) -> Item:
    return {
        "tasks": occupancy.tasks,
        "cpu": occupancy.cpu,
        "next_start": instant_text(occupancy.next_start) or NEVER,
    }


_UNCHANGED = (
    "(attribute_not_exists(#tasks) OR #tasks = :tasks) AND (attribute_not_exists(#cpu) OR #cpu = :cpu)"
    " AND (attribute_not_exists(#next_start) OR #next_start = :next_start)"
)


if TYPE_CHECKING:
    from punctual.ports.long_lane import Parts, RecountableSlots, RunningParts

    _parts: type[Parts] = DynamoParts
    _running_parts: type[RunningParts] = DynamoParts
    _recountable_slots: type[RecountableSlots] = DynamoParts
