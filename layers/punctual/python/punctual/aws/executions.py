"""The executions table. Each method that changes something is one conditional write of one item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from punctual.aws.execution_item import as_text, attempts_text, execution_to_item, item_to_execution, outlook_text
from punctual.aws.items import Item, instant_of, instant_text
from punctual.aws.table import Table, Written
from punctual.domain.check import Check
from punctual.domain.execution import Attempt, Execution, Hold, Origin, Planned, Progress
from punctual.domain.gate import Entrant, Gate
from punctual.domain.horizon import LEASE
from punctual.domain.identity import due_key, job_of
from punctual.domain.instant import MILLISECOND, from_text
from punctual.domain.lane import Lane
from punctual.domain.order import Order
from punctual.domain.outlook import DeadlineState, Outlook, danger_of, dangers_of
from punctual.domain.settlement import Settlement
from punctual.domain.status import FINAL, FOLLOWING, LIVE, Status, sources_of
from punctual.domain.timer import Timer, TimerReason, shard_of

if TYPE_CHECKING:
    from punctual.domain.standing import Ending, Standing

T = TypeVar("T")

WATCHED = ("check_shard", "check_at", "deadline_shard")
"""Only an execution that lives is watched for its deadline."""

HELD = "attribute_exists(#depends_on) AND attribute_not_exists(#cleared)"
"""It waits for what it depends on."""
CLEARED = "(attribute_not_exists(#depends_on) OR attribute_exists(#cleared))"

PARALLEL = 8
"""How many of the many small writes of a sweep or a plan are under way at once."""


_AWAITING = {
    TimerReason.DUE: ((Status.SCHEDULED,), ""),
    # also one whose start a rate limit has put off
    TimerReason.RETRY: ((Status.RETRYING, Status.QUEUED), "#retry_at = :at"),
    TimerReason.UPSTREAM: ((Status.WAITING,), f"#look_at = :at AND {HELD}"),
}


@dataclass(frozen=True)
class DynamoExecutions:
    table: Table
    shards: int
    retention: timedelta

    def add(self, execution: Execution) -> Execution | None:
        standing = self.table.put_new(self._item(execution), key="execution_id")
        return None if standing is None else item_to_execution(standing)

    def replace(self, execution: Execution) -> bool:
        return self.table.put_if(
            self._item(execution),
            "#revision < :revision AND #attempt = :none AND #status IN (:scheduled, :queued, :waiting)"
            " AND attribute_not_exists(#conductor)",
            {
                "revision": execution.revision,
                "none": 0,
                "scheduled": str(Status.SCHEDULED),
                "queued": str(Status.QUEUED),
                "waiting": str(Status.WAITING),
            },
        )

    def get(self, job_id: str, execution_id: str) -> Execution | None:
        item = self.table.get({"job_id": job_id, "execution_id": execution_id}, consistent=True)
        return None if item is None else item_to_execution(item)

    def get_many(self, execution_ids: Iterable[str]) -> list[Execution]:
        keys = ({"job_id": job_of(one), "execution_id": one} for one in execution_ids)
        return [item_to_execution(item) for item in self.table.get_many(keys)]

    def add_all(self, executions: Iterable[Execution]) -> None:
        self._each(self.add, list(executions))

    def queue(self, timer: Timer, now: datetime) -> bool:
        """Each reason moves what waits for it and nothing else: an old timer must not touch a later rest."""
        waits_in, also = _AWAITING[timer.reason]
        return self._move(
            {"job_id": timer.job_id, "execution_id": timer.execution_id},
            Status.QUEUED,
            {"queued_at": instant_text(now)},
            sources=waits_in,
            also=also,
            values={"at": instant_text(timer.at)} if also else {},
        ).won

    def queue_all(self, timers: Iterable[Timer], now: datetime) -> int:
        return sum(self._each(lambda timer: self.queue(timer, now), list(timers)))

    def unplan(self, job_id: str, execution_id: str, revision: int) -> bool:
        return self.table.delete_if(
            {"job_id": job_id, "execution_id": execution_id},
            "#attempt = :none AND #revision = :revision AND #status IN (:scheduled, :queued, :waiting)",
            {
                "none": 0,
                "revision": revision,
                "scheduled": str(Status.SCHEDULED),
                "queued": str(Status.QUEUED),
                "waiting": str(Status.WAITING),
            },
        )

    def skip(self, job_id: str, execution_id: str, reason: str, now: datetime, covered_by: str | None = None) -> bool:
        key = {"job_id": job_id, "execution_id": execution_id}
        return self._leave_out(key, Status.SKIPPED, {"reason": reason, "covered_by": covered_by}, now)

    def miss(self, job_id: str, execution_id: str, reason: str, now: datetime) -> bool:
        key = {"job_id": job_id, "execution_id": execution_id}
        return self._leave_out(key, Status.MISSED, {"reason": reason}, now)

    def skip_entrant(self, entrant: Entrant, reason: str, now: datetime) -> bool:
        key, unchanged, values = _of(entrant)
        return self._leave_out(key, Status.SKIPPED, {"reason": reason}, now, unchanged, values)

    def _leave_out(
        self, key: Item, status: Status, why: Item, now: datetime, unchanged: str = "", values: Item | None = None
    ) -> bool:
        ending = {**why, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        gone = ["retry_at", "long_shard", "waits_at", "turn", "look_at", *WATCHED]
        also = " AND ".join(filter(None, ["#attempt = :none", unchanged]))
        return self._move(key, status, ending, remove=gone, also=also, values={"none": 0, **(values or {})}).won

    def cancel(self, execution: Execution, reason: str, now: datetime) -> Execution | None:
        ending = {"reason": reason, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        gone = ["retry_at", "long_shard", "running_shard", "waits_at", "turn", *WATCHED]
        sources = LIVE if execution.lane is Lane.LONG else LIVE - {Status.RUNNING}
        written = self._move(_key(execution), Status.CANCELLED, ending, remove=gone, sources=sources)
        return item_to_execution(written.item) if written.won else None

    def ask_to_stop(self, execution: Execution, until: datetime, reason: str) -> Execution | None:
        written = self.table.update(
            _key(execution),
            set={"cancel_at": instant_text(until), "cancel_reason": reason},
            condition="#status = :running AND attribute_not_exists(#cancel_at)",
            values={"running": str(Status.RUNNING)},
        )
        if not written.item:
            return None
        standing = item_to_execution(written.item)
        return standing if standing.status is Status.RUNNING and standing.cancel_at else None

    def wait(self, entrant: Entrant, gate: str, reason: str) -> bool:
        key, unchanged, values = _of(entrant)
        return self._move(
            key,
            Status.WAITING,
            {"waits_at": gate, "turn": entrant.turn, "reason": reason},
            # when its turn comes, another state machine run carries it, and another start is reserved
            remove=["retry_at", "rate_at", "conductor"],
            add={"restarts": 1},
            sources=[Status.QUEUED, Status.RETRYING, Status.WAITING],
            also=unchanged,
            values=values,
        ).won

    def wake(self, job_id: str, execution_id: str, now: datetime) -> bool:
        return self._move(
            {"job_id": job_id, "execution_id": execution_id},
            Status.QUEUED,
            {"woken_at": instant_text(now)},
            remove=["waits_at", "turn", "reason"],
            sources=[Status.WAITING],
            also="attribute_exists(#waits_at)",
        ).won

    def put_off(self, entrant: Entrant, until: datetime, reason: str) -> bool:
        key, unchanged, values = _of(entrant)
        at = instant_text(until)
        return self._move(
            key,
            Status.QUEUED,
            {"retry_at": at, "rate_at": at, "reason": reason},
            remove=["waits_at", "turn"],
            # one that waits got in just as it stood in line
            sources=[Status.QUEUED, Status.RETRYING, Status.WAITING],
            also=f"{unchanged} AND (#status <> :waiting OR attribute_exists(#waits_at))",
            values={**values, "waiting": str(Status.WAITING)},
        ).won

    def last_planned(self, job_id: str, before: datetime) -> datetime | None:
        pages = self.table.query(
            "#job_id = :job_id AND #execution_id < :before",
            {"job_id": job_id, "before": f"{due_key(before)}~"},
            only=["execution_id", "scheduled_at"],
            descending=True,
            consistent=True,
            page_size=20,
        )
        # the schedule's own have no more than the instant and the job in their id
        own = (item for page in pages for item in page if item["execution_id"].endswith(f"-{job_id}"))
        last = next(own, None)
        return from_text(last["scheduled_at"]) if last else None

    def live_of(self, job_id: str, since: datetime) -> Iterator[Planned]:
        pages = self.table.query(
            "#job_id = :job_id AND #execution_id >= :since",
            {"job_id": job_id, "since": due_key(since)},
            only=["execution_id", "scheduled_at", "revision", "origin", "status", "attempt", "queued_at"],
            where={"status": [str(status) for status in LIVE]},
            descending=True,
            consistent=True,
        )
        for page in pages:
            for item in page:
                yield Planned(
                    item["execution_id"],
                    from_text(item["scheduled_at"]),
                    item["revision"],
                    Status(item["status"]),
                    item["attempt"],
                    Origin(item.get("origin", Origin.SCHEDULE)),
                    instant_of(item.get("queued_at")),
                )

    def claim(self, order: Order, worker_id: str, now: datetime) -> tuple[Execution | None, Execution | None]:
        written = self._move(
            {"job_id": order.job_id, "execution_id": order.execution_id},
            Status.RUNNING,
            self._lease(order.execution_id, order.attempt, worker_id, now, order.gates),
            remove=["retry_at", "reason", "progress", "waits_at", "turn", "rate_at"],
            sources=[source for source in sources_of(Status.RUNNING) if source is not Status.RUNNING],
            # An order that was sent while the attempt before still ran must not cut its rest short; one that was sent
            # before an edit must not go by the rules of then, or overtake what the execution waits for since.
            also="#attempt = :attempt_before AND (attribute_not_exists(#retry_at) OR #retry_at <= :now)"
            f" AND #revision = :revision AND (#status <> :waiting OR attribute_exists(#waits_at)) AND {CLEARED}",
            values={
                "attempt_before": order.attempt - 1,
                "now": instant_text(now),
                "revision": order.revision,
                "waiting": str(Status.WAITING),
            },
        )
        if not written.item:  # the execution has expired, or never was
            return None, None
        execution = item_to_execution(written.item)
        return (execution, None) if written.won else (None, execution)

    def take_over(self, lapsed: Execution, lost: Attempt, worker_id: str, now: datetime) -> Execution | None:
        attempts = {"attempts": attempts_text((*lapsed.attempts, lost))}
        written = self._move(
            _key(lapsed),
            Status.RUNNING,
            self._lease(lapsed.execution_id, lapsed.attempt + 1, worker_id, now, lapsed.gates) | attempts,
            remove=["progress"],
            sources=[Status.RUNNING],
            also="#attempt = :attempt_before AND #lease_until = :lease",
            values={"attempt_before": lapsed.attempt, "lease": instant_text(lapsed.lease_until)},
        )
        return item_to_execution(written.item) if written.won else None

    def renew(self, execution: Execution, now: datetime, progress: Progress | None) -> Hold:
        written = self.table.update(
            _key(execution),
            set={
                "lease_until": instant_text(now + LEASE),
                "progress": as_text(progress),
                "progress_at": instant_text(now) if progress else None,
            },
            condition="#status = :running AND #attempt = :attempt",
            values={"running": str(Status.RUNNING), "attempt": execution.attempt},
        )
        if not written.won:
            return Hold.LOST
        return Hold.STOPPING if "cancel_at" in written.item else Hold.KEPT

    def conclude(self, execution: Execution, settlement: Settlement, now: datetime) -> bool:
        also = "#attempt = :attempt"
        if settlement.status is Status.RETRYING:  # what was asked to stop is not tried again
            also = f"{also} AND attribute_not_exists(#cancel_at)"
        return self._conclude(execution, settlement, now, also, {}).won

    def revoke(self, execution: Execution, attempt: Attempt, now: datetime) -> bool:
        settlement = Settlement(status=Status.CANCELLED, reason=execution.cancel_reason, attempt=attempt)
        also = "#attempt = :attempt AND attribute_exists(#cancel_at)"
        return self._conclude(execution, settlement, now, also, {}).won

    def give_up(self, lapsed: Execution, settlement: Settlement, now: datetime) -> bool:
        still_lapsed = "#attempt = :attempt AND #lease_until = :lease"
        lease = {"lease": instant_text(lapsed.lease_until)}
        return self._conclude(lapsed, settlement, now, still_lapsed, lease).won

    def conduct(self, job_id: str, execution_id: str, conductor: str, now: datetime) -> Execution | None:
        """Let a state machine run carry an execution through the long lane, and no other; ``None`` for another."""
        key = {"job_id": job_id, "execution_id": execution_id}
        written = self._move(
            key,
            Status.QUEUED,
            {"queued_at": instant_text(now), "conductor": conductor},
            sources=LIVE,  # one that was restarted may have been told of its parts meanwhile
            also=f"attribute_not_exists(#conductor) AND #lane = :lane AND {CLEARED}",
            values={"lane": str(Lane.LONG)},
        )
        if not written.item:
            return None
        execution = item_to_execution(written.item)
        return execution if execution.conductor == conductor and execution.status not in FINAL else None

    def change_conductor(self, execution: Execution, now: datetime) -> bool:
        """Free an execution whose state machine run is gone for another; ``False`` when it has one already."""
        return self._move(
            _key(execution),
            Status.QUEUED,
            {
                "queued_at": instant_text(now),
                "reason": "its state machine stopped and is started again",
                "restarts": execution.restarts + 1,
            },
            remove=["conductor", "running_shard", "retry_at"],
            sources=LIVE,
            also="#conductor = :conductor" if execution.conductor else "attribute_not_exists(#conductor)",
            values={"conductor": execution.conductor} if execution.conductor else {},
        ).won

    def follow(self, job_id: str, execution_id: str, standing: Standing, told_at: datetime | None) -> bool:
        running = standing.status is Status.RUNNING
        told = {
            "reason": standing.reason,
            "attempt": standing.attempt,
            "attempts": attempts_text(standing.attempts) if standing.attempts else None,
            "started_at": instant_text(standing.started_at),
            "retry_at": instant_text(standing.retry_at),
            "worker_id": standing.worker_id,
            "progress": as_text(standing.progress),
            "progress_at": instant_text(told_at),
            "error": as_text(standing.error),
            "running_shard": str(shard_of(execution_id, self.shards)) if running else None,
        }
        missing = [name for name in ("reason", "retry_at", "error", "running_shard", "progress") if told[name] is None]
        key = {"job_id": job_id, "execution_id": execution_id}
        return self._move(key, standing.status, told, remove=missing, sources=FOLLOWING).won

    def close(self, execution: Execution, ending: Ending, now: datetime) -> bool:
        """End an execution of the long lane; ``False`` when it has ended already."""
        changes = {
            "reason": ending.reason,
            "attempt": ending.attempt,
            "attempts": attempts_text(ending.attempts) if ending.attempts else None,
            "started_at": instant_text(ending.started_at),
            "worker_id": ending.worker_id,
            "error": as_text(ending.error),
            "result": as_text(ending.result),
            "progress": as_text(ending.progress),
            "ended_at": instant_text(now),
            "expires_at": self._expiry(now),
        }
        gone = ["running_shard", "long_shard", "retry_at", *WATCHED]
        gone += [name for name in ("reason", "error") if changes[name] is None]
        return self._move(_key(execution), ending.status, changes, remove=gone, sources=FOLLOWING).won

    def live_long(self) -> Iterator[Execution]:
        """The executions of the long lane that have not ended."""
        for shard in range(self.shards):
            for page in self.table.query("#long_shard = :shard", {"shard": str(shard)}, index="long"):
                yield from self.get_many(item["execution_id"] for item in page)

    def note_outlook(self, execution: Execution, outlook: Outlook, check_at: datetime | None) -> bool:
        assert execution.deadline_at is not None
        return self.table.update(
            _key(execution),
            set={
                "outlook": outlook_text(outlook),
                "danger": danger_of(outlook.state, execution.deadline_at, execution.execution_id),
                "check_at": instant_text(check_at),
            },
            remove=[] if check_at else ["check_at", "check_shard"],
            condition="#check_at = :expected",
            values={"expected": instant_text(execution.check_at)},
        ).won

    def to_check(self, shard: int, until: datetime) -> Iterator[Check]:
        pages = self.table.query(
            "#check_shard = :shard AND #check_at <= :until",
            {"shard": str(shard), "until": instant_text(until)},
            index="checks",
        )
        for page in pages:
            for item in page:
                yield Check(job_id=item["job_id"], execution_id=item["execution_id"], at=from_text(item["check_at"]))

    def oldest_check(self, shard: int) -> datetime | None:
        condition, values = "#check_shard = :shard", {"shard": str(shard)}
        page = next(self.table.query(condition, values, index="checks", page_size=1))
        return from_text(page[0]["check_at"]) if page else None

    def count_in(self, state: DeadlineState) -> int:
        low, high = dangers_of(state)
        values = {"low": low, "high": high}
        condition = "#deadline_shard = :shard AND #danger BETWEEN :low AND :high"
        return sum(
            self.table.count(condition, {"shard": str(shard), **values}, index="deadlines")
            for shard in range(self.shards)
        )

    def count_running(self) -> int:
        condition = "#running_shard = :shard"
        return sum(self.table.count(condition, {"shard": str(s)}, index="running") for s in range(self.shards))

    def running(self, shard: int) -> Iterator[Execution]:
        pages = self.table.query("#running_shard = :shard", {"shard": str(shard)}, index="running")
        for page in pages:
            yield from self.get_many(item["execution_id"] for item in page)

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        keys = ({"job_id": job_of(one), "execution_id": one} for one in dict.fromkeys(execution_ids))
        items = self.table.get_many(keys, consistent=True)
        return {item["execution_id"]: item_to_execution(item) for item in items}

    def listen(self, execution: Execution) -> Execution | None:
        written = self._mark_live(_key(execution), {"feeds": True, "aftermath": True})
        return item_to_execution(written.item) if written.item else None

    def ends_its_job(self, job_id: str, execution_id: str) -> bool:
        return self._mark_live({"job_id": job_id, "execution_id": execution_id}, {"once": True, "aftermath": True}).won

    def _mark_live(self, key: Item, mark: Item) -> Written:
        return self.table.update(
            key,
            set=mark,
            condition=f"#status IN ({', '.join(f':{status}' for status in LIVE)})",
            values={str(status): str(status) for status in LIVE},
        )

    def hold(self, execution: Execution, reason: str, look_at: datetime) -> bool:
        changes = {"reason": reason, "look_at": instant_text(look_at)}
        return self._move_held(execution, Status.WAITING, changes, sources=[Status.QUEUED]).won

    def clear(self, execution: Execution) -> bool:
        written = self._move_held(execution, Status.QUEUED, {"cleared": True}, sources=[Status.QUEUED])
        return bool(written.item.get("cleared")) and written.item["status"] == Status.QUEUED

    def release(self, execution: Execution, now: datetime) -> bool:
        # another instant than before, also for one that was queued at this very moment: that is what sets it on its way
        later = max(now, (execution.queued_at or now) + MILLISECOND)
        changes = {"cleared": True, "queued_at": instant_text(later)}
        return self._move_held(execution, Status.QUEUED, changes, remove=["reason", "look_at"]).won

    def look_again(self, execution: Execution, now: datetime) -> bool:
        changes = {"queued_at": instant_text(now)}
        return self._move_held(execution, Status.QUEUED, changes, sources=[Status.WAITING]).won

    def pass_over(self, execution: Execution, reason: str, now: datetime) -> bool:
        ending = {"reason": reason, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        gone = ["look_at", "long_shard", *WATCHED]
        return self._move_held(execution, Status.SKIPPED, ending, remove=gone).won

    def _move_held(
        self,
        execution: Execution,
        target: Status,
        changes: Item,
        *,
        remove: Iterable[str] = (),
        sources: Iterable[Status] = (Status.QUEUED, Status.WAITING),
    ) -> Written:
        """Only what still waits for its upstreams, under the rules that it was judged by."""
        return self._move(
            _key(execution),
            target,
            changes,
            remove=remove,
            sources=sources,
            also=f"#revision = :revision AND {HELD}",
            values={"revision": execution.revision},
        )

    def _item(self, execution: Execution) -> Item:
        shard = str(shard_of(execution.execution_id, self.shards))
        item = execution_to_item(execution)
        if execution.lane is Lane.LONG and execution.status not in FINAL:
            item["long_shard"] = shard
        if execution.deadline_at is not None and execution.status not in FINAL:
            item["check_shard"] = item["deadline_shard"] = shard
            state = execution.outlook.state if execution.outlook else DeadlineState.ON_TRACK
            item["danger"] = danger_of(state, execution.deadline_at, execution.execution_id)
        return item

    def _lease(self, execution_id: str, attempt: int, worker_id: str, now: datetime, gates: Iterable[Gate]) -> Item:
        """Who runs inside the gate of its job is found by that, and needs no place in an index of those who run."""
        indexed = not any(gate.of_job for gate in gates)
        return {
            "attempt": attempt,
            "started_at": instant_text(now),
            "worker_id": worker_id,
            "lease_until": instant_text(now + LEASE),
            "running_shard": str(shard_of(execution_id, self.shards)) if indexed else None,
        }

    def _conclude(
        self, execution: Execution, settlement: Settlement, now: datetime, also: str, values: Item
    ) -> Written:
        final = settlement.status in FINAL
        error, result = settlement.attempt.error, settlement.result
        changes = {
            "reason": settlement.reason,
            "retry_at": instant_text(settlement.retry_at),
            "attempts": attempts_text((*execution.attempts, settlement.attempt)),
            "error": as_text(error),
            "result": as_text(result),
            "ended_at": instant_text(now) if final else None,
            "expires_at": self._expiry(now) if final else None,
        }
        return self._move(
            _key(execution),
            settlement.status,
            changes,
            remove=["running_shard", "lease_until", *(() if error else ("error",)), *(WATCHED if final else ())],
            also=also,
            values={"attempt": execution.attempt, **values},
        )

    def _move(
        self,
        key: Item,
        target: Status,
        changes: Item,
        *,
        remove: Iterable[str] = (),
        add: Mapping[str, int] = MappingProxyType({}),
        sources: Iterable[Status] | None = None,
        also: str = "",
        values: Item | None = None,
    ) -> Written:
        """The only way a status changes: from one that may become ``target``, under a further condition if any."""
        origins = {f"from_{source}": str(source) for source in sources or sources_of(target)}
        condition = f"#status IN ({', '.join(f':{name}' for name in origins)})" + (f" AND {also}" if also else "")
        changes = {"status": str(target), **changes}
        values = {**origins, **(values or {})}
        change = self.table.change(key, set=changes, remove=remove, add=add, condition=condition, values=values)
        return self.table.apply(change)

    def _expiry(self, now: datetime) -> int:
        return int((now + self.retention).timestamp())

    def _each(self, act: Callable[[Any], T], things: list[Any]) -> list[T]:
        if PARALLEL == 1 or len(things) < 2:
            return [act(thing) for thing in things]
        from concurrent.futures import ThreadPoolExecutor  # slow to import, and few calls need it

        with ThreadPoolExecutor(PARALLEL) as pool:
            return list(pool.map(act, things))


def _key(execution: Execution) -> Item:
    return {"job_id": execution.job_id, "execution_id": execution.execution_id}


def _of(entrant: Entrant) -> tuple[Item, str, Item]:
    """Its key, and the condition that it is still what it was sent as: by these rules, for this attempt."""
    key = {"job_id": job_of(entrant.execution_id), "execution_id": entrant.execution_id}
    condition = "#revision = :revision AND #attempt = :tried"
    return key, condition, {"revision": entrant.revision, "tried": entrant.tried}
