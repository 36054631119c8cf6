"""A message of the intake queue: its text, and the execution that it becomes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.errors import Invalid, Rejected, Unreadable
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.identity import check_job_id, digest
from punctual.domain.instant import parse, to_text
from punctual.domain.jobs.job import Job, UniqueField, UniqueKey
from punctual.domain.limits import check_parameters
from punctual.domain.status import Status

MAX_MESSAGE_ID_LENGTH = 200
MAX_MESSAGE_AGE = timedelta(days=1)
"""How long before it reaches the queue a message may have been sent for the first time."""
CLOCK_TOLERANCE = timedelta(minutes=1)
BY_ID = '{"job_id": "…", "payload": {…}}'
BY_NAME = '{"owner": "…", "name": "…", "payload": {…}}'


@dataclass(frozen=True, kw_only=True)
class IntakeMessage:
    job: str | UniqueKey
    """The id of its job, or the owner and the name that its live job has when the message is received."""
    payload: dict[str, Any] = field(default_factory=dict)
    message_id: str | None = None
    sent_at: datetime | None = None
    """When the message was sent for the first time. Set if and only if ``message_id`` is set."""

    def to_body(self) -> str:
        """Only ASCII characters, because SQS rejects some others."""
        job = {"job_id": self.job} if isinstance(self.job, str) else {"owner": self.job.owner, "name": self.job.value}
        fields = {**job, "payload": self.payload}
        if self.message_id is not None and self.sent_at is not None:
            fields |= {"message_id": self.message_id, "sent_at": to_text(self.sent_at)}
        return json.dumps(fields)

    def execution(self, job: Job, *, queued_as: str, queued_at: datetime, now: datetime) -> Execution:
        """Build the execution of the message, which the queue received as ``queued_as`` at ``queued_at``.

        Its id is derived from the message's own id and first instant, or else from those of the queue. Raises
        ``Rejected`` if the concurrency key refers to a parameter that the message lacks.
        """
        has_own_id = self.message_id is not None and self.sent_at is not None
        return execution_of(
            job,
            (self.sent_at if has_own_id else None) or queued_at,
            status=Status.QUEUED,
            now=now,
            source=f"message-{digest(self.message_id or '')}" if has_own_id else queued_as,
            parameters={**job.parameters, **self.payload},
        )

    def check_age(self, queued_at: datetime) -> None:
        """Raise ``Unreadable`` unless the message reached the queue within a day after it was first sent."""
        age = queued_at - (self.sent_at or queued_at)
        if not -CLOCK_TOLERANCE <= age <= MAX_MESSAGE_AGE + CLOCK_TOLERANCE:
            raise Unreadable(f"sent_at: must be within a day before the message is sent, at {to_text(queued_at)}")


def check_message_id(field: str, message_id: object) -> str:
    """Raises ``Invalid`` unless it is printable text of a suitable length."""
    if isinstance(message_id, str) and 1 <= len(message_id) <= MAX_MESSAGE_ID_LENGTH and message_id.isprintable():
        return message_id
    raise Invalid(field, f"must be printable text of 1 to {MAX_MESSAGE_ID_LENGTH} characters")


def read_intake_message(body: str) -> IntakeMessage:
    """Parse a message body. Raises ``Unreadable``."""
    try:
        fields = json.loads(body)
        job = _job_of(fields)
        payload = fields.get("payload", {})
        if not isinstance(payload, dict):
            raise Unreadable(f"payload must be an object, not {type(payload).__name__}")
        check_parameters("payload", payload)
        return IntakeMessage(job=job, payload=payload, **_own_id(fields))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from error
    except Rejected as error:
        raise Unreadable(f"{error.field}: {error.message}") from error


def refusal(named: str | UniqueKey, job: Job | None) -> str:
    """Return why the job takes no messages; empty if it does."""
    if job is None:
        live = f"live job of {named.owner!r} with the name {named.value!r}" if isinstance(named, UniqueKey) else ""
        return f"there is no {live or f'job {named!r}'}"
    if job.schedule.kind != "queue":
        return f'job {job.job_id!r} does not take messages: its schedule is not {{"queue": true}}'
    return "" if job.is_live else f"job {job.job_id!r} is {job.state}"


def _job_of(fields: Any) -> str | UniqueKey:
    match fields:
        case {"job_id": str(job_id)} if not fields.keys() & {"owner", "name"}:
            return check_job_id(job_id)
        case {"owner": str(owner), "name": str(name)} if "job_id" not in fields:
            return UniqueKey(owner, UniqueField.NAME, name)
    raise Unreadable(f"a message must look like {BY_ID} or {BY_NAME}")


def _own_id(fields: Mapping[str, Any]) -> dict[str, Any]:
    message_id, sent_at = fields.get("message_id"), fields.get("sent_at")
    if message_id is None and sent_at is None:
        return {}
    if sent_at is None:
        raise Unreadable("sent_at: is required with message_id: the execution's id is derived from both")
    return {"message_id": check_message_id("message_id", message_id), "sent_at": parse("sent_at", sent_at)}
