"""The tick of every minute, and messages of the deadline check queue → the monitor and check stages."""

from __future__ import annotations

import json
from typing import Any

from punctual.aws.clients import cloudwatch, sqs
from punctual.aws.cloudwatch.metrics import CloudWatchMetrics
from punctual.aws.dynamodb.execution_index import DynamoExecutionIndex
from punctual.aws.sqs.dead_letters import SqsDeadLetters
from punctual.aws.sqs.deadline_checks import SqsChecks
from punctual.aws.sqs.notice_queue import SqsNotices
from punctual.aws.sqs.queue_depths import SqsQueueDepths
from punctual.domain import instant
from punctual.domain.errors import Unreadable
from punctual.domain.forecasts.deadline_check import Check, read_check
from punctual.domain.forecasts.queue_backlog import BacklogLimits
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import MonitorSettings
from punctual.stages.plan.upstreams import UpstreamLookup
from punctual.stages.watch.check_backlogs import BacklogChecker
from punctual.stages.watch.check_deadlines import DeadlineChecker, Forecaster
from punctual.stages.watch.check_overruns import OverrunChecker
from punctual.stages.watch.measure import Monitor, QueueSampler
from punctual.stages.watch.planned_demand import PlannedDemand
from punctual.stages.watch.record_queues import QueueRecorder
from punctual.stages.watch.revive_operations import OperationReviver
from punctual.stages.watch.shard_numbers import ShardNumbers

settings = MonitorSettings.from_env()
executions = wiring.watched_executions(settings)
concurrency: dict[str, int] = json.loads(settings.concurrency)
dead_letter_urls: list[str] = json.loads(settings.dead_letter_queue_urls)
samples, lane_outlooks = wiring.samples(settings), wiring.lane_outlooks(settings)
limits = LaneLimits(tasks=settings.long_tasks, cpu=settings.cpu)
metrics = CloudWatchMetrics(cloudwatch, settings.punctual_stage, from_logs=bool(settings.metrics_from_logs))
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
jobs, parts = wiring.jobs(settings), wiring.parts(settings)
notices = SqsNotices(settings.notices_queue_url, sqs)
checker = DeadlineChecker(
    jobs=jobs,
    executions=executions,
    checks=SqsChecks(settings.checks_queue_url, sqs),
    notices=notices,
    forecaster=Forecaster(
        samples=samples,
        lane_outlooks=lane_outlooks,
        limits=limits,
        concurrency=concurrency,
        upstreams=UpstreamLookup(jobs=jobs, executions=executions),
        parts=parts,
        clock=instant.now,
    ),
    clock=instant.now,
)
shards, timers = wiring.shards(settings), wiring.timers(settings)
index = DynamoExecutionIndex(executions, wiring.gates(settings))
overruns = OverrunChecker(
    jobs=jobs,
    executions=index,
    history=executions,
    notices=notices,
    clock=instant.now,
)
monitor = Monitor(
    sampler=QueueSampler(
        depths=SqsQueueDepths(settings.backlog_queue_urls, sqs, logger.warning),
        flows=wiring.flows(settings),
        samples=samples,
        concurrency=concurrency,
        limits=BacklogLimits(minutes=settings.backlog_minutes, messages=settings.backlog_messages),
    ),
    recorder=QueueRecorder(wiring.queue_hours(settings)),
    executions=executions,
    slots=parts,
    lane_outlooks=lane_outlooks,
    demand=PlannedDemand(index, jobs),
    timers=timers,
    runs=wiring.failed_runs_if_any(settings.state_machine_arn),
    dead_letters=SqsQueueDepths({url: url for url in dead_letter_urls}, sqs, logger.warning),
    limits=limits,
    shards=shards,
    clock=instant.now,
)

shard_numbers = ShardNumbers(shards, timers, settings.timer_shards, instant.now)
backlogs = BacklogChecker(
    jobs=jobs,
    queue_jobs=jobs,
    messages=wiring.unstarted_messages(settings),
    arrivals=wiring.arrivals(settings),
    statistics=wiring.statistics(settings),
    backlogs=wiring.job_backlogs(settings),
    notices=notices,
    clock=instant.now,
)
operations = OperationReviver(
    operations=wiring.operations(settings), queue=wiring.operation_queue(settings), clock=instant.now
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    return _check(event["Records"]) if "Records" in event else _tick()


def _tick() -> dict[str, Any]:
    """Publish metrics first, then send due deadline checks, and look for overruns and backlogs: there may be many."""
    measured, now = monitor.tick(), instant.now()
    metrics.publish(measured.figures, now)
    for figures, dimensions in measured.details:
        metrics.log(figures, dimensions, now)
    sent = checker.send_due(range(shards.count()))
    overrun, revived, backlog_changes = overruns.tick(), operations.tick(), backlogs.tick()
    extra = {"figures": measured.figures, "checks_sent": sent, "overrun": overrun, "revived": revived}
    extra |= {"backlog_changes": backlog_changes, "shard_numbers_removed": shard_numbers.tick()}
    logger.info("measured", extra=extra)
    if measured.failures:
        raise RuntimeError(f"some metrics could not be measured: {'; '.join(measured.failures)}")
    return {"figures": measured.figures, "checks_sent": sent}


def _check(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Handle each message by itself, so that a failure affects no other. State changes update the metrics at once."""
    changes, failures = [], []
    for record in records:
        try:
            changes += checker.check(_read(record))
        except Exception:
            logger.exception("deadline check failed, will be redelivered", extra={"message_id": record["messageId"]})
            failures.append({"itemIdentifier": record["messageId"]})
    for change in changes:
        logger.info("deadline state changed", extra=vars(change))
    if changes:
        metrics.publish(monitor.deadlines([change.after for change in changes]), instant.now())
    return {"batchItemFailures": failures}


def _read(record: dict[str, Any]) -> list[Check]:
    """Parse a message. An unreadable one goes to the dead-letter queue at once: retrying cannot help."""
    try:
        return [read_check(record["body"])]
    except Unreadable as error:
        logger.warning("moved a message to the dead-letter queue", extra={"reason": str(error)})
        dead_letters.dead_letter(record["body"], str(error))
        return []
