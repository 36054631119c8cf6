"""planner ─▶ one-time schedules, state machine ─▶ conductor, admission, Fargate ─▶ runner ─▶ reporter."""

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_scheduler as scheduler

from cdk.components.admission import Admission
from cdk.components.cluster import Cluster
from cdk.components.conductor import Conductor
from cdk.components.containers import Containers
from cdk.components.function import Function
from cdk.components.network import Network
from cdk.components.observer import Observer
from cdk.components.queues import Queues
from cdk.components.reconciler import Reconciler
from cdk.components.reporter import Reporter
from cdk.components.results import Results
from cdk.components.schedules import Schedules
from cdk.components.state_machine import StateMachine
from cdk.components.state_machine_grants import grant_list, grant_start, grant_stop
from cdk.settings import Settings


class LongLane:
    """Adds the long lane to a stack. Not a construct: its components are constructs of the stack itself."""

    def __init__(
        self,
        stack: Stack,
        *,
        settings: Settings,
        results: Results,
        queues: Queues,
        ticks: scheduler.CfnScheduleGroup,
        planner: Function,
        settler: Function,
        monitor: Function,
        **shared: Any,
    ) -> None:
        shared["settings"] = settings
        self.network = Network(stack, "Network")
        self.cluster = cluster = Cluster(stack, "Fargate")
        self.schedules = Schedules(stack, "Schedules")

        # planner ─▶ one-time schedules, state machine
        self.schedules.grant_write(planner)
        grant_start(planner)

        # runner ─▶ reporter ─▶ parts table, results bucket, state machine
        self.reporter = Reporter(stack, "Reporter", results=results, cluster=cluster, **shared)

        # ECS task state changes ─▶ observer ─▶ parts table, state machine
        self.observer = Observer(stack, "Observer", results=results, cluster=cluster, queues=queues, **shared)

        # Fargate ─▶ runner ─▶ reporter
        self.containers = Containers(
            stack,
            "Runner",
            settings=settings,
            reporter=self.reporter,
            tables=shared["tables"],
            results=results,
            queues=queues,
        )

        # state machine ─▶ conductor ─▶ executions table, parts table
        self.conductor = Conductor(stack, "Conductor", results=results, cluster=cluster, **shared)

        # planner, one-time schedules ─▶ state machine ─▶ conductor, Fargate
        self.state_machine = StateMachine(
            stack,
            "StateMachine",
            network=self.network,
            cluster=cluster,
            containers=self.containers,
            conductor=self.conductor,
        )

        # parts stream, EventBridge Scheduler, every minute ─▶ admission ─▶ parts table, state machine
        self.admission = Admission(
            stack, "Admission", queues=queues, cluster=cluster, containers=self.containers, ticks=ticks, **shared
        )

        # EventBridge Scheduler, every 30 minutes ─▶ reconciler ─▶ one-time schedules, state machine, parts table
        self.reconciler = Reconciler(
            stack, "Reconciler", cluster=cluster, schedules=self.schedules, ticks=ticks, **shared
        )

        # settler ─▶ schedules, runs and containers of executions that have ended
        self.schedules.grant_delete(settler)
        grant_stop(settler)
        cluster.grant(settler, "StopTask")

        # monitor ─▶ failed runs of the state machine
        grant_list(monitor)

    @property
    def functions(self) -> dict[str, Function]:
        """The functions of the long lane, by the name of their folder."""
        return {
            "conductor": self.conductor.function,
            "reporter": self.reporter.function,
            "observer": self.observer.function,
            "admission": self.admission.function,
            "reconciler": self.reconciler.function,
        }

    @property
    def outputs(self) -> dict[str, str]:
        return {
            "Cluster": self.cluster.name,
            "StateMachineArn": self.state_machine.resource.state_machine_arn,
            "ScheduleGroup": self.schedules.name,
            "RunnerLogGroup": self.containers.log_group.log_group_name,
        }
