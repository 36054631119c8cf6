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
    has_reserved_start: bool = False
    """Whether a start under the rate limit is already reserved."""

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
            fields |= {"gates": [gate.to_entry() for gate in self.gates], "has_reserved_start": self.has_reserved_start}
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
        has_reserved_start=execution.rate_at is not None,
    )


LATE_AFTER = timedelta(minutes=5)
"""An order sent this long after the execution's release is raised by one priority."""


def aged_priority(priority: Priority, attempt: int, late: timedelta) -> Priority:
    """Return the priority after ageing: one level up for a retry, and one for a late execution. Prevents starvation."""
    ranks = [Priority.LOW, Priority.NORMAL, Priority.HIGH]
    return ranks[min(ranks.index(priority) + (attempt > 0) + (late > LATE_AFTER), len(ranks) - 1)]


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
            has_reserved_start=bool(fields.get("has_reserved_start", False)),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a work order: {type(error).__name__}: {error}") from error
