"""The containers of the long lane: ECS tasks on Fargate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from punctual.domain.long_lane.assignment import Assignment, assignment_and_token_of
from punctual.domain.long_lane.container_death import cause_of_stop

DESCRIBE_BATCH_SIZE = 100
"""DescribeTasks takes at most this many tasks."""


@dataclass(frozen=True)
class FargateContainers:
    """Implements ``InspectableContainers`` and ``IdentifiableContainers``."""

    cluster: str
    ecs: Callable[[], Any]

    def stop(self, task_arn: str, reason: str) -> None:
        try:
            self.ecs().stop_task(cluster=self.cluster, task=task_arn, reason=reason[:1000])
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("InvalidParameterException", "ClusterNotFoundException"):
                raise

    def is_started_for(self, assignment: Assignment, task_arn: str) -> bool:
        described = self.ecs().describe_tasks(cluster=self.cluster, tasks=[task_arn])
        return [assignment_and_token_of(task)[0] for task in described["tasks"]] == [assignment]

    def find_stopped(self, task_arns: Iterable[str]) -> dict[str, str]:
        remaining = list(task_arns)
        found: dict[str, str] = {}
        while remaining:
            batch, remaining = remaining[:DESCRIBE_BATCH_SIZE], remaining[DESCRIBE_BATCH_SIZE:]
            answer = self.ecs().describe_tasks(cluster=self.cluster, tasks=batch)
            for task in answer["tasks"]:
                if task["lastStatus"] == "STOPPED":
                    found[task["taskArn"]] = cause_of_stop(task)
            for missing in answer.get("failures", ()):
                found[missing["arn"]] = cause_of_stop({"stoppedReason": "ECS has no record of this container"})
        return found


if TYPE_CHECKING:
    from punctual.ports.long_lane import IdentifiableContainers, InspectableContainers

    _identifiable_containers: type[IdentifiableContainers] = FargateContainers
    _inspectable_containers: type[InspectableContainers] = FargateContainers
