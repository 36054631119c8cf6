"""The containers on Fargate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from punctual.domain.long_lane.container_death import cause_of_stop

BATCH = 100


@dataclass(frozen=True)
class FargateContainers:
    cluster: str
    ecs: Callable[[], Any]

    def stop(self, task_arn: str, reason: str) -> None:
        try:
            self.ecs().stop_task(cluster=self.cluster, task=task_arn, reason=reason[:1000])
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("InvalidParameterException", "ClusterNotFoundException"):
                raise

    def gone(self, task_arns: Iterable[str]) -> dict[str, str]:
        remaining = list(task_arns)
        found: dict[str, str] = {}
        while remaining:
            batch, remaining = remaining[:BATCH], remaining[BATCH:]
            answer = self.ecs().describe_tasks(cluster=self.cluster, tasks=batch)
            for task in answer["tasks"]:
                if task["lastStatus"] == "STOPPED":
                    found[task["taskArn"]] = cause_of_stop(task)
            for missing in answer.get("failures", ()):
                found[missing["arn"]] = cause_of_stop({"stoppedReason": "ECS does not know this container any more"})
        return found
