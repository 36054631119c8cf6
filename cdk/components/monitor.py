"""EventBridge Scheduler, every minute; checks queue ─▶ monitor ─▶ executions table, notices queue, metrics."""

import json

from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import MONITOR_TIMEOUT, Queues
from cdk.components.sources import read_queue
from cdk.components.tables import Tables
from cdk.components.ticks import Ticks
from cdk.names import state_machine_arn
from cdk.settings import Settings

CHECKS_AT_ONCE = 5


class Monitor(Construct):
    """Looks at deadlines and backlogs before anybody has to ask, and publishes what the alarms watch."""

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
        checks, notices = queues.checks, queues.notices
        dead_letters = list(queues.dead_letters.values())
        self.function = Function(
            self,
            "monitor",
            settings=settings,
            layers=layers,
            timeout=MONITOR_TIMEOUT,
            memory_mb=512,
            # A tick that failed is not repeated: the next one sees the same, and says how long the gap was.
            retry_attempts=0,
            environment={
                "JOBS_TABLE": tables.jobs.table_name,
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "PARTS_TABLE": tables.parts.table_name,
                "SIGNALS_TABLE": tables.signals.table_name,
                "TIMERS_TABLE": tables.timers.table_name,
                "CHECKS_QUEUE_URL": checks.queue.queue_url,
                "NOTICES_QUEUE_URL": notices.queue.queue_url,
                "DEAD_LETTER_QUEUE_URL": checks.dead_letters.queue_url,
                "DEAD_LETTER_QUEUE_URLS": json.dumps([queue.queue_url for queue in dead_letters]),
                "STATE_MACHINE_ARN": state_machine_arn(self),
                "LONG_VCPUS": str(settings.long.vcpus),
                "LONG_TASKS": str(settings.long.tasks),
                "CONCURRENCY": settings.concurrency.as_json,
                "BACKLOG_MINUTES": str(settings.alerts.backlog_minutes),
                "BACKLOG_MESSAGES": str(settings.alerts.backlog_messages),
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
                "INTAKE_QUEUE_URL": queues.intake.queue.queue_url,
                **queues.short_urls,
            },
        )
        self._allow_tables(tables)
        self.function.allow(
            "sqs:SendMessage", on=[checks.queue.queue_arn, checks.dead_letters.queue_arn, notices.queue.queue_arn]
        )
        looked_at = [*(pair.queue for pair in queues.work.values()), *dead_letters]
        self.function.allow("sqs:GetQueueAttributes", on=[queue.queue_arn for queue in looked_at])
        self.function.allow("states:ListExecutions", on=[state_machine_arn(self)])
        read_queue(
            self,
            "ChecksSource",
            function=self.function,
            queue=checks.queue,
            batch_size=10,
            concurrency=CHECKS_AT_ONCE,
        )
        Ticks(self, self.function, "monitor", ticks).every(
            "1 minute", "Tick", "Orders deadline checks, surveys the queues, publishes metrics", do="tick"
        )

    def _allow_tables(self, tables: Tables) -> None:
        self.function.allow("dynamodb:GetItem", on=[tables.timers.table_arn])
        self.function.allow("dynamodb:GetItem", "dynamodb:BatchGetItem", on=[tables.jobs.table_arn])
        self.function.allow(
            "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=[tables.executions.table_arn]
        )
        self.function.allow("dynamodb:BatchGetItem", on=[tables.parts.table_arn])
        self.function.allow(
            "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:PutItem", on=[tables.signals.table_arn]
        )
        self.function.allow(
            "dynamodb:Query",
            on=[tables.due_checks, tables.endangered_executions, tables.waiting_parts, tables.held_slots],
        )
