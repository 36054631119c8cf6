"""Intake: turn each message on the intake queue into one execution of a queue job.

The execution is stored as ``queued``. The planner defers or skips it while its job is paused. A message that can never
become an execution goes to the dead-letter queue, with the reason. SQS delivers at least once: the execution's id is
derived from the message's id and the instant at which it was first sent, those of its producer or those of SQS, so a
repeated message stores no second execution. After a crash the message is delivered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Rejected, Unreadable
from punctual.domain.executions.intake_message import IntakeMessage, read_intake_message, refusal
from punctual.domain.jobs.job import Job, UniqueKey

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dead_letters import DeadLetters
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Jobs


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One delivery from the intake queue."""

    message_id: str
    sent_at: datetime
    body: str


@dataclass(frozen=True)
class Intake:
    """Stores the executions of queue jobs."""

    jobs: Jobs
    executions: Executions
    dead_letters: DeadLetters
    clock: Clock

    def take(self, messages: Iterable[Delivery]) -> None:
        """Store an execution for each message, or dead-letter it if it can never become one. Idempotent.

        If an error other than an invalid message is raised, some of the messages may have been stored: the caller has
        all of them delivered again.
        """
        contents = [(message, self._read(message)) for message in messages]
        jobs = self._find({content.job for _, content in contents if content is not None})
        for message, content in contents:
            if content is not None:
                self._store(message, content, jobs.get(content.job))

    def _find(self, named: Set[str | UniqueKey]) -> Mapping[Any, Job]:
        by_id = self.jobs.get_many(one for one in named if isinstance(one, str))
        by_name = self.jobs.find_live(one for one in named if isinstance(one, UniqueKey))
        return {**by_id, **by_name}

    def _read(self, message: Delivery) -> IntakeMessage | None:
        try:
            content = read_intake_message(message.body)
            content.check_age(message.sent_at)
            return content
        except Unreadable as error:
            self.dead_letters.dead_letter(message.body, str(error))
            return None

    def _store(self, message: Delivery, content: IntakeMessage, job: Job | None) -> None:
        reason = refusal(content.job, job)
        if job is None or reason:
            self.dead_letters.dead_letter(message.body, reason)
            return
        try:
            execution = content.execution(
                job, queued_as=message.message_id, queued_at=message.sent_at, now=self.clock()
            )
        except Rejected as error:  # its concurrency key refers to a parameter that the message lacks
            self.dead_letters.dead_letter(message.body, f"{error.field}: {error.message}")
            return
        self.executions.add(execution)
