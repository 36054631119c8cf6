"""The minute's tick, and looks at deadlines → the monitor and check stages."""

from __future__ import annotations

import json
from typing import Any

from punctual.aws.clients import cloudwatch, dynamodb, sqs, states
from punctual.aws.cloudwatch.metrics import CloudWatchMetrics, emf
from punctual.aws.dynamodb.queue_flows import DynamoFlows
from punctual.aws.dynamodb.table import Table
from punctual.aws.sqs.deadline_checks import SqsChecks
from punctual.aws.sqs.notice_queue import SqsNotices
from punctual.aws.sqs.queue_depths import SqsQueueDepths
from punctual.aws.sqs.work_queues import SqsDeadLetters
from punctual.aws.step_functions.long_runs import FailedLongRuns
from punctual.domain import instant
from punctual.domain.errors import Unreadable
from punctual.domain.forecasts.deadline_check import Check, read_check
from punctual.domain.forecasts.queue_backlog import BacklogLimits
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import MonitorSettings
from punctual.stages.plan.upstreams import Lookup
from punctual.stages.watch.check_deadlines import Checker, Forecaster
from punctual.stages.watch.measure import Monitor, Survey

settings = MonitorSettings.from_env()
executions = wiring.watched_executions(settings)
concurrency: dict[str, int] = json.loads(settings.concurrency)
queue_urls = {str(name): url for name, url in settings.queue_urls.items()} | {"intake": settings.intake_queue_url}
dead_letter_urls: list[str] = json.loads(settings.dead_letter_queue_urls)
samples, lane_outlooks = wiring.samples(settings), wiring.lane_outlooks(settings)
limits = LaneLimits(tasks=settings.long_tasks, cpu=settings.long_vcpus * 1024, starts_per_second=1)
metrics = CloudWatchMetrics(cloudwatch)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)
jobs = wiring.jobs(settings)
checker = Checker(
    jobs=jobs,
    executions=executions,
    checks=SqsChecks(settings.checks_queue_url, sqs),
    notices=SqsNotices(settings.notices_queue_url, sqs),
    forecaster=Forecaster(
        samples=samples,
        lane_outlooks=lane_outlooks,
        limits=limits,
        concurrency=concurrency,
        upstreams=Lookup(jobs=jobs, executions=executions),
        clock=instant.now,
    ),
    clock=instant.now,
)
monitor = Monitor(
    survey=Survey(
        depths=SqsQueueDepths(queue_urls, sqs, logger.warning),
        flows=DynamoFlows(Table(settings.signals_table, dynamodb())),
        samples=samples,
        concurrency=concurrency,
        limits=BacklogLimits(minutes=settings.backlog_minutes, messages=settings.backlog_messages),
    ).tick,
    executions=executions,
    slots=wiring.parts(settings),
    lane_outlooks=lane_outlooks,
    timers=wiring.timers(settings),
    runs=FailedLongRuns(settings.state_machine_arn, states),
    dead_letters=SqsQueueDepths({url: url for url in dead_letter_urls}, sqs, logger.warning),
    limits=limits,
    shards=settings.timer_shards,
    clock=instant.now,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    return _look(event["Records"]) if "Records" in event else _tick()


def _tick() -> dict[str, Any]:
    """First what alarms watch, then the looks that are due: of those there may be many."""
    found, now = monitor.tick(), instant.now()
    metrics.publish(found.figures, now)
    for figures, dimensions in found.details:
        print(emf(figures, now, dimensions))
    sent = checker.send_due(range(settings.timer_shards))
    logger.info("measured", extra={"figures": found.figures, "checks_sent": sent})
    if found.failures:
        raise RuntimeError(f"not all could be measured: {'; '.join(found.failures)}")
    return {"figures": found.figures, "checks_sent": sent}


def _look(records: list[dict[str, Any]]) -> dict[str, Any]:
    """One by one, so that none is held up by another. A change is counted at once, so that alarms need not wait."""
    changed, failures = [], []
    for record in records:
        try:
            changed += checker.check(_checks(record))
        except Exception:
            logger.exception("a deadline could not be looked at", extra={"message_id": record["messageId"]})
            failures.append({"itemIdentifier": record["messageId"]})
    for change in changed:
        logger.info("a deadline's state changed", extra=vars(change))
    if changed:
        metrics.publish(monitor.deadlines([change.after for change in changed]), instant.now())
    return {"batchItemFailures": failures}


def _checks(record: dict[str, Any]) -> list[Check]:
    try:
        return [read_check(record["body"])]
    except Unreadable as error:
        logger.warning("buried a message", extra={"reason": str(error)})
        dead_letters.bury(record["body"], str(error))
        return []
