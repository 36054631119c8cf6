"""Intake: turn each message on the intake queue into one execution of a queue job.

The execution is stored as ``queued``. The planner defers or skips it while its job is paused. A message that can never
become an execution goes to the dead-letter queue, with the reason. SQS delivers at least once: the execution's id is
derived from the message's id and the instant at which it was first sent, those of its producer or those of SQS, so a
repeated message stores no second execution. After a crash the message is delivered again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
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
    from punctual.ports.queue_jobs import Arrivals


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
    arrivals: Arrivals
    dead_letters: DeadLetters
    warn: Callable[[str], None]
    clock: Clock

    def take(self, messages: Iterable[Delivery]) -> None:
        """Store an execution for each message, or dead-letter it if it can never become one. Idempotent.

        If an error other than an invalid message is raised, some of the messages may have been stored: the caller has
        all of them delivered again.
        """
        contents = [(message, self._read(message)) for message in messages]
        jobs = self._find({content.job for _, content in contents if content is not None})
        stored = Counter[str]()
        try:
            for message, content in contents:
                if content is not None and (job_id := self._store(message, content, jobs.get(content.job))):
                    stored[job_id] += 1
        finally:
            self._count(stored)

    def _count(self, stored: Mapping[str, int]) -> None:
        """Count the arrivals of each job. Never raises: only rates miss what a crash or a failure leaves out."""
        for job_id, count in stored.items():
            try:
                self.arrivals.add(job_id, count, self.clock())
            except Exception as error:
                self.warn(f"{count} arrivals of job {job_id} not counted: {type(error).__name__}: {error}")

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

    def _store(self, message: Delivery, content: IntakeMessage, job: Job | None) -> str | None:
        """Return the id of the job if the message was stored now, not before."""
        reason = refusal(content.job, job)
        if job is None or reason:
            self.dead_letters.dead_letter(message.body, reason)
            return None
        try:
            execution = content.execution(
                job, queued_as=message.message_id, queued_at=message.sent_at, now=self.clock()
            )
        except Rejected as error:  # its concurrency key refers to a parameter that the message lacks
            self.dead_letters.dead_letter(message.body, f"{error.field}: {error.message}")
            return None
        return job.job_id if self.executions.add(execution) is None else None
