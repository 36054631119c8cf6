"""What holds once faults have ended and everything was delivered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from punctual.aws.dynamodb.items import plain
from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.executions.horizon import PLANNER_HORIZON
from punctual.domain.instant import to_text
from punctual.domain.jobs.gate import OF_JOB, claim_number
from punctual.domain.jobs.job import REMOVED_STATES, JobState
from punctual.domain.lane import Lane
from punctual.domain.statistics.ended import Ended, counted_end
from punctual.domain.statistics.job_record import SHOWN_EXECUTIONS
from punctual.domain.status import FINAL, Status
from tests.resources import DEAD_LETTER_QUEUE_OWNERS, PRIORITIES
from tests.simulator import bulk
from tests.simulator.aws.account import Account
from tests.simulator.due_instants import due_instants, instants, is_due, is_own, may_be_due
from tests.simulator.observer import Observer, describe
from tests.statistics_truth import stored_records, stored_totals, true_totals

OF_CHANGED_JOBS = ("is deleted", "is cancelled", "its schedule is not")
"""Why a queue message is refused if its job was removed, or given another schedule, after the message was sent."""

TO_START = (Status.SCHEDULED, Status.QUEUED, Status.RETRYING)
STARTED_WITHIN = timedelta(minutes=2)
"""How long a worker that dies before its claim delays a start."""


class AtRest:
    def __init__(self, account: Account, observer: Observer) -> None:
        self.account, self.observer = account, observer

    def violations(self) -> Iterator[str]:
        by_job = defaultdict(list)
        for one in self.observer.executions.values():
            by_job[one.job_id].append(one)
        for job_id in self.observer.jobs:
            yield from self._of_job(job_id, sorted(by_job[job_id], key=lambda one: one.execution_id))
        yield from self.of_gates()
        yield from self._of_messages()
        yield from self._of_dead_letters()
        yield from self._of_statistics()
        yield from bulk.violations(self.account, self.observer)

    def uncovered(self) -> Iterator[str]:
        """Executions that are covered by an execution that does not exist."""
        for one in self.observer.executions.values():
            yield from self._uncovered(one)

    def _uncovered(self, one: Execution) -> Iterator[str]:
        if one.covered_by and one.covered_by not in self.observer.executions:
            yield f"{describe(one)}: {one.covered_by} does not exist"

    def unfinished(self, due_before: datetime) -> list[str]:
        """Bulk operations, and executions that were due before this instant, which have not ended."""
        live = [one for one in self.observer.executions.values() if one.status not in FINAL]
        operations = bulk.running(self.account)
        return operations + [
            describe(one) for one in live if one.earliest_start < due_before and not self.may_wait(one)
        ]

    def unclaimed(self, since: datetime) -> Iterator[str]:
        """Executions of the short lane that no sweep has queued, or no worker has claimed in time with empty queues.

        ``since``: faults have ended. An execution that was sent again while there were faults is checked after as long
        again as it has waited.
        """
        now = self.observer.kernel.now
        for one in self.observer.executions.values():
            if one.lane is Lane.LONG or one.status not in TO_START or self.may_wait(one):
                continue
            instants = (one.queued_at, one.woken_at, one.retry_at, one.earliest_start)
            ready_at = max(filter(None, instants))
            latest = max(ready_at, since) + max(STARTED_WITHIN, since - ready_at) + STARTED_WITHIN / 2
            if now > latest and not self._is_busy(now):
                yield f"{describe(one)}: no worker has claimed it since {to_text(ready_at)}"

    def _is_busy(self, now: datetime) -> bool:
        return any(self.account.sqs.queues[queue].visible(now) for queue in PRIORITIES)

    def may_wait(self, one: Execution, behind: frozenset[str] = frozenset()) -> bool:
        """Whether it may stay live while nothing happens.

        A rate limit postpones it, its job is paused and keeps its message, or an upstream may be missing because that
        job is paused or was edited. The same holds for an execution that waits ``behind`` such ones: more may come due
        than a rate lets start.
        """
        if one.execution_id in behind:  # a deadlock
            return False
        behind |= {one.execution_id}
        if one.is_deferred and self.observer.jobs[one.job_id][-1].job.state is JobState.PAUSED:
            return True
        if one.rate_at is not None and one.rate_at > self.observer.kernel.now:
            return True
        if one.waits_at is not None:
            holders = [self.observer.executions.get(name) for name in self._holders().get(one.waits_at, ())]
            return any(holder is not None and self.may_wait(holder, behind) for holder in holders)
        return self._may_miss_upstream(one, behind)

    def _may_miss_upstream(self, one: Execution, behind: frozenset[str]) -> bool:
        if not one.has_pending_upstreams or self.observer.jobs[one.job_id][-1].job.state in REMOVED_STATES:
            return False
        for dependency, found in self.observer.upstreams(one):
            live = [other for other in found if other.status not in FINAL]
            job = self.observer.jobs[dependency.job][-1].job
            if len(live) == len(found) and (job.state is JobState.PAUSED or job.revision > 1):
                return True
            if any(self.may_wait(other, behind) for other in live):
                return True
        return False

    def _of_job(self, job_id: str, executions: Sequence[Execution]) -> Iterator[str]:
        """Every due instant has one record; there are no others; a recurring job has a leader."""
        versions, now = self.observer.jobs[job_id], self.observer.kernel.now
        job = versions[-1].job
        recorded = {one.scheduled_at for one in executions if is_own(one)}
        missing = [to_text(due) for due in due_instants(versions, now) if due not in recorded]
        if missing:
            yield f"job {job_id[-4:]}: no record of {missing}"
        if job.state is JobState.ACTIVE and job.schedule.recurring:
            led = [one for one in executions if one.is_leader and one.status not in FINAL]
            ahead = [due for due in instants(job, now, now + PLANNER_HORIZON) if due not in recorded]
            if ahead and not led:
                yield f"job {job_id[-4:]}: no leader plans {to_text(ahead[0])}; {[*map(describe, executions[-3:])]}"
        for one in executions:
            yield from self._of_execution(one)

    def _of_execution(self, one: Execution) -> Iterator[str]:
        versions = self.observer.jobs[one.job_id]
        job = versions[-1].job
        planned_ahead = one.status is Status.CANCELLED or (one.status is Status.SKIPPED and bool(one.depends_on))
        was = [f"r{one.job.revision} {one.job.state} since {one.job.updated_at:%T}" for one in versions]
        if job.state is not JobState.PAUSED:  # if the planner died before the pause, the resume records the rest
            yield from self._uncovered(one)
        if is_own(one) and one.origin is Origin.BACKFILL:
            if not any(is_due(version.job, one.scheduled_at) for version in versions):
                yield f"{describe(one)} is no instant of its job: {was}"
        elif is_own(one) and not may_be_due(versions, one.scheduled_at, planned_ahead=planned_ahead):
            yield f"{describe(one)} was never due: {was}"
        if job.state in REMOVED_STATES:
            if one.status not in FINAL and one.cancel_at is None:
                yield f"{describe(one)} is live, and its job is {job.state}"
        elif one.status not in FINAL and one.attempt == 0 and one.origin is Origin.SCHEDULE and is_own(one):
            if one.revision != job.revision and not one.may_have_parts:  # a state machine that has started continues
                yield f"{describe(one)} has an old revision: its job is at {job.revision}"
            elif job.state is not JobState.ACTIVE:
                yield f"{describe(one)} has not started, and its job is {job.state}"

    def of_gates(self) -> Iterator[str]:
        """No place is held by an execution that may not hold it, and no first waiter is at a gate with a free place."""
        holders = self._holders()
        queues: dict[str, dict[str, str]] = defaultdict(dict)
        for item in map(plain, self.account.dynamodb.tables["gates"].items.values()):
            if item["gate"].startswith("queue#"):
                queues[item["gate"].removeprefix("queue#")][item["entry"]] = item["execution_id"]
        for gate, names in holders.items():
            for name, held_for in names.items():
                one = self.observer.executions.get(name)
                if one is None:
                    yield f"{gate} is held by {name}, which does not exist"
                elif not may_hold(one, gate, held_for):
                    yield f"{gate} is held by {describe(one)}"
        for one in self.observer.executions.values():
            gate = one.waits_at
            if one.status is Status.WAITING and gate is not None:
                queue, limit = queues[gate], next(other.limit for other in one.gates if other.name == gate)
                if one.execution_id not in queue.values():
                    yield f"{describe(one)} waits at {gate}, but is not in its queue"
                elif queue[min(queue)] == one.execution_id and len(holders.get(gate, ())) < (limit or 0):
                    yield f"{describe(one)} is first at {gate}, which has room: {holders.get(gate, {})}"

    def _holders(self) -> dict[str, dict[str, int]]:
        """The executions that hold a place at each gate, and the number of the claim for which they hold it."""
        return {
            gate: {name.removeprefix("in:"): value for name, value in plain(item).items() if name.startswith("in:")}
            for (kind, gate), item in self.account.dynamodb.tables["gates"].items.items()
            if kind.startswith("holders#")
        }

    def _of_messages(self) -> Iterator[str]:
        """Each message of a producer has become one execution or, if it was refused, a dead letter."""
        delivered = self.observer.messages.keys() - self.account.sqs.queues["intake"].messages.keys()
        refused = {message.body for message in self.account.sqs.queues["intake-dead"].messages.values()}
        for message_id in sorted(delivered):
            found = [name for name in self.observer.executions | self.observer.removed if message_id in name]
            is_refused = not found and self.observer.messages[message_id] in refused
            if len(found) != 1 and not is_refused:
                yield f"message {message_id} {self.observer.messages[message_id]} has become {found}"

    def _of_dead_letters(self) -> Iterator[str]:
        for name in DEAD_LETTER_QUEUE_OWNERS:
            for message in self.account.sqs.queues[f"{name}-dead"].messages.values():
                if name == "intake" and any(reason in str(message.attributes) for reason in OF_CHANGED_JOBS):
                    continue
                yield f"dead letter of {name}: {message.attributes} {message.body[:200]}"

    def _of_statistics(self) -> Iterator[str]:
        """The counters equal the truth, and the record of a job has its last ended executions."""
        known = [*self.observer.executions.values(), *self.observer.removed.values()]
        items = self.account.dynamodb.tables["statistics"].items.values()
        counted, true = stored_totals(items), true_totals(known)
        for key in sorted(counted.keys() | true.keys()):
            if counted.get(key) != true.get(key):
                yield f"statistics of {key}: {counted.get(key)} instead of {true.get(key)}"
        ended: dict[str, list[Ended]] = defaultdict(list)
        for one in (one for one in known if one.status in FINAL):
            ended[one.job_id].append(counted_end(one).ended)
        for record in stored_records(items):
            if list(record.last) != sorted(ended[record.job_id], key=lambda one: one.key)[-SHOWN_EXECUTIONS:]:
                yield f"the record of job {record.job_id[-4:]} does not have its last executions: {record.last}"


def may_hold(one: Execution, gate: str, held_for: int) -> bool:
    """Whether an execution may hold a place for a claim while nothing is in flight.

    It runs, is about to start, or is postponed by a rate limit; it waits at a later gate, or for a slot of the long
    lane; or it is between attempts, and this is the gate of its job, or the worker of the next attempt has acquired the
    place and died: SQS delivers its message again.
    """
    names = [other.name for other in one.gates if other.limit is not None]
    if gate not in names or one.status in FINAL or one.status is Status.SCHEDULED:
        return False
    if one.lane is Lane.LONG and one.waits_at is None:
        return not one.has_pending_upstreams
    if one.status is Status.WAITING:
        return one.waits_at in names and names.index(gate) < names.index(one.waits_at)
    is_for_next = held_for > claim_number(one.revision, one.attempt)
    return one.status is not Status.RETRYING or gate.startswith(OF_JOB) or is_for_next
