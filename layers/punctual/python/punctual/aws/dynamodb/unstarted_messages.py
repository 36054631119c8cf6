"""The executions of messages that have not started, from the index ``unstarted`` of the executions table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.table import Table
from punctual.domain.identity import due_of

_OF_JOB = "#unstarted_of = :job_id"


@dataclass(frozen=True)
class DynamoUnstartedMessages:
    table: Table

    def count_unstarted(self, job_id: str, at_most: int) -> int:
        return self.table.count(_OF_JOB, {"job_id": job_id}, index="unstarted", at_most=at_most)

    def oldest_unstarted(self, job_id: str) -> datetime | None:
        page = next(self.table.query(_OF_JOB, {"job_id": job_id}, index="unstarted", page_size=1))
        return due_of(page[0]["execution_id"]) if page else None


if TYPE_CHECKING:
    from punctual.ports.queue_jobs import UnstartedMessages

    _unstarted_messages: type[UnstartedMessages] = DynamoUnstartedMessages
