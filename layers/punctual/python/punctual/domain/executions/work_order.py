"""A work order: the message that asks a worker to run one attempt of an execution."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.errors import Unreadable
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import from_text, to_text
from punctual.domain.jobs.gate import Gate, of_entry
from punctual.domain.lane import Priority
from punctual.domain.status import Status


@dataclass(frozen=True, kw_only=True)
class WorkOrder:
    """Refers to an execution by id. The task and its parameters stay in the execution.

    An order of an older revision is refused: see ``revision``.
    """

    job_id: str
    execution_id: str
    attempt: int
    not_before: datetime
    priority: Priority
    owner: str
    gates: tuple[Gate, ...] = ()
    """The gates that the execution has to acquire."""
    earliest_start: datetime | None = None
    """The earliest start, if it differs from ``not_before``. Orders the queue at a gate."""
    revision: int = 1
    """The job's revision when the order was sent."""
    reserved_start: datetime | None = None
    """The start that is reserved under the rate limit."""
    takes_over: bool = False
    """Whether it is for a running execution: to take over after an expired lease, or to revoke the lease of an
    execution that was asked to stop. It acquires no gate: a running execution holds its own."""

    def to_body(self) -> str:
        """Serialise to the message body. The queue also reflects the priority, and the message group the owner."""
        fields = {
            "job_id": self.job_id,
            "execution_id": self.execution_id,
            "attempt": self.attempt,
            "not_before": to_text(self.not_before),
            "priority": self.priority,
            "owner": self.owner,
            "revision": self.revision,
        }
        if self.gates:
            fields |= {"gates": [gate.to_entry() for gate in self.gates]}
        if self.reserved_start:
            fields |= {"reserved_start": to_text(self.reserved_start)}
        if self.takes_over:
            fields |= {"takes_over": True}
        if self.earliest_start:
            fields |= {"earliest_start": to_text(self.earliest_start)}
        return json.dumps(fields)


def work_order_for(execution: Execution, not_before: datetime, now: datetime | None = None) -> WorkOrder:
    """Build the order for the next attempt of ``execution``. Late orders and retries get a higher priority."""
    return WorkOrder(
        job_id=execution.job_id,
        execution_id=execution.execution_id,
        attempt=execution.attempt + 1,
        not_before=not_before,
        priority=aged_priority(execution.priority, execution.attempt, (now or not_before) - execution.earliest_start),
        owner=execution.owner,
        gates=execution.gates,
        revision=execution.revision,
        earliest_start=execution.earliest_start if execution.gates and execution.earliest_start != not_before else None,
        reserved_start=execution.rate_at,
        takes_over=execution.status is Status.RUNNING,
    )


AGED_AFTER = timedelta(minutes=5)
"""A work order sent this long after the execution's earliest start is raised by one priority."""


def aged_priority(priority: Priority, attempt: int, late: timedelta) -> Priority:
    """Return the priority after ageing: one level up for a retry, and one for a late execution. Prevents starvation."""
    ranks = [Priority.LOW, Priority.NORMAL, Priority.HIGH]
    return ranks[min(ranks.index(priority) + (attempt > 0) + (late > AGED_AFTER), len(ranks) - 1)]


def read_work_order(body: str) -> WorkOrder:
    """Parse a message body. Raises ``Unreadable`` if it is not a work order."""
    try:
        fields = json.loads(body)
        return WorkOrder(
            job_id=str(fields["job_id"]),
            execution_id=str(fields["execution_id"]),
            attempt=int(fields["attempt"]),
            not_before=from_text(fields["not_before"]),
            priority=Priority(fields["priority"]),
            owner=str(fields["owner"]),
            gates=tuple(of_entry(entry) for entry in fields.get("gates", ())),
            earliest_start=from_text(fields["earliest_start"]) if "earliest_start" in fields else None,
            revision=int(fields["revision"]),
            reserved_start=from_text(fields["reserved_start"]) if "reserved_start" in fields else None,
            takes_over=bool(fields.get("takes_over", False)),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a work order: {type(error).__name__}: {error}") from error
