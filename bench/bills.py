"""The bills of an execution and of an idle month, line by line."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import Any

from bench import usage
from bench.report import Report
from bench.stack import ALSO_METERED, METERED
from cdk.settings import PROD
from punctual.domain.forecasts.bill import Usage
from tests.e2e.punctual import Punctual
from tests.infrastructure.conftest import new_app
from tests.infrastructure.deployed import Deployed

IDLE_SECONDS = 180
MINUTES_PER_MONTH = 730 * 60
ALWAYS_PUBLISHED = 2
"""``TickGapSeconds`` and ``EstimatedDollars``; the others only while they are not zero."""
RECORDED_TOLERANCE = 0.1


@dataclass(frozen=True)
class IdleMinute:
    """What the ticks use in a minute without jobs."""

    all: Usage
    dispatcher: Usage


def idle_minute(punctual: Punctual) -> IdleMinute:
    """Wait for some minutes, in which there must be no job."""
    since = datetime.now(UTC)
    time.sleep(IDLE_SECONDS)
    until = datetime.now(UTC)
    minute = 60 / (until - since).total_seconds()

    def used(functions: tuple[str, ...]) -> Usage:
        return usage.counted(punctual, since, until, functions).usage(PROD.log_retention_days).times(minute)

    return IdleMinute(used((*METERED, *ALSO_METERED)), used(("dispatcher",)))


def idle_month(minute: IdleMinute) -> Usage:
    """An idle month of the stack that `make deploy` creates."""
    with TemporaryDirectory() as directory:
        return minute.all.times(MINUTES_PER_MONTH) + fixed_month(Deployed.of(new_app(PROD, outdir=directory)))


def fixed_month(stack: Deployed) -> Usage:
    """What the template of a stack determines."""
    sources = stack.all("AWS::Lambda::EventSourceMapping").values()
    rates = [schedule["ScheduleExpression"] for schedule in stack.all("AWS::Scheduler::Schedule").values()]
    return Usage(
        empty_receives=usage.empty_receives(sum("StartingPosition" not in source for source in sources)),
        tick_invocations=rates.count("rate(1 minute)") * MINUTES_PER_MONTH,
        metric_months=ALWAYS_PUBLISHED,
        alarm_months=len(stack.alarms()),
        dashboard_months=len(stack.all("AWS::CloudWatch::Dashboard")),
        key_months=len(stack.all("AWS::KMS::Key")),
    )


def execution(punctual: Punctual, since: datetime, until: datetime, executions: int, minute: IdleMinute) -> Usage:
    """What one execution uses, without what the ticks use anyway."""
    found = usage.counted(punctual, since, until, METERED).usage(PROD.log_retention_days)
    minutes = (until - since).total_seconds() / 60
    stored = usage.stored_gb_months(_a_record(punctual), PROD.brief_retention_days)
    return (found + minute.dispatcher.times(-minutes)).times(1 / executions) + Usage(
        sqs_requests=usage.PER_MESSAGE,
        waiting_gb_seconds=usage.WAITING_SECONDS * usage.MEMORY_GB,
        table_gb_months=stored,
        recovery_gb_months=stored,
    )


def show(report: Report, name: str, billed: Usage, most: float, recorded: float) -> None:
    """Add a row per line, and the total with its limit. ``recorded`` is the total of the documentation."""
    for line, dollars in billed.lines.items():
        report.show(f"{name}: {line}", f"${dollars:.2f}")
    report.limit(f"{name}: total", billed.dollars, most, " dollars")
    report.limit(f"{name}: difference to the recorded total", abs(billed.dollars / recorded - 1), RECORDED_TOLERANCE)


def _a_record(punctual: Punctual) -> list[dict[str, Any]]:
    """The item of an ended execution, and its entry in the index by owner."""
    pages = punctual.aws("dynamodb").get_paginator("scan").paginate(TableName=punctual.stack["tables"]["executions"])
    ended = next(item for page in pages for item in page["Items"] if item.get("status") == {"S": "succeeded"})
    return [ended, {name: ended[name] for name in ("owner", "job_id", "execution_id")}]
