"""Report: record what containers report.

A container acts for one attempt of one part, and proves it with the key of its assignment. It has no other access: it
reads no table, no bucket and no other part. Calls of a superseded attempt are refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import UnverifiedContainer
from punctual.domain.executions.execution import Execution, Result
from punctual.domain.executions.execution_log import LogChunk
from punctual.domain.long_lane.part import COLLECT, WHOLE, Part
from punctual.domain.status import FINAL, SLOT_HOLDING_STATUSES

if TYPE_CHECKING:
    from punctual.domain.executions.attempt_decision import AttemptResult
    from punctual.domain.executions.progress import Progress
    from punctual.domain.long_lane.assignment import Assignment
    from punctual.ports.clock import Clock
    from punctual.ports.execution_logs import LogStore
    from punctual.ports.long_lane import (
        Callbacks,
        Checkpoints,
        IdentifiableContainers,
        ReportedExecutions,
        RunningParts,
    )
    from punctual.ports.running import Results
    from punctual.stages.long_lane.end_part import PartEnder
    from punctual.stages.long_lane.execution_sync import ExecutionSync

MAX_COLLECTED_BYTES = 2_000_000
"""Up to this size the collector gets the results of all partitions inline; beyond it, a link to each."""
HEARTBEATS_PER_LEASE = 3
"""Two heartbeats may be missed before the lease expires and the container counts as lost."""


@dataclass(frozen=True, kw_only=True)
class ClaimedWork:
    """The answer to a claim: what the container runs."""

    execution: Execution
    part: Part
    resume: Any
    """The newest checkpoint of the earlier attempts."""
    results: list[Any]
    """For the collector: the value that each partition returned, or the link to it."""


@dataclass(frozen=True)
class Reporter:
    executions: ReportedExecutions
    parts: RunningParts
    sync: ExecutionSync
    checkpoints: Checkpoints
    results: Results
    callbacks: Callbacks
    containers: IdentifiableContainers
    ender: PartEnder
    logs: LogStore
    clock: Clock
    heartbeat_seconds: int

    def claim(self, assignment: Assignment, token: str, task_arn: str) -> ClaimedWork | None:
        """Claim a part for a container that has started. Idempotent.

        ``None`` if its attempt was superseded, or if its execution has ended: the settler may not have cancelled the
        part yet.

        Of two containers that were started for one attempt, only the first to claim gets the part. The state machine
        run may wait for the token of the other, so the part keeps both.

        Raises ``UnverifiedContainer`` unless ECS started ``task_arn`` for this attempt: a part is stopped by its ARN,
        so a container that names the ARN of another one could stop that one.
        """
        if not self.containers.is_started_for(assignment, task_arn):
            raise UnverifiedContainer(f"ECS did not start {task_arn} for attempt {assignment.attempt} of this part")
        execution = self.executions.get(assignment.job_id, assignment.execution_id)
        if execution is None or execution.status in FINAL:
            return None
        part = self.parts.claim(assignment, token, task_arn, self._lease(), self.clock())
        if part is None:
            self.ender.share_token(assignment, token)
            return None
        self.callbacks.heartbeat([token])
        self.sync.update([part], None)
        resume = self.checkpoints.load(part.checkpoint) if part.checkpoint else None
        results = self._results_of_partitions(part) if part.name == COLLECT else []
        return ClaimedWork(execution=execution, part=part, resume=resume, results=results)

    def upstreams(self, assignment: Assignment, only: str | None) -> list[Execution] | None:
        """Return the upstream executions of a container's execution that are stored: all, or that with the id ``only``.

        ``None`` if its attempt was superseded.
        """
        if not assignment.matches(self.parts.get(assignment.execution_id, assignment.part)):
            return None
        execution = self.executions.get(assignment.job_id, assignment.execution_id)
        ids = [one.execution_id for one in execution.upstreams] if execution else []
        return list(self.executions.read_many(one for one in ids if only in (None, one)).values())

    def heartbeat(self, assignment: Assignment, progress: Progress | None) -> Part | None:
        """Renew the lease of a container, and store its progress. ``None`` if its attempt was superseded.

        The part has ``preempt_reason`` if it was preempted: its container stops at the next checkpoint. It has
        ``cancel_at`` if it was cancelled: its container stops by then.
        """
        part = self.parts.renew(assignment, self._lease(), progress)
        if part is not None:
            self.callbacks.heartbeat(part.tokens)
            if progress is not None or self._started_recently(part):
                self.sync.update([part], None if progress is None else self.clock())
        return part

    def checkpoint(self, assignment: Assignment, state: Any) -> Part | None:
        """Store the state from which the next attempt resumes. ``None`` if the attempt was superseded."""
        if self.parts.renew(assignment, self._lease(), None) is None:  # a superseded attempt must not overwrite it
            return None
        return self.parts.record_checkpoint(assignment, self.checkpoints.store(assignment, state), self._lease())

    def log(self, assignment: Assignment, chunk: LogChunk) -> bool:
        """Store log lines. Idempotent. ``False`` if the attempt was superseded."""
        part = self.parts.get(assignment.execution_id, assignment.part)
        if not assignment.matches(part):
            return False
        # a container writes to the log of its own attempt only
        own = replace(chunk, part=assignment.part, attempt=assignment.attempt)
        self.logs.store(assignment.execution_id, own)
        return True

    def conclude(self, assignment: Assignment, result: AttemptResult) -> bool:
        """Record the result that a container reports. Idempotent. ``False`` if it was recorded or superseded before."""
        part = self.parts.get(assignment.execution_id, assignment.part)
        if part is None or part.status not in SLOT_HOLDING_STATUSES or not assignment.matches(part):
            return False
        return self.ender.conclude(part, result)

    def _results_of_partitions(self, part: Part) -> list[Any]:
        partitions = [one for one in self.parts.of(part.execution_id) if one.name not in (COLLECT, WHOLE)]
        results = [one.result or Result() for one in partitions]
        if sum(len(json.dumps(result.value)) for result in results) > MAX_COLLECTED_BYTES:
            results = [replace(result, value=None) for result in results]
        return [self._link_or_value(result) for result in results]

    def _link_or_value(self, result: Result) -> dict[str, Any]:
        link = self.results.link(result)
        return {"link": link} if link else {"value": result.value}

    def _started_recently(self, part: Part) -> bool:
        """Whether the execution is synchronized again, because admission may have overwritten ``running`` with its
        own, earlier update to ``starting``."""
        if part.started_at is None:
            return False
        return self.clock() - part.started_at < timedelta(seconds=self.heartbeat_seconds * 3)

    def _lease(self) -> datetime:
        return self.clock() + timedelta(seconds=self.heartbeat_seconds * HEARTBEATS_PER_LEASE)
