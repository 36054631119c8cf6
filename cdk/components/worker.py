"""SQS high / normal / low ─▶ worker: claims an execution, runs its task, records the outcome."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import WORKER_TIMEOUT, Queues
from cdk.components.results import Results
from cdk.components.sources import read_queue
from cdk.components.tables import Tables
from cdk.components.task_permissions import grant_task_permissions
from cdk.settings import Settings


class Worker(Construct):
    """Processes one execution per message. Each priority has its own concurrency, so none starves another."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        queues: Queues,
        results: Results,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "worker",
            settings=settings,
            layers=layers,
            tasks=True,
            environment=settings.of_tasks,
            timeout=WORKER_TIMEOUT,
            memory_mb=512,
            provisioned=settings.provisioned.worker,
        )
        tables.grant_gates(self.function)
        tables.signals.grant(self.function, "UpdateItem")
        tables.logs.grant(self.function, "BatchWriteItem")
        results.grant(self.function, "GetObject", "PutObject")  # reads the results of upstreams
        self.task_role = self._task_role()
        grant_task_permissions(self.task_role, settings=settings, tables=tables, results=results, queues=queues)
        self.function.allow("sts:AssumeRole", on=[self.task_role.role_arn])
        self.function.add_environment({"TASK_ROLE_ARN": self.task_role.role_arn})
        for name, queue in queues.short.items():
            queue.queue.grant(self.function, "ChangeMessageVisibility")
            read_queue(
                self,
                f"{name.title()}Source",
                function=self.function,
                queue=queue,
                batch_size=1,
                concurrency=getattr(settings.concurrency, name),
            )

    def _task_role(self) -> iam.Role:
        """The role with which tasks run, which only the worker may assume.

        The trust names the worker's role in a condition: IAM refuses a principal that was created seconds before.
        """
        only_worker = {"ArnEquals": {"aws:PrincipalArn": self.function.role.role_arn}}
        return iam.Role(
            self,
            "TaskRole",
            description="Permissions of tasks in the short lane of Punctual",
            assumed_by=iam.PrincipalWithConditions(iam.AccountRootPrincipal(), only_worker),
        )
