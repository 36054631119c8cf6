"""Executions as the planner, the dispatcher and the worker use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from punctual.aws.dynamodb.execution_item import as_text, attempts_text, item_to_execution
from punctual.aws.dynamodb.execution_table import DEADLINE_ATTRIBUTES, IS_CLEARED, IS_HELD, ExecutionTable, key_of
from punctual.aws.dynamodb.items import Item, instant_of, instant_text
from punctual.aws.dynamodb.table import WriteResult, transact
from punctual.domain.executions.execution import Attempt, Execution, LeaseState, LiveExecution, Origin
from punctual.domain.executions.lease import LEASE_DURATION
from punctual.domain.executions.progress import Progress
from punctual.domain.executions.timer import Timer, TimerReason, shard_of
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.identity import BEYOND_ALL_IDS, due_key, due_of, execution_id, job_of
from punctual.domain.instant import MILLISECOND, from_text
from punctual.domain.jobs.gate import Gate
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, LIVE_STATUSES, Status

if TYPE_CHECKING:
    from punctual.domain.executions.attempt_decision import AttemptDecision
    from punctual.domain.jobs.job import Job
    from punctual.domain.jobs.misfire import MisfireEnding

T = TypeVar("T")
R = TypeVar("R")

MAX_PARALLEL_WRITES = 8
"""Concurrent writes of a sweep."""


class DynamoExecutions(ExecutionTable):
    def add(self, execution: Execution) -> Execution | None:
        existing = self.table.put_new(self._item(execution), key="execution_id")
        return None if existing is None else item_to_execution(existing)

    def add_once(self, execution: Execution) -> bool:
        # a transaction has a token, by which DynamoDB recognizes it if botocore repeats it
        return all(transact(self.table.client, [self.add_request(execution)]))

    def replace(self, execution: Execution) -> bool:
        return self.table.put_if(self._item(execution), *_replaceable_condition(execution))

    def queue(self, timer: Timer, now: datetime) -> bool:
        """Moves only an execution that waits for exactly this timer: a stale timer must not end a later wait."""
        sources, also, values = _timer_condition(timer)
        return self._move(
            {"job_id": timer.job_id, "execution_id": timer.execution_id},
            Status.QUEUED,
            {"queued_at": instant_text(now)},
            remove=["reason"] if timer.reason is TimerReason.DUE else [],  # a deferred execution has one
            sources=sources,
            also=also,
            values=values,
        ).applied

    def queue_all(self, timers: Iterable[Timer], now: datetime) -> int:
        return sum(_map_concurrently(lambda timer: self.queue(timer, now), list(timers)))

    def remove_planned(self, one: LiveExecution, reason: str, now: datetime) -> bool:
        return self.table.delete_if(*_removable(one)) or self.skip_covering(one, reason, now)

    def remove_request(self, one: LiveExecution) -> dict[str, Any]:
        return {"Delete": self.table.delete_request(*_removable(one))}

    def skip_covering(self, one: LiveExecution, reason: str, now: datetime) -> bool:
        """Move an execution that covers a skipped one, and has not started, to ``skipped``."""
        covers = "#attempt = :none AND #revision = :revision AND attribute_exists(#covers)"
        values = {"none": 0, "revision": one.revision}
        return self._end_unstarted(_key_of(one), Status.SKIPPED, {"reason": reason}, now, covers, values)

    def was_cancelled(self, job_id: str, due: datetime) -> bool:
        one = self.get(job_id, execution_id(job_id, due))
        return one is not None and one.status is Status.CANCELLED and one.attempt == 0

    def last_planned(self, job: Job, up_to: datetime) -> datetime | None:
        if up_to < job.scheduled_since:  # DynamoDB refuses an empty range
            return None
        pages = self.table.query(
            "#job_id = :job_id AND #execution_id BETWEEN :since AND :until",
            {"job_id": job.job_id, "since": due_key(job.scheduled_since), "until": f"{due_key(up_to)}~"},
            only=["execution_id", "scheduled_at", "revision"],
            descending=True,
            consistent=True,
            page_size=20,
        )
        # the id of a scheduled execution consists of its due instant and the job id, without a suffix
        own = (item for page in pages for item in page if item["execution_id"].endswith(f"-{job.job_id}"))
        last = next((item for item in own if item["revision"] >= job.schedule_revision), None)
        return from_text(last["scheduled_at"]) if last else None

    def live_of(self, job_id: str, since: datetime) -> Iterator[LiveExecution]:
        pages = self.table.query(
            "#job_id = :job_id AND #execution_id >= :since",
            {"job_id": job_id, "since": due_key(since)},
            only=["execution_id", "scheduled_at", "revision", "origin", "status", "attempt", "queued_at", "lane"],
            where={"status": [str(status) for status in LIVE_STATUSES]},
            descending=True,
            consistent=True,
        )
        for page in pages:
            for item in page:
                yield LiveExecution(
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
            remove=["retry_at", "reason", "progress", "rate_at"],
            sources=[Status.QUEUED, Status.RETRYING],
            # A work order sent while the previous attempt still ran must not shorten the retry backoff. A work order
            # sent before an edit must not apply the old rules, or bypass a gate or upstream that the edit added.
            also="#attempt = :attempt_before AND (attribute_not_exists(#retry_at) OR #retry_at <= :now)"
            f" AND #revision = :revision AND {IS_CLEARED}",
            values={"attempt_before": order.attempt - 1, "now": instant_text(now), "revision": order.revision},
        )
        if not written.item:  # the execution has expired, or never existed
            return None, None
        execution = item_to_execution(written.item)
        return (execution, None) if written.applied else (None, execution)

    def take_over(self, expired: Execution, lost: Attempt, worker_id: str, now: datetime) -> Execution | None:
        attempts = {"attempts": attempts_text((*expired.attempts, lost))}
        written = self._move(
            key_of(expired),
            Status.RUNNING,
            self._lease(expired.execution_id, expired.attempt + 1, worker_id, now, expired.gates) | attempts,
            remove=["progress"],
            sources=[Status.RUNNING],
            also="#attempt = :attempt_before AND #lease_until = :lease",
            values={"attempt_before": expired.attempt, "lease": instant_text(expired.lease_until)},
        )
        return item_to_execution(written.item) if written.applied else None

    def renew(self, execution: Execution, now: datetime, progress: Progress | None) -> LeaseState:
        written = self.table.update(
            key_of(execution),
            set={
                "lease_until": instant_text(now + LEASE_DURATION),
                "progress": as_text(progress),
                "progress_at": instant_text(now) if progress else None,
            },
            condition="#status = :running AND #attempt = :attempt",
            values={"running": str(Status.RUNNING), "attempt": execution.attempt},
        )
        if not written.applied:
            return LeaseState.LOST
        return LeaseState.STOPPING if "cancel_at" in written.item else LeaseState.KEPT

    def conclude(self, execution: Execution, decision: AttemptDecision, now: datetime) -> bool:
        in_time = "attribute_not_exists(#cancel_at)"
        if decision.status is Status.RETRYING:  # an execution that was asked to stop is not retried
            return self._conclude(execution, decision, now, f"#attempt = :attempt AND {in_time}", {}).applied
        also = f"#attempt = :attempt AND ({in_time} OR #cancel_at >= :now)"
        return self._conclude(execution, decision, now, also, {"now": instant_text(now)}).applied

    def revoke(self, execution: Execution, decision: AttemptDecision, now: datetime) -> bool:
        also = "#attempt = :attempt AND attribute_exists(#cancel_at)"
        return self._conclude(execution, decision, now, also, {}).applied

    def give_up(self, expired: Execution, decision: AttemptDecision, now: datetime) -> bool:
        still_expired = "#attempt = :attempt AND #lease_until = :lease"
        lease = {"lease": instant_text(expired.lease_until)}
        return self._conclude(expired, decision, now, still_expired, lease).applied

    def send_again(self, execution: Execution, now: datetime) -> bool:
        return self._move(
            key_of(execution),
            Status.QUEUED,
            {"sent_again_at": instant_text(now)},
            sources=[Status.QUEUED, Status.RETRYING],
            also="#attempt = :attempt AND #revision = :revision",
            values={"attempt": execution.attempt, "revision": execution.revision},
        ).applied

    def due_between(self, owner: str, since: datetime, until: datetime, share: int, shares: int) -> Iterator[Execution]:
        condition = "#owner = :owner AND #execution_id BETWEEN :low AND :high"
        low, high = (f"{due_key(instant)}{BEYOND_ALL_IDS}" for instant in (since, until))
        values = {"owner": owner, "low": low, "high": high}
        for page in self.table.query(condition, values, index="by_owner"):
            ids = (item["execution_id"] for item in page)
            yield from self.get_many(one for one in ids if shard_of(one, shares) == share)

    def running(self, shard: int) -> Iterator[Execution]:
        pages = self.table.query("#running_shard = :shard", {"shard": str(shard)}, index="running")
        for page in pages:
            yield from self.get_many(item["execution_id"] for item in page)

    def mark_last_of_job(self, job_id: str, execution_id: str) -> bool:
        return self._mark_if_live(
            {"job_id": job_id, "execution_id": execution_id}, {"is_last_of_job": True, "needs_follow_up": True}
        ).applied

    # writes that are part of a transaction

    def add_request(self, execution: Execution) -> dict[str, Any]:
        return {"Put": self.table.put_request(self._item(execution), "attribute_not_exists(#execution_id)")}

    def replace_request(self, execution: Execution) -> dict[str, Any]:
        return {"Put": self.table.put_request(self._item(execution), *_replaceable_condition(execution))}

    def end_missed_request(self, execution: Execution, ending: MisfireEnding, now: datetime) -> dict[str, Any]:
        why = {"reason": ending.reason, "covered_by": ending.covered_by}
        return {"Update": self._end_unstarted_request(key_of(execution), ending.status, why, now)}

    def defer_request(self, one: LiveExecution, reason: str, now: datetime) -> dict[str, Any]:
        removed = ["waits_at", "turn", "rate_at", "retry_at", "recheck_at"]
        also = "#attempt = :none AND attribute_not_exists(#run_arn)"
        changes = {"reason": reason, "deferred_at": instant_text(now)}
        return {
            "Update": self._transition(
                _key_of(one), Status.SCHEDULED, changes, remove=removed, also=also, values={"none": 0}
            )
        }

    def _lease(self, execution_id: str, attempt: int, worker_id: str, now: datetime, gates: Iterable[Gate]) -> Item:
        """The attributes of a claim. The holder of a job's gate is found through the gate and needs no index entry."""
        indexed = not any(gate.of_job for gate in gates)
        return {
            "attempt": attempt,
            "started_at": instant_text(now),
            "worker_id": worker_id,
            "lease_until": instant_text(now + LEASE_DURATION),
            "running_shard": self._shard_of(execution_id) if indexed else None,
        }

    def _retention_of(self, execution: Execution, decision: AttemptDecision) -> timedelta:
        is_brief = decision.status is Status.SUCCEEDED and not execution.needs_follow_up
        return self.brief_retention if is_brief else self.retention

    def _conclude(
        self, execution: Execution, decision: AttemptDecision, now: datetime, also: str, values: Item
    ) -> WriteResult:
        final = decision.status in FINAL
        error, result = decision.attempt.error, decision.result
        changes = {
            "reason": decision.reason,
            "retry_at": instant_text(decision.retry_at),
            "attempts": attempts_text((*execution.attempts, decision.attempt)),
            "error": as_text(error),
            "result": as_text(result),
            "ended_at": instant_text(now) if final else None,
            "expires_at": int((now + self._retention_of(execution, decision)).timestamp()) if final else None,
        }
        return self._move(
            key_of(execution),
            decision.status,
            changes,
            remove=[
                "running_shard",
                "lease_until",
                *(() if error else ("error",)),
                *(DEADLINE_ATTRIBUTES if final else ()),
            ],
            also=also,
            values={"attempt": execution.attempt, **values},
        )


def _key_of(one: LiveExecution) -> Item:
    return {"job_id": job_of(one.execution_id), "execution_id": one.execution_id}


def _removable(one: LiveExecution) -> tuple[Item, str, Item]:
    """The key of an execution, and the condition that it has this revision, has not started and covers no other."""
    statuses = {str(status): str(status) for status in (Status.SCHEDULED, Status.QUEUED, Status.WAITING)}
    is_unstarted = f"#attempt = :none AND #status IN ({', '.join(f':{status}' for status in statuses)})"
    condition = f"{is_unstarted} AND #revision = :revision AND attribute_not_exists(#covers)"
    return _key_of(one), condition, {"none": 0, "revision": one.revision, **statuses}


def _replaceable_condition(execution: Execution) -> tuple[str, Item]:
    """The condition that the stored execution has an earlier revision, and neither it nor its run has started."""
    return (
        "#revision < :revision AND #attempt = :none AND #status IN (:scheduled, :queued, :waiting)"
        " AND attribute_not_exists(#run_arn) AND attribute_not_exists(#restarted_at)",
        {
            "revision": execution.revision,
            "none": 0,
            "scheduled": str(Status.SCHEDULED),
            "queued": str(Status.QUEUED),
            "waiting": str(Status.WAITING),
        },
    )


def _map_concurrently(act: Callable[[T], R], items: list[T]) -> list[R]:
    if MAX_PARALLEL_WRITES == 1 or len(items) < 2:
        return [act(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and rarely needed

    with ThreadPoolExecutor(MAX_PARALLEL_WRITES) as pool:
        return list(pool.map(act, items))


def _timer_condition(timer: Timer) -> tuple[tuple[Status, ...], str, Item]:
    """The source statuses and the condition under which an execution waits for ``timer``."""
    if timer.reason is TimerReason.DUE:  # the timer was set for this jitter; an edit of the jitter sets another timer
        delay = round((timer.at - due_of(timer.execution_id)) / MILLISECOND)
        if delay:
            return (Status.SCHEDULED,), "#delay_ms = :delay", {"delay": delay}
        return (Status.SCHEDULED,), "attribute_not_exists(#delay_ms)", {}
    at = {"at": instant_text(timer.at)}
    if timer.reason is TimerReason.RETRY:  # ``queued`` if a rate limit postponed the start
        return (Status.RETRYING, Status.QUEUED), "#retry_at = :at", at
    return (Status.WAITING,), f"#recheck_at = :at AND {IS_HELD}", at


if TYPE_CHECKING:
    from punctual.ports.executions import ExecutionCanceller, ExecutionReader, Executions, JobExecutions

    _executions: type[Executions] = DynamoExecutions
    _execution_canceller: type[ExecutionCanceller] = DynamoExecutions
    _execution_reader: type[ExecutionReader] = DynamoExecutions
    _job_executions: type[JobExecutions] = DynamoExecutions
