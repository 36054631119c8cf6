"""Simulation of Step Functions, ECS and the containers of the long lane, one step at a time."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from punctual.aws import clients
from punctual.domain.identity import short_name
from tests.integration.world import World, runner_overrides
from tests.resources import STATE_MACHINE

NO_BACKOFF = {"backoff_seconds": 0}


@dataclass
class Container:
    """A running container, represented by the calls that its runner makes to the reporter."""

    world: World
    grant: dict[str, Any]
    token: str = field(default_factory=lambda: f"run-{uuid.uuid4()}")
    task_arn: str = ""

    def __post_init__(self) -> None:
        self.task_arn = self.task_arn or self.world.start_container(self.environment)

    @property
    def assignment(self) -> dict[str, Any]:
        return json.loads(self.grant["assignment"])

    @property
    def environment(self) -> dict[str, str]:
        return {"PUNCTUAL_ASSIGNMENT": self.grant["assignment"], "PUNCTUAL_TASK_TOKEN": self.token}

    def report(self, action: str, **more: Any) -> dict[str, Any]:
        return self.world.call("reporter", {"do": action, "assignment": self.assignment, **more})

    def claim(self) -> dict[str, Any]:
        return self.report("claim", token=self.token, task_arn=self.task_arn)

    def heartbeat(self, **progress: Any) -> dict[str, Any]:
        shape = {"percent": 0.0, "message": "", "done": None, "total": None}
        return self.report("heartbeat", progress={**shape, **progress} if progress else None)

    def conclude(self, outcome: str = "succeeded", **result: Any) -> dict[str, Any]:
        return self.report("conclude", result={"outcome": outcome, **result})

    def stop(self, exit_code: int | None = 137, reason: str = "", stop_code: str = "") -> None:
        """ECS sends the event that the task has stopped."""
        self._send_state_change(
            "STOPPED", containers=[{"name": "runner", "exitCode": exit_code, "reason": reason}], stopCode=stop_code
        )

    def report_running(self) -> None:
        """ECS sends the event that the task is running."""
        self._send_state_change("RUNNING")

    def _send_state_change(self, status: str, **more: Any) -> None:
        detail = {
            "taskArn": self.task_arn,
            "lastStatus": status,
            "overrides": runner_overrides(self.environment),
            **more,
        }
        self.world.call("observer", {"detail-type": "ECS Task State Change", "detail": detail})


class LongLane:
    def __init__(self, world: World) -> None:
        self.world = world
        self.callbacks: list[tuple[str, dict[str, Any]]] = []
        """Task token callbacks sent to Step Functions: the operation and its parameters."""
        self.stopped: list[str] = []
        """ARNs passed to ``StopTask``."""
        clients.states().meta.events.register("provide-client-params.sfn", self._record_callback)
        clients.ecs().meta.events.register("provide-client-params.ecs.StopTask", self._record_stop)

    def _record_callback(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if "taskToken" in params:
            self.callbacks.append((model.name, dict(params)))

    def _record_stop(self, params: dict[str, Any], **_: Any) -> None:
        self.stopped.append(params["task"])

    def submit(self, **submission: Any) -> dict[str, Any]:
        job = self.world.submit(**{"lane": "long", **submission})
        self.world.deliver_streams()
        return job

    def execution(self, job: dict[str, Any]) -> dict[str, Any]:
        """The job's first execution, or that in its ``execution_id``, with its parts."""
        execution_id = job.get("execution_id") or self.world.executions(job["job_id"])[0]["execution_id"]
        return self.world.execution(execution_id)

    def runs(self, status: str | None = None) -> list[str]:
        """The execution ids that state machine runs were started for, sorted."""
        only = {"statusFilter": status} if status else {}
        listed = self.world.states.list_executions(stateMachineArn=STATE_MACHINE, **only)["executions"]
        runs = [self.world.states.describe_execution(executionArn=one["executionArn"]) for one in listed]
        return sorted(json.loads(one["input"])["execution_id"] for one in runs)

    def end_runs(self, execution_id: str) -> None:
        """End the runs of an execution, as a state machine does after the answer ``end``."""
        for one in self.world.states.list_executions(stateMachineArn=STATE_MACHINE, statusFilter="RUNNING")[
            "executions"
        ]:
            if one["name"].startswith(short_name(execution_id)):
                self.world.states.stop_execution(executionArn=one["executionArn"])

    def schedules(self) -> dict[str, str]:
        names = [one["Name"] for one in self.world.scheduler.list_schedules(GroupName="long")["Schedules"]]
        found = {name: self.world.scheduler.get_schedule(Name=name, GroupName="long") for name in names}
        return {name: one["ScheduleExpression"] for name, one in found.items()}

    def run_arn(self, job: dict[str, Any]) -> str:
        """The ARN of the state machine run that was started for a job's execution."""
        execution_id = self.execution(job)["execution_id"]
        listed = self.world.states.list_executions(stateMachineArn=STATE_MACHINE)["executions"]
        return next(one["executionArn"] for one in listed if one["name"].startswith(execution_id))

    def next_parts(self, job: dict[str, Any], run: str | None = None) -> dict[str, Any]:
        execution_id = self.execution(job)["execution_id"]
        request = {"do": "next_parts", "job_id": job["job_id"], "execution_id": execution_id}
        return self.world.call("conductor", {**request, "run_arn": run or self.run_arn(job)})

    def request_slot(self, job: dict[str, Any], part: str = "all", run: str | None = None) -> str:
        """Request a slot for a part. Returns the ticket."""
        ticket = f"ticket-{uuid.uuid4()}"
        execution_id = self.execution(job)["execution_id"]
        request = {"do": "request_slot", "job_id": job["job_id"], "execution_id": execution_id, "part": part}
        run_arn = run or self.attached_run(job["job_id"], execution_id)
        self.world.call("conductor", {**request, "run_arn": run_arn, "ticket": ticket})
        return ticket

    def attached_run(self, job_id: str, execution_id: str) -> str:
        """The run that is attached to an execution."""
        key = {"job_id": {"S": job_id}, "execution_id": {"S": execution_id}}
        return self.world.dynamodb.get_item(TableName="executions", Key=key)["Item"]["run_arn"]["S"]

    def grant_for(self, ticket: str) -> dict[str, Any] | None:
        """The grant that admission sent for a ticket, if any."""
        for operation, params in self.callbacks:
            if operation == "SendTaskSuccess" and params["taskToken"] == ticket:
                return json.loads(params["output"])
        return None

    def container(self, job: dict[str, Any], part: str = "all") -> Container:
        """Request a slot, receive the grant, and start a container."""
        ticket = self.request_slot(job, part)
        self.world.deliver_streams()
        self.world.deliver_streams()
        grant = self.grant_for(ticket)
        assert grant is not None, "no slot was granted"
        return Container(self.world, grant)

    def conclude_attempt(
        self, job: dict[str, Any], grant: dict[str, Any] | None, part: str = "all", **error: str
    ) -> dict[str, Any]:
        item = {"job_id": job["job_id"], "execution_id": self.execution(job)["execution_id"], "part": part}
        item |= {"grant": grant} if grant else {}
        item |= {"error": error} if error else {}
        return self.world.call("conductor", {"do": "conclude_attempt", "item": item})

    def answers_to(self, token: str) -> list[str]:
        return [operation for operation, params in self.callbacks if params["taskToken"] == token]

    def tick(self) -> dict[str, Any]:
        return self.world.call("admission", {"do": "tick"})

    def reconcile(self) -> dict[str, Any]:
        return self.world.call("reconciler", {})

    def used_capacity(self) -> tuple[int, int]:
        """Tasks and vCPUs in use, according to the lane's record."""
        key = {"execution_id": {"S": "#lane"}, "part": {"S": "long"}}
        item = self.world.dynamodb.get_item(TableName="parts", Key=key).get("Item", {})
        return int(item.get("tasks", {"N": "0"})["N"]), int(item.get("cpu", {"N": "0"})["N"]) // 1024


def start_part(lane: LongLane, **submission: Any) -> tuple[dict[str, Any], Container]:
    """Submit a job and start its only part. Returns the job and the running container."""
    job = lane.submit(**submission)
    assert lane.next_parts(job)["parts"] == ["all"]
    container = lane.container(job)
    assert container.claim()["ok"]
    return job, container
