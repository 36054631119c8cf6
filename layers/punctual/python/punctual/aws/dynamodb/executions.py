"""Executions, as those see them who plan, queue and run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from punctual.aws.dynamodb.execution_item import as_text, attempts_text, execution_to_item, item_to_execution
from punctual.aws.dynamodb.execution_table import CLEARED, HELD, WATCHED, ExecutionTable, key_of
from punctual.aws.dynamodb.items import Item, instant_of, instant_text
from punctual.aws.dynamodb.table import Written
from punctual.domain.executions.attempt_decision import AttemptDecision
from punctual.domain.executions.deadline_outlook import DeadlineState, danger_of
from punctual.domain.executions.execution import Attempt, Execution, Hold, Origin, Planned, Progress
from punctual.domain.executions.horizon import LEASE
from punctual.domain.executions.timer import Timer, TimerReason, shard_of
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.identity import due_key, due_of, execution_id
from punctual.domain.instant import MILLISECOND, from_text
from punctual.domain.jobs.gate import Gate
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, LIVE, Status, sources_of

T = TypeVar("T")

PARALLEL = 8
"""How many of the many small writes of a sweep or a plan are under way at once."""


@dataclass(frozen=True)
class DynamoExecutions(ExecutionTable):
    def add(self, execution: Execution) -> Execution | None:
        standing = self.table.put_new(self._item(execution), key="execution_id")
        return None if standing is None else item_to_execution(standing)

    def replace(self, execution: Execution) -> bool:
        return self.table.put_if(
            self._item(execution),
            "#revision < :revision AND #attempt = :none AND #status IN (:scheduled, :queued, :waiting)"
            " AND attribute_not_exists(#run_arn)",
            {
                "revision": execution.revision,
                "none": 0,
                "scheduled": str(Status.SCHEDULED),
                "queued": str(Status.QUEUED),
                "waiting": str(Status.WAITING),
            },
        )

    def add_all(self, executions: Iterable[Execution]) -> None:
        self._each(self.add, list(executions))

    def queue(self, timer: Timer, now: datetime) -> bool:
        """Each reason moves what waits for it and nothing else: an old timer must not touch a later rest."""
        waits_in, also, values = _what_waits_for(timer)
        return self._move(
            {"job_id": timer.job_id, "execution_id": timer.execution_id},
            Status.QUEUED,
            {"queued_at": instant_text(now)},
            sources=waits_in,
            also=also,
            values=values,
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

    def miss(self, job_id: str, execution_id: str, reason: str, now: datetime) -> bool:
        key = {"job_id": job_id, "execution_id": execution_id}
        return self._leave_out(key, Status.MISSED, {"reason": reason}, now)

    def withdrawn(self, job_id: str, due: datetime) -> bool:
        one = self.get(job_id, execution_id(job_id, due))
        return one is not None and one.status is Status.CANCELLED and one.attempt == 0

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
            only=["execution_id", "scheduled_at", "revision", "origin", "status", "attempt", "queued_at", "lane"],
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
                    Lane(item["lane"]),
                )

    def claim(self, order: WorkOrder, worker_id: str, now: datetime) -> tuple[Execution | None, Execution | None]:
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
            key_of(lapsed),
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
            key_of(execution),
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

    def conclude(self, execution: Execution, decision: AttemptDecision, now: datetime) -> bool:
        in_time = "attribute_not_exists(#cancel_at)"
        if decision.status is Status.RETRYING:  # what was asked to stop is not tried again
            return self._conclude(execution, decision, now, f"#attempt = :attempt AND {in_time}", {}).won
        also = f"#attempt = :attempt AND ({in_time} OR #cancel_at >= :now)"
        return self._conclude(execution, decision, now, also, {"now": instant_text(now)}).won

    def revoke(self, execution: Execution, attempt: Attempt, now: datetime) -> bool:
        decision = AttemptDecision(status=Status.CANCELLED, reason=execution.cancel_reason, attempt=attempt)
        also = "#attempt = :attempt AND attribute_exists(#cancel_at)"
        return self._conclude(execution, decision, now, also, {}).won

    def give_up(self, lapsed: Execution, decision: AttemptDecision, now: datetime) -> bool:
        still_lapsed = "#attempt = :attempt AND #lease_until = :lease"
        lease = {"lease": instant_text(lapsed.lease_until)}
        return self._conclude(lapsed, decision, now, still_lapsed, lease).won

    def running(self, shard: int) -> Iterator[Execution]:
        pages = self.table.query("#running_shard = :shard", {"shard": str(shard)}, index="running")
        for page in pages:
            yield from self.get_many(item["execution_id"] for item in page)

    def ends_its_job(self, job_id: str, execution_id: str) -> bool:
        return self._mark_live({"job_id": job_id, "execution_id": execution_id}, {"once": True, "aftermath": True}).won

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
        self, execution: Execution, decision: AttemptDecision, now: datetime, also: str, values: Item
    ) -> Written:
        final = decision.status in FINAL
        error, result = decision.attempt.error, decision.result
        changes = {
            "reason": decision.reason,
            "retry_at": instant_text(decision.retry_at),
            "attempts": attempts_text((*execution.attempts, decision.attempt)),
            "error": as_text(error),
            "result": as_text(result),
            "ended_at": instant_text(now) if final else None,
            "expires_at": self._expiry(now) if final else None,
        }
        return self._move(
            key_of(execution),
            decision.status,
            changes,
            remove=["running_shard", "lease_until", *(() if error else ("error",)), *(WATCHED if final else ())],
            also=also,
            values={"attempt": execution.attempt, **values},
        )

    def _each(self, act: Callable[[Any], T], things: list[Any]) -> list[T]:
        if PARALLEL == 1 or len(things) < 2:
            return [act(thing) for thing in things]
        from concurrent.futures import ThreadPoolExecutor  # slow to import, and few calls need it

        with ThreadPoolExecutor(PARALLEL) as pool:
            return list(pool.map(act, things))


def _what_waits_for(timer: Timer) -> tuple[tuple[Status, ...], str, Item]:
    """In which statuses, under which condition."""
    if timer.reason is TimerReason.DUE:  # by its jitter: with another one it has another timer
        delay = round((timer.at - due_of(timer.execution_id)) / MILLISECOND)
        if delay:
            return (Status.SCHEDULED,), "#delay_ms = :delay", {"delay": delay}
        return (Status.SCHEDULED,), "attribute_not_exists(#delay_ms)", {}
    at = {"at": instant_text(timer.at)}
    if timer.reason is TimerReason.RETRY:  # also one whose start a rate limit has put off
        return (Status.RETRYING, Status.QUEUED), "#retry_at = :at", at
    return (Status.WAITING,), f"#look_at = :at AND {HELD}", at
