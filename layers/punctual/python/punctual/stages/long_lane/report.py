"""Report: record what containers report, and what ECS reports of containers that did not report a result.

A container acts for one attempt of one part, and proves it with the key of its assignment. It has no other access: it
reads no table, no bucket and no other part. Calls of a superseded attempt are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Unreadable
from punctual.domain.executions.attempt_decision import AttemptDecision, AttemptResult, decide_and_store
from punctual.domain.executions.execution import Execution, Outcome, Result
from punctual.domain.executions.execution_log import LogChunk
from punctual.domain.executions.progress import Progress
from punctual.domain.long_lane.assignment import Assignment, assignment_in
from punctual.domain.long_lane.container_death import STOPPED, cause_of_stop, infer_result
from punctual.domain.long_lane.laxity import after_attempt
from punctual.domain.long_lane.part import COLLECT, WHOLE, Part
from punctual.domain.long_lane.part_decision import decide_part
from punctual.domain.status import FINAL, SLOT_HOLDING_STATUSES

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.execution_logs import LogStore
    from punctual.ports.long_lane import Callbacks, Checkpoints, Containers, ReportedExecutions, RunningParts
    from punctual.ports.running import Results
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
    containers: Containers
    logs: LogStore
    clock: Clock
    uniform: Callable[[float, float], float]
    heartbeat_seconds: int

    def claim(self, assignment: Assignment, token: str, task_arn: str | None) -> ClaimedWork | None:
        """Claim a part for a container that has started. Idempotent.

        ``None`` if its attempt was superseded, or if its execution has ended: the settler may not have cancelled the
        part yet.

        Of two containers that were started for one attempt, only the first to claim gets the part. The state machine
        run may wait for the token of the other, so the part keeps both.
        """
        execution = self.executions.get(assignment.job_id, assignment.execution_id)
        if execution is None or execution.status in FINAL:
            return None
        part = self.parts.claim(assignment, token, task_arn, self._lease(), self.clock())
        if part is None:
            self._share_token(assignment, token)
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
        return self._conclude(part, result)

    def on_task_running(self, task: Mapping[str, Any]) -> None:
        """Handle the event that ECS has started a container.

        A container with a custom image does not call the reporter: this event is its claim. A container whose attempt
        was superseded is stopped. So is the second of two containers with a custom image that were started for one
        attempt.
        """
        assignment, token = _assignment_and_token(task)
        if assignment is None:
            return
        part = self.parts.get(assignment.execution_id, assignment.part)
        if part is None or not assignment.matches(part) or part.status not in SLOT_HOLDING_STATUSES:
            self.containers.stop(task["taskArn"], "its attempt was superseded")
        elif not part.uses_runner and part.task_arn != task["taskArn"]:
            claimed = self.parts.claim(assignment, token, task["taskArn"], None, self.clock())
            if claimed is None:
                self._share_token(assignment, token)
                self.containers.stop(task["taskArn"], "another container runs this attempt")
            else:
                self.sync.update([claimed], None)

    def on_task_stopped(self, task: Mapping[str, Any]) -> None:
        """Handle the event that ECS has stopped a container.

        Wakes the state machine run at once if the container did not report a result. A custom image reports none:
        exit code 0 is success. Idempotent.
        """
        assignment, token = _assignment_and_token(task)
        if assignment is None:
            return
        part = self.parts.get(assignment.execution_id, assignment.part)
        if part is None or part.status not in SLOT_HOLDING_STATUSES or not assignment.matches(part):
            self.callbacks.succeed([token], {})  # the result is recorded; a crash may have prevented this answer
        elif part.task_arn and part.task_arn != task["taskArn"]:
            self._share_token(assignment, token)  # two containers were started for this attempt, and the other one runs
        else:
            self._conclude_or_fail(replace(part, tokens=part.tokens | {token}), cause_of_stop(task))

    def _share_token(self, assignment: Assignment, token: str) -> None:
        """Let the container that runs the attempt answer the token of another one, for which the run may wait."""
        if not self.parts.add_token(assignment, token):
            self.callbacks.succeed([token], {})  # no container runs it any more: the run reads how it has ended

    def _conclude_or_fail(self, part: Part, cause: str) -> None:
        """Record a success; any other end is inferred and recorded by the state machine run, which is failed."""
        result = infer_result(part, {"Error": STOPPED, "Cause": cause})
        if result.outcome is Outcome.SUCCEEDED:
            self._conclude(part, result)
        else:
            self.callbacks.fail(part.tokens, STOPPED, cause)

    def _conclude(self, part: Part, result: AttemptResult) -> bool:
        concluded = self.parts.conclude(*self._decide(part, result), self.clock())
        self.callbacks.succeed(part.tokens, {})
        return concluded

    def _decide(self, part: Part, result: AttemptResult) -> tuple[Part, AttemptDecision]:
        name = f"{part.job_id}/{part.execution_id}/{part.name}/{part.attempt}"
        now = self.clock()
        decision = decide_and_store(
            part,
            result,
            now,
            decision_on=lambda result: decide_part(part, result, now=now, uniform=self.uniform)[1],
            store=lambda value: self.results.store(name, value, always=True),
        )
        return after_attempt(part, decision), decision

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


def _assignment_and_token(task: Mapping[str, Any]) -> tuple[Assignment | None, str]:
    """The assignment and task token in the environment of an ECS task; ``None`` for a task of another origin."""
    overrides = (task.get("overrides") or {}).get("containerOverrides") or ()
    given = {one["name"]: one["value"] for override in overrides for one in override.get("environment") or ()}
    try:
        return assignment_in(given), given.get("PUNCTUAL_TASK_TOKEN", "")
    except Unreadable:
        return None, ""
