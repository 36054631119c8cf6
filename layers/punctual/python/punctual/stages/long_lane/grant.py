"""Grant: answer the state machine run of a part that got a slot with everything it needs to start the container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from punctual.domain import instant
from punctual.domain.long_lane.assignment import assignment_of
from punctual.domain.long_lane.container_death import IMPOSSIBLE
from punctual.domain.long_lane.part import Part

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Callbacks

RUNNER_COMMAND = ["python", "-m", "punctual.runtime.container.main"]
OVERHEAD_SECONDS = 60
"""Added to the task's own timeout, which the runner enforces: for the container to start and to report its result."""
MIN_HEARTBEAT_TIMEOUT_SECONDS = 300
"""Longer than any container takes to start. A container that stops sending heartbeats later is found sooner, by its
lease."""


@dataclass(frozen=True)
class GrantSender:
    callbacks: Callbacks
    task_definitions: Mapping[str, str]
    """By the name of the image; the empty name is Punctual's own."""
    heartbeat_seconds: int
    clock: Clock

    def send(self, part: Part) -> None:
        """Send the grant of a part that got a slot. Idempotent: a run that no longer waits ignores it.

        A part whose image was removed from the settings is failed in its own run, so that it does not block others.
        """
        if part.image in self.task_definitions:
            self.callbacks.succeed(part.tickets, self.grant(part))
        else:
            cause = f"the image {part.image!r} is no longer in the stack's settings: add it, or edit the job"
            self.callbacks.fail(part.tickets, IMPOSSIBLE, cause)

    def grant(self, part: Part) -> dict[str, Any]:
        """The grant: input of the states ``WaitForStart`` and ``Run`` of the state machine."""
        timeout = part.timeout_seconds + OVERHEAD_SECONDS + MIN_HEARTBEAT_TIMEOUT_SECONDS
        return {
            "attempt": part.attempt,
            "task_definition": self.task_definitions[part.image],
            "capacity": [{"CapacityProvider": "FARGATE_SPOT" if part.spot else "FARGATE", "Weight": 1}],
            "cpu": str(part.cpu),
            "memory": str(part.memory_mb),
            "command": list(part.command) if part.image else RUNNER_COMMAND,
            "assignment": assignment_of(part).to_text(),
            "start_at": instant.to_text(part.start_at or self.clock()),
            "timeout_seconds": timeout,
            "heartbeat_seconds": self._heartbeat_timeout(part, timeout),
        }

    def _heartbeat_timeout(self, part: Part, timeout: int) -> int:
        # A custom image sends no heartbeats; Step Functions requires a heartbeat timeout below the timeout.
        if not part.uses_runner:
            return timeout - 1
        return max(MIN_HEARTBEAT_TIMEOUT_SECONDS, 3 * self.heartbeat_seconds)
