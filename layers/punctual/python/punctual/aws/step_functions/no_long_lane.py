"""What takes the place of the long lane in a stage without it: nothing can start, and nothing runs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.errors import LongLaneOff
from punctual.domain.executions.execution import Execution


class NoStateMachine:
    def start(self, execution: Execution) -> None:
        """Raises ``LongLaneOff``."""
        raise LongLaneOff(execution.execution_id)

    def create_schedule(self, execution: Execution) -> None:
        """Raises ``LongLaneOff``."""
        raise LongLaneOff(execution.execution_id)

    def delete_schedule(self, execution_id: str) -> None:
        """The schedules were deleted with the lane."""

    def stop(self, run_arn: str, reason: str) -> None:
        """The runs were deleted with the lane."""

    def scheduled(self) -> Iterator[str]:
        return iter(())

    def running(self) -> Iterator[str]:
        return iter(())

    def failed_since(self, since: datetime) -> int:  # noqa: ARG002
        return 0


class NoContainers:
    def stop(self, task_arn: str, reason: str) -> None:
        """The containers were deleted with the lane."""


if TYPE_CHECKING:
    from punctual.ports.long_lane import Containers, StateMachines
    from punctual.ports.monitoring import LongRunFailures

    _state_machines: type[StateMachines] = NoStateMachine
    _long_run_failures: type[LongRunFailures] = NoStateMachine
    _containers: type[Containers] = NoContainers
