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
    """Points at an execution; what to run is in the execution itself, so an order is never out of date."""

    job_id: str
    execution_id: str
    attempt: int
    not_before: datetime
    priority: Priority
    owner: str
    gates: tuple[Gate, ...] = ()
    """What it passes on its way in."""
    released_at: datetime | None = None
    """Since when it may run, where that is not ``not_before``: the order of those who wait goes by it."""
    revision: int = 1
    """Of the job, when it was ordered."""
    rated: bool = False
    """Whether its start was reserved already where only so many may start."""

    def to_body(self) -> str:
        """The message's text. Queue and message group carry the priority and the owner."""
        said = {
            "job_id": self.job_id,
            "execution_id": self.execution_id,
            "attempt": self.attempt,
            "not_before": to_text(self.not_before),
            "priority": self.priority,
            "owner": self.owner,
            "revision": self.revision,
        }
        if self.gates:
            said |= {"gates": [gate.to_entry() for gate in self.gates], "rated": self.rated}
        if self.released_at:
            said |= {"released_at": to_text(self.released_at)}
        return json.dumps(said)


def work_order_for(execution: Execution, not_before: datetime, now: datetime | None = None) -> WorkOrder:
    """The order for the next attempt of ``execution``. What is sent late, or again, goes by a higher priority."""
    return WorkOrder(
        job_id=execution.job_id,
        execution_id=execution.execution_id,
        attempt=execution.attempt + 1,
        not_before=not_before,
        priority=aged(execution.priority, execution.attempt, (now or not_before) - execution.released_at),
        owner=execution.owner,
        gates=execution.gates,
        revision=execution.revision,
        released_at=execution.released_at if execution.gates and execution.released_at != not_before else None,
        rated=execution.rate_at is not None,
    )


LATE = timedelta(minutes=5)
"""What is sent this much after its time goes one priority up."""


def aged(priority: Priority, attempt: int, late: timedelta) -> Priority:
    """Waiting raises priority: by one for what was tried before, and by one for what is late."""
    ranks = [Priority.LOW, Priority.NORMAL, Priority.HIGH]
    return ranks[min(ranks.index(priority) + (attempt > 0) + (late > LATE), len(ranks) - 1)]


def read_work_order(body: str) -> WorkOrder:
    """The order in a message's text. Raises ``Unreadable``."""
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
            released_at=from_text(fields["released_at"]) if "released_at" in fields else None,
            revision=int(fields["revision"]),
            rated=bool(fields.get("rated", False)),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a work order: {type(error).__name__}: {error}") from error
