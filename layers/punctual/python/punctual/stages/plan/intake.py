"""Intake: turn each message on the intake queue into one execution of a queue job.

The execution is stored as ``queued``. The planner defers or skips it while its job is paused. A message that can never
become an execution goes to the dead-letter queue, with the reason. SQS delivers at least once: the execution's id is
derived from the message id and the instant at which the message was sent, so a redelivered message stores no second
execution. After a crash the message is delivered again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Rejected, Unreadable
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.identity import check_job_id
from punctual.domain.jobs.job import LIVE_STATES, Job
from punctual.domain.limits import check_parameters
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dead_letters import DeadLetters
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Jobs


@dataclass(frozen=True, kw_only=True)
class Message:
    """One delivery from the intake queue."""

    message_id: str
    sent_at: datetime
    body: str


@dataclass(frozen=True)
class Request:
    """The content of a valid message."""

    job_id: str
    payload: dict[str, Any]


@dataclass(frozen=True)
class Intake:
    """Stores the executions of queue jobs."""

    jobs: Jobs
    executions: Executions
    dead_letters: DeadLetters
    clock: Clock

    def take(self, messages: Iterable[Message]) -> None:
        """Store an execution for each message, or dead-letter it if it can never become one. Idempotent.

        If an error other than an invalid message is raised, some of the messages may have been stored: the caller has
        all of them delivered again.
        """
        requests = [(message, self._read(message)) for message in messages]
        jobs = self.jobs.get_many({request.job_id for _, request in requests if request is not None})
        for message, request in requests:
            if request is not None:
                self._store(message, request, jobs.get(request.job_id))

    def _read(self, message: Message) -> Request | None:
        try:
            return read_request(message.body)
        except Unreadable as error:
            self.dead_letters.dead_letter(message.body, str(error))
            return None

    def _store(self, message: Message, request: Request, job: Job | None) -> None:
        if job is None or job.state not in LIVE_STATES or job.schedule.kind != "queue":
            self.dead_letters.dead_letter(message.body, _rejection(request.job_id, job))
            return
        try:
            execution = execution_of(
                job,
                message.sent_at,
                status=Status.QUEUED,
                now=self.clock(),
                source=message.message_id,
                parameters={**job.parameters, **request.payload},
            )
        except Rejected as error:  # its concurrency key refers to a parameter that the message lacks
            self.dead_letters.dead_letter(message.body, f"{error.field}: {error.message}")
            return
        self.executions.add(execution)


def read_request(body: str) -> Request:
    """Parse a message body. Raises ``Unreadable``."""
    try:
        fields = json.loads(body)
        if not isinstance(fields, dict) or not isinstance(fields.get("job_id"), str):
            raise Unreadable('a message must look like {"job_id": "…", "payload": {…}}')
        payload = fields.get("payload", {})
        if not isinstance(payload, dict):
            raise Unreadable(f"payload must be an object, not {type(payload).__name__}")
        check_parameters("payload", payload)
        return Request(check_job_id(fields["job_id"]), payload)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from error
    except Rejected as error:
        raise Unreadable(f"{error.field}: {error.message}") from error


def _rejection(job_id: str, job: Job | None) -> str:
    if job is None:
        return f"there is no job {job_id!r}"
    if job.schedule.kind != "queue":
        return f'job {job_id!r} does not take messages: its schedule is not {{"queue": true}}'
    return f"job {job_id!r} is {job.state}"
