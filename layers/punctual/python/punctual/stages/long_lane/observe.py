"""Observe: record the starts and ends of containers that ECS reports, whether or not the container reports them itself.

The events come from EventBridge only: a container cannot invoke the observer, because an event carries no proof of its
sender.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from punctual.domain.executions.execution import Outcome
from punctual.domain.long_lane.assignment import assignment_and_token_of
from punctual.domain.long_lane.container_death import STOPPED, cause_of_stop, infer_result
from punctual.domain.status import SLOT_HOLDING_STATUSES

if TYPE_CHECKING:
    from punctual.domain.long_lane.part import Part
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Callbacks, Containers, RunningParts
    from punctual.stages.long_lane.end_part import PartEnder
    from punctual.stages.long_lane.execution_sync import ExecutionSync


@dataclass(frozen=True)
class Observer:
    parts: RunningParts
    sync: ExecutionSync
    callbacks: Callbacks
    containers: Containers
    ender: PartEnder
    clock: Clock

    def on_running(self, task: Mapping[str, Any]) -> None:
        """Handle the event that ECS has started a container.

        A container with a custom image does not call the reporter: this event is its claim. A container whose attempt
        was superseded is stopped. So is the second of two containers with a custom image that were started for one
        attempt.
        """
        assignment, token = assignment_and_token_of(task)
        if assignment is None:
            return
        part = self.parts.get(assignment.execution_id, assignment.part)
        if part is None or not assignment.matches(part) or part.status not in SLOT_HOLDING_STATUSES:
            self.containers.stop(task["taskArn"], "its attempt was superseded")
        elif not part.uses_runner and part.task_arn != task["taskArn"]:
            claimed = self.parts.claim(assignment, token, task["taskArn"], None, self.clock())
            if claimed is None:
                self.ender.share_token(assignment, token)
                self.containers.stop(task["taskArn"], "another container runs this attempt")
            else:
                self.sync.update([claimed], None)

    def on_stopped(self, task: Mapping[str, Any]) -> None:
        """Handle the event that ECS has stopped a container.

        Wakes the state machine run at once if the container did not report a result. A custom image reports none:
        exit code 0 is success. Idempotent.
        """
        assignment, token = assignment_and_token_of(task)
        if assignment is None:
            return
        part = self.parts.get(assignment.execution_id, assignment.part)
        if part is None or part.status not in SLOT_HOLDING_STATUSES or not assignment.matches(part):
            self.callbacks.succeed([token], {})  # the result is recorded; a crash may have prevented this answer
        elif part.task_arn and part.task_arn != task["taskArn"]:
            self.ender.share_token(assignment, token)  # of two containers for this attempt, the other one runs
        else:
            self._conclude_or_fail(replace(part, tokens=part.tokens | {token}), cause_of_stop(task))

    def _conclude_or_fail(self, part: Part, cause: str) -> None:
        """Record a success; any other end is inferred and recorded by the state machine run, which is failed."""
        result = infer_result(part, {"Error": STOPPED, "Cause": cause})
        if result.outcome is Outcome.SUCCEEDED:
            self.ender.conclude(part, result)
        else:
            self.callbacks.fail(part.tokens, STOPPED, cause)
