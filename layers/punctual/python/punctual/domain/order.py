"""A work order: the message that asks a worker to run one attempt of an execution."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from punctual.domain.errors import Unreadable
from punctual.domain.execution import Execution
from punctual.domain.instant import from_text, to_text
from punctual.domain.job import Priority


@dataclass(frozen=True, kw_only=True)
class Order:
    """Points at an execution; what to run is in the execution itself, so an order is never out of date."""

    job_id: str
    execution_id: str
    attempt: int
    not_before: datetime
    priority: Priority
    owner: str

    def to_body(self) -> str:
        """The message's text. Queue and message group carry the priority and the owner."""
        return json.dumps(
            {
                "job_id": self.job_id,
                "execution_id": self.execution_id,
                "attempt": self.attempt,
                "not_before": to_text(self.not_before),
                "priority": self.priority,
                "owner": self.owner,
            }
        )


def order_for(execution: Execution, not_before: datetime) -> Order:
    """The order for the next attempt of ``execution``."""
    return Order(
        job_id=execution.job_id,
        execution_id=execution.execution_id,
        attempt=execution.attempt + 1,
        not_before=not_before,
        priority=execution.priority,
        owner=execution.owner,
    )


def read_order(body: str) -> Order:
    """The order in a message's text. Raises ``Unreadable``."""
    try:
        fields = json.loads(body)
        return Order(
            job_id=str(fields["job_id"]),
            execution_id=str(fields["execution_id"]),
            attempt=int(fields["attempt"]),
            not_before=from_text(fields["not_before"]),
            priority=Priority(fields["priority"]),
            owner=str(fields["owner"]),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a work order: {type(error).__name__}: {error}") from error
