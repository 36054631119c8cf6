"""The emulator's ECS and EventBridge, as used by the stand-in for Fargate."""

import json
from collections.abc import Iterable
from typing import Any

from botocore.config import Config

from local.aws import client
from local.container import End
from local.ecs_task import EcsTask

MAX_TASKS_PER_REQUEST = 100
# Short timeouts and no retries: the caller polls.
PATIENCE = Config(connect_timeout=2, read_timeout=15, retries={"max_attempts": 0})


class EcsCluster:
    """The tasks of one cluster."""

    def __init__(self, name: str, endpoint: str) -> None:
        self._name = name
        self._ecs: Any = client("ecs", endpoint, PATIENCE)
        self._events: Any = client("events", endpoint, PATIENCE)
        self._definitions: dict[str, dict[str, Any]] = {}

    def wanted(self) -> set[str]:
        """The ARNs of the tasks with the desired status RUNNING."""
        pages = self._ecs.get_paginator("list_tasks").paginate(cluster=self._name, desiredStatus="RUNNING")
        return {arn for page in pages for arn in page["taskArns"]}

    def described(self, arns: Iterable[str]) -> list[EcsTask]:
        """Describe the tasks. Skips tasks that the emulator does not know."""
        wanted = sorted(arns)
        found = []
        for start in range(0, len(wanted), MAX_TASKS_PER_REQUEST):
            reply = self._ecs.describe_tasks(cluster=self._name, tasks=wanted[start : start + MAX_TASKS_PER_REQUEST])
            found += [EcsTask(task, self._definition(task["taskDefinitionArn"])) for task in reply["tasks"]]
        return found

    def report_start(self, task: EcsTask) -> None:
        """Publish to EventBridge that the task's container is running."""
        self._publish(task, {"lastStatus": "RUNNING", "desiredStatus": "RUNNING"}, {})

    def report_end(self, task: EcsTask, end: End) -> None:
        """Mark the task as stopped and publish that to EventBridge. A repeated call publishes the same event again."""
        now = next(iter(self.described([task.arn])), task).described
        reason, code = end.reason, end.code
        if now["lastStatus"] != "STOPPED":
            self._ecs.stop_task(cluster=self._name, task=task.arn, reason=reason)
        elif now.get("stoppedReason") not in (None, "", reason):
            reason, code = (
                now["stoppedReason"],
                now["stopCode"],
            )  # the task was stopped through the API: keep that reason
        # A container that never started has a reason instead of an exit code.
        outcome = {"reason": end.reason} if end.exit_code is None else {"exitCode": end.exit_code}
        stopped = {"lastStatus": "STOPPED", "desiredStatus": "STOPPED", "stoppedReason": reason, "stopCode": code}
        self._publish(task, stopped, outcome)

    def _publish(self, task: EcsTask, state: dict[str, Any], of_container: dict[str, Any]) -> None:
        """Publish a task state change event in the format of ECS."""
        (container, *_) = task.described["containers"]
        detail = {
            **{name: task.described.get(name) for name in ("taskArn", "clusterArn", "taskDefinitionArn", "overrides")},
            "launchType": "FARGATE",
            **state,
            "containers": [
                {
                    **{name: container[name] for name in ("containerArn", "name", "image")},
                    "lastStatus": state["lastStatus"],
                    **of_container,
                }
            ],
        }
        self._events.put_events(
            Entries=[
                {
                    "Source": "punctual.fargate",
                    "DetailType": "ECS Task State Change",
                    "Resources": [task.arn],
                    "Detail": json.dumps(detail),
                }
            ]
        )

    def _definition(self, arn: str) -> dict[str, Any]:
        if arn not in self._definitions:
            reply = self._ecs.describe_task_definition(taskDefinition=arn)
            self._definitions[arn] = reply["taskDefinition"]
        return self._definitions[arn]
