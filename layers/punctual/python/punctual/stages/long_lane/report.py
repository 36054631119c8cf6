"""Report: what containers say of themselves, and what ECS says of those that said nothing.

A container speaks for one attempt of one part, and proves it with the key that it was started with. Nothing else
is open to it: it reads no table, no bucket and no other part. What it says after it was superseded is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Fatal, Unreadable
from punctual.domain.executions.attempt_decision import AttemptDecision, AttemptResult, decide
from punctual.domain.executions.execution import Execution, Failure, Outcome, Progress, Result
from punctual.domain.long_lane.assignment import Assignment, read_assignment
from punctual.domain.long_lane.container_death import STOPPED, cause_of_stop
from punctual.domain.long_lane.laxity import as_it_goes_on
from punctual.domain.long_lane.part import COLLECT, WHOLE, Part
from punctual.domain.status import HOLDING, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Callbacks, Checkpoints, Containers, LongExecutions, RunningParts
    from punctual.ports.running import Results

MOST_INLINE = 2_000_000
"""Bytes of results that are handed to the collecting step as they are; more are fetched one by one."""
BEATS_PER_LEASE = 3
"""Two beats may be missed before a container counts as lost."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a container has to do."""

    execution: Execution
    part: Part
    resume: Any
    """The state that an earlier attempt left."""
    results: list[Any]
    """For the collecting step: what the partitions returned, or where it can be fetched."""


@dataclass(frozen=True)
class Reporter:
    executions: LongExecutions
    parts: RunningParts
    follow: Callable[[Iterable[Part], datetime | None], None]
    """Tells the execution of parts that have changed, and when they told their progress, if that is it."""
    checkpoints: Checkpoints
    results: Results
    callbacks: Callbacks
    containers: Containers
    clock: Clock
    uniform: Callable[[float, float], float]
    beat_seconds: int

    def claim(self, assignment: Assignment, token: str, task_arn: str | None) -> Work | None:
        """A container is there. ``None`` when it comes too late."""
        part = self.parts.claim(assignment, token, task_arn, self._lease(), self.clock())
        if part is None:
            self.parts.pass_on(assignment, token)
        execution = self.executions.get(assignment.job_id, assignment.execution_id) if part else None
        if part is None or execution is None:
            return None
        self.callbacks.beat(token)
        self.follow([part], None)
        resume = self.checkpoints.load(part.checkpoint) if part.checkpoint else None
        results = self._results_of_partitions(part) if part.name == COLLECT else []
        return Work(execution=execution, part=part, resume=resume, results=results)

    def beat(self, assignment: Assignment, progress: Progress | None) -> Part | None:
        """It is alive, and this far. ``None`` when it was superseded.

        ``leave`` of the part says if it has to go for now, ``cancel_at`` if it is to stop for good.
        """
        part = self.parts.renew(assignment, self._lease(), progress)
        if part is not None:
            self.callbacks.beat(part.token or "")
            if progress is not None or self._is_young(part):
                self.follow([part], None if progress is None else self.clock())
        return part

    def checkpoint(self, assignment: Assignment, state: Any) -> Part | None:
        """Keep the state from which the next attempt would go on."""
        if self.parts.renew(assignment, self._lease(), None) is None:  # a late one must not overwrite anything
            return None
        return self.parts.keep_checkpoint(assignment, self.checkpoints.keep(assignment, state), self._lease())

    def conclude(self, assignment: Assignment, verdict: AttemptResult) -> bool:
        """How it ended, in its own words. Coming again changes nothing."""
        part = self.parts.get(assignment.execution_id, assignment.part)
        if part is None or part.status not in HOLDING or not assignment.fits(part):
            return False
        return self._conclude(part, verdict)

    def running(self, task: Mapping[str, Any]) -> None:
        """ECS has started a container. One with an own image says nothing itself, so this is its claim."""
        assignment, token = _assigned(task)
        if assignment is None:
            return
        part = self.parts.get(assignment.execution_id, assignment.part)
        if part is None or not assignment.fits(part) or part.status not in HOLDING:
            self.containers.stop(task["taskArn"], "it came too late")
        elif not part.reports and part.status is Status.STARTING:
            claimed = self.parts.claim(assignment, token, task["taskArn"], None, self.clock())
            self.follow([claimed or part], None)

    def stopped(self, task: Mapping[str, Any]) -> None:
        """ECS has stopped a container. If it did not say how it ended, its state machine is told at once."""
        assignment, token = _assigned(task)
        if assignment is None:
            return
        part = self.parts.get(assignment.execution_id, assignment.part)
        if part is None or part.status not in HOLDING or not assignment.fits(part):
            self.callbacks.succeed(token, {})  # it has said how it ended; in case nobody told its state machine
        elif part.task_arn and part.task_arn != task["taskArn"]:
            return  # one of two that were started for the same attempt; the other runs
        elif not part.reports and not (part.leave or part.cancel_at) and _exit_code(task) == 0:
            self._conclude(replace(part, token=token), AttemptResult(outcome=Outcome.SUCCEEDED))
        else:
            self.callbacks.fail(token, STOPPED, cause_of_stop(task))

    def _conclude(self, part: Part, verdict: AttemptResult) -> bool:
        if verdict.outcome is Outcome.INTERRUPTED and part.leave:
            failure = Failure(type="Preempted", message=part.leave)
            verdict = AttemptResult(outcome=Outcome.PREEMPTED, error=failure)
        decision = self._settlement(part, verdict)
        concluded = self.parts.conclude(as_it_goes_on(part, decision), decision, self.clock())
        self.callbacks.succeed(part.token or "", {})
        return concluded

    def _settlement(self, part: Part, verdict: AttemptResult) -> AttemptDecision:
        decision = decide(part, verdict, now=self.clock(), uniform=self.uniform)
        in_time = part.cancel_at is not None and self.clock() <= part.cancel_at
        if decision.status is not Status.SUCCEEDED and (verdict.value is None or not in_time):
            return decision
        try:
            name = f"{part.job_id}/{part.execution_id}/{part.name}/{part.attempt}"
            return replace(decision, result=self.results.keep(name, verdict.value, always=True))
        except Fatal as error:
            failure = Failure(type="Fatal", message=str(error))
            return decide(
                part, AttemptResult(outcome=Outcome.FATAL, error=failure), now=self.clock(), uniform=self.uniform
            )

    def _results_of_partitions(self, part: Part) -> list[Any]:
        partitions = [one for one in self.parts.of(part.execution_id) if one.name not in (COLLECT, WHOLE)]
        results = [one.result or Result() for one in partitions]
        if sum(len(json.dumps(result.value)) for result in results) > MOST_INLINE:
            results = [replace(result, value=None) for result in results]
        return [self._handed_on(result) for result in results]

    def _handed_on(self, result: Result) -> dict[str, Any]:
        link = self.results.link(result)
        return {"link": link} if link else {"value": result.value}

    def _is_young(self, part: Part) -> bool:
        """Its start may have been told while admission told that it was starting: once or twice again."""
        return part.started_at is not None and self.clock() - part.started_at < timedelta(seconds=self.beat_seconds * 3)

    def _lease(self) -> datetime:
        return self.clock() + timedelta(seconds=self.beat_seconds * BEATS_PER_LEASE)


def _assigned(task: Mapping[str, Any]) -> tuple[Assignment | None, str]:
    """What a task of ECS was started for, told from its environment. ``None`` for a task that is not ours."""
    overrides = (task.get("overrides") or {}).get("containerOverrides") or ()
    given = {one["name"]: one["value"] for override in overrides for one in override.get("environment") or ()}
    try:
        return read_assignment(given.get("PUNCTUAL_ORDER", "")), given.get("PUNCTUAL_TASK_TOKEN", "")
    except Unreadable:
        return None, ""


def _exit_code(task: Mapping[str, Any]) -> int | None:
    container: Mapping[str, Any] = next(iter(task.get("containers") or ()), {})
    return container.get("exitCode")
