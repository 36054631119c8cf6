"""End a part: record the result of its attempt, and answer the tokens for which its state machine run waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.executions.attempt_decision import AttemptDecision, AttemptResult, decide_and_store
from punctual.domain.long_lane.laxity import after_attempt
from punctual.domain.long_lane.part_decision import decide_part

if TYPE_CHECKING:
    from punctual.domain.long_lane.assignment import Assignment
    from punctual.domain.long_lane.part import Part
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Callbacks, RunningParts
    from punctual.ports.running import Results


@dataclass(frozen=True)
class PartEnder:
    parts: RunningParts
    results: Results
    callbacks: Callbacks
    clock: Clock
    uniform: Callable[[float, float], float]

    def conclude(self, part: Part, result: AttemptResult) -> bool:
        """Record a result. Idempotent. ``False`` if the attempt was superseded, or its end was recorded before."""
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

    def share_token(self, assignment: Assignment, token: str) -> None:
        """Let the container that runs the attempt answer the token of another one, for which the run may wait."""
        if not self.parts.add_token(assignment, token):
            self.callbacks.succeed([token], {})  # no container runs it any more: the run reads how it has ended
