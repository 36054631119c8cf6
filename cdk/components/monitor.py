"""EventBridge Scheduler, every minute; checks queue ─▶ monitor ─▶ executions table, notices queue, metrics."""

from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import MONITOR_TIMEOUT, Queues
from cdk.components.sources import read_queue
from cdk.components.tables import (
    CHECKS_INDEX,
    DEADLINES_INDEX,
    HOLDING_INDEX,
    LONG_INDEX,
    QUEUE_JOBS_INDEX,
    RUNNING_INDEX,
    UNSTARTED_INDEX,
    WAITING_INDEX,
    Tables,
)
from cdk.components.ticks import Ticks
from cdk.settings import Settings

MAX_CHECK_CONCURRENCY = 5


class Monitor(Construct):
    """Checks deadlines, overruns and backlogs, and publishes the metrics that alarms watch."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        queues: Queues,
        ticks: scheduler.CfnScheduleGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "monitor",
            settings=settings,
            layers=layers,
            timeout=MONITOR_TIMEOUT,
            memory_mb=512,
            # No retries: the tick after a failed one measures the same, and reports the gap between ticks.
            retry_attempts=0,
            # A check sends the next one of its execution, at most until the execution ends. Lambda would end such a
            # loop after 16 messages.
            recursive_loop=lambda_.RecursiveLoop.ALLOW,
            environment={
                # The emulator extracts no metrics from the log.
                "METRICS_FROM_LOGS": str(int(not settings.is_emulated)),
                "STATE_MACHINE_ARN": "",  # of the long lane, if the stage has one
                **settings.alerts.backlog_limits,
                **settings.long.limits,
                **settings.concurrency.limits,
            },
        )
        tables.jobs.grant(self.function, "GetItem", "BatchGetItem")
        tables.jobs.grant_query(self.function, QUEUE_JOBS_INDEX)
        tables.executions.grant(self.function, "GetItem", "BatchGetItem", "UpdateItem", "Query")
        tables.executions.grant_query(
            self.function, CHECKS_INDEX, DEADLINES_INDEX, LONG_INDEX, RUNNING_INDEX, UNSTARTED_INDEX
        )
        tables.gates.grant(self.function, "Query")
        tables.parts.grant(self.function, "BatchGetItem", "Query")
        tables.parts.grant_query(self.function, WAITING_INDEX, HOLDING_INDEX)
        tables.timers.grant(self.function, "GetItem")
        tables.signals.grant(self.function, "GetItem", "BatchGetItem", "PutItem")
        tables.statistics.grant(self.function, "BatchGetItem", "Query")
        tables.operations.grant(self.function, "BatchGetItem", "Query")
        queues.bulk.queue.grant(self.function, "SendMessage")
        queues.checks.queue.grant(self.function, "SendMessage")
        queues.notices.queue.grant(self.function, "SendMessage")
        queues.grant_depths(self.function)
        read_queue(
            self,
            "ChecksSource",
            function=self.function,
            queue=queues.checks,
            batch_size=10,
            concurrency=MAX_CHECK_CONCURRENCY,
        )
        Ticks(self, self.function, "monitor", ticks).every(
            "1 minute",
            "Tick",
            "Sends deadline checks, reports overruns, samples the queues, publishes metrics",
            do="tick",
        )
