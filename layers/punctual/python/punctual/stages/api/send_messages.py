"""Send messages of a queue job to the intake queue, for clients without credentials for AWS."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Conflict, Invalid, Rejected, TaskUnavailable
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.intake_message import IntakeMessage, check_message_id, refusal
from punctual.domain.identity import digest
from punctual.domain.instant import in_milliseconds
from punctual.domain.jobs.job import Job
from punctual.domain.limits import check_parameters
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import DryRunChanges, ForeseenExecution
from punctual.domain.requests.keyed_request import KeyedRequest

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.idempotency import KeyedRequests
    from punctual.ports.intake import IntakeQueue
    from punctual.ports.jobs import Tasks
    from punctual.stages.api.find import Finder


@dataclass(frozen=True)
class SentMessage:
    message_id: str
    execution_id: str
    """The execution that the message becomes. A repeated message id gives the same one."""
    reason: str | None = None
    """Why it was not sent."""


@dataclass(frozen=True)
class MessageSender:
    find: Finder
    tasks: Tasks
    keyed_requests: KeyedRequests
    queue: IntakeQueue
    clock: Clock

    def send(
        self,
        job_id: str,
        messages: Sequence[Mapping[str, Any]],
        caller: Caller,
        keyed: KeyedRequest | None = None,
    ) -> list[SentMessage]:
        """Send all messages, or none if one of them is invalid. SQS may refuse some: see ``reason``.

        Idempotent for messages with an id, for a day; for the others only with a ``keyed`` request. Raises
        ``NotFound``, ``Forbidden``, ``Conflict``, ``Invalid`` or ``TooLarge``.
        """
        job, checked, _ = self._check(job_id, messages, caller)
        identified = [self._identify(number, message, keyed) for number, message in enumerate(checked)]
        errors = self.queue.send([message.to_body() for message in identified], job.owner)
        return [
            SentMessage(message.message_id or "", self._execution(job, message).execution_id, errors.get(number))
            for number, message in enumerate(identified)
        ]

    def preview(self, job_id: str, messages: Sequence[Mapping[str, Any]], caller: Caller) -> DryRunChanges:
        """Dry run of ``send``: the executions of the messages that were not sent before."""
        job, checked, known = self._check(job_id, messages, caller)
        now = in_milliseconds(self.clock())
        new = (replace(one, message_id=one.message_id or secrets.token_hex(16), sent_at=now) for one in checked)
        foreseen = {
            one.execution_id: ForeseenExecution(one.execution_id, one.scheduled_at)
            for one in (self._execution(job, message) for message in new if _request_id(message) not in known)
        }
        return DryRunChanges(appear=tuple(foreseen.values()))

    def _check(
        self, job_id: str, messages: Sequence[Mapping[str, Any]], caller: Caller
    ) -> tuple[Job, list[IntakeMessage], dict[str, str]]:
        """Return the job, the messages, and the payloads of known message ids, as digests by request id."""
        job = self.find.job(job_id)
        caller.require_can_manage(job)
        if reason := refusal(job_id, job):
            raise Conflict(reason, field="job_id")
        checked = [self._message(job, number, fields) for number, fields in enumerate(messages)]
        ids = {_request_id(message) for message in checked if message.message_id is not None}
        known = self.keyed_requests.body_digests(ids, self.clock()) if ids else {}
        digests = dict(known)
        for number, message in enumerate(checked):
            if message.message_id is not None:
                own = _payload_digest(message)
                _require_same(number, digests.setdefault(_request_id(message), own) == own)
        return job, checked, known

    def _message(self, job: Job, number: int, fields: Mapping[str, Any]) -> IntakeMessage:
        message_id, payload = fields.get("message_id"), fields.get("payload", {})
        if message_id is not None:
            check_message_id(f"messages.{number}.message_id", message_id)
        message = IntakeMessage(job=job.job_id, payload=payload, message_id=message_id)
        with _named(number):
            check_parameters("parameters", payload)
            self._execution(job, message)
            if job.batch is None or not job.batch.image:
                self.tasks.check(job.task, {**job.parameters, **payload})
        return message

    def _identify(self, number: int, message: IntakeMessage, keyed: KeyedRequest | None) -> IntakeMessage:
        """Return the message with an id, and with the instant at which that id was first used."""
        now = in_milliseconds(self.clock())
        if message.message_id is None:
            if keyed is None:
                return replace(message, message_id=secrets.token_hex(16), sent_at=now)
            return replace(message, message_id=digest(keyed.seed(number)), sent_at=keyed.at)
        known = self.keyed_requests.begin(_request_id(message), _payload_digest(message), now)
        _require_same(number, known is not None)  # a concurrent request may have used the id
        assert known is not None
        return replace(message, sent_at=known.at)

    def _execution(self, job: Job, message: IntakeMessage) -> Execution:
        now = self.clock()
        return message.execution(job, queued_as="unsent", queued_at=now, now=now)


def _request_id(message: IntakeMessage) -> str:
    return digest(f"message\n{message.job}\n{message.message_id}")


def _payload_digest(message: IntakeMessage) -> str:
    return digest(json.dumps(message.payload, sort_keys=True))


def _require_same(number: int, is_same: bool) -> None:
    if not is_same:
        message = "was used for another payload within a day: use a new id, or omit it"
        raise Invalid(f"messages.{number}.message_id", message)


@contextmanager
def _named(number: int) -> Iterator[None]:
    """Name the message in errors about its payload."""
    try:
        yield
    except TaskUnavailable:
        raise
    except Rejected as error:
        field, payload = error.field or "", f"messages.{number}.payload"
        if field == "concurrency.key":
            raise Invalid(payload, f"the concurrency key of the job {error.message}") from None
        error.field = payload + field.removeprefix("parameters")
        raise
