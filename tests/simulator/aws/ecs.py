"""ECS: tasks that run and stop. The simulator plays the containers and sends the state change events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.simulator.aws.client import Response, operation
from tests.simulator.aws.errors import ServiceError
from tests.simulator.aws.table import ACCOUNT, REGION


@dataclass
class Task:
    arn: str
    cluster: str
    request: dict[str, Any]
    """The other parameters of ``run_task``."""
    is_stop_requested: bool = False
    details: dict[str, Any] = field(default_factory=lambda: {"lastStatus": "RUNNING"})

    def stop(self, reason: str, stop_code: str, exit_code: int | None = None) -> None:
        """Stop the task, as its container or ECS does."""
        container = {"name": "runner"} | ({} if exit_code is None else {"exitCode": exit_code})
        stopped = {"lastStatus": "STOPPED", "stoppedReason": reason, "stopCode": stop_code, "containers": [container]}
        self.details.update(stopped)

    @property
    def overrides(self) -> Any:
        return _camel(self.request.get("overrides", {}))

    def to_response(self) -> Response:
        return {"taskArn": self.arn, "clusterArn": self.cluster, "overrides": self.overrides, **self.details}


class Ecs:
    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        """By ARN, in the order of their start."""

    @operation
    def run_task(self, *, cluster: str, **request: Any) -> Response:
        task = Task(f"arn:aws:ecs:{REGION}:{ACCOUNT}:task/{cluster}/{len(self.tasks) + 1:032x}", cluster, request)
        self.tasks[task.arn] = task
        return {"tasks": [task.to_response()], "failures": []}

    @operation
    def stop_task(self, *, cluster: str, task: str, reason: str) -> Response:  # noqa: ARG002
        """Ask a task to stop. It stops when the simulator calls ``Task.stop``."""
        found = self.tasks.get(task)
        if found is None:
            raise ServiceError("InvalidParameterException", "The referenced task was not found.")
        found.is_stop_requested = True
        return {"task": found.to_response()}

    @operation
    def describe_tasks(self, *, cluster: str, tasks: list[str]) -> Response:  # noqa: ARG002
        return {
            "tasks": [self.tasks[arn].to_response() for arn in tasks if arn in self.tasks],
            "failures": [{"arn": arn, "reason": "MISSING"} for arn in tasks if arn not in self.tasks],
        }


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {name[0].lower() + name[1:]: _camel(one) for name, one in value.items()}
    return [_camel(one) for one in value] if isinstance(value, list) else value
