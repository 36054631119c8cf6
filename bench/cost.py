"""AWS requests per recurring short execution, counted at the botocore layer inside the deployed functions.

Measures two kinds of jobs: due within the planner horizon, so that the planner sends them directly to their queue, and
due beyond it, so that they wait as timers. Each is counted over a period in which as many executions are planned as
run. The first kind is measured with tags, too: they are part of the record of an execution.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from bench import bills
from bench.report import Report
from bench.stack import metered
from punctual.domain.executions.horizon import PLANNER_HORIZON, SWEEP_HORIZON, TICK
from punctual.domain.forecasts import bill
from punctual.domain.instant import from_text
from tests.e2e.punctual import FINAL, Punctual, wait_for

STEADY_SECONDS = 120
"""Each two minutes, the planner plans the executions of two minutes at once: a period has all of one such batch."""
FIRST_BATCH_AFTER = PLANNER_HORIZON - SWEEP_HORIZON + TICK + timedelta(seconds=10)
"""By then, the first batch after the submission is planned. It has 62 to 121 executions, depending on the second of the
submission, so a period with it would not plan as many executions as run."""
JOBS_BEYOND = 100
LOG_LINES, LOGGING_JOBS = 10, 20
MOST_TAGS = {f"{number:02}".ljust(50, "k"): "v" * 100 for number in range(20)}
"""As many and as long as a job may have."""
MOST_UNITS, MOST_UNITS_WITHIN_HORIZON, MOST_UNITS_WITH_TAGS = 8, 6.6, 17
MOST_DOLLARS, MOST_IDLE_DOLLARS = 10, 10
"""Per million executions, all in; and per month in which none runs."""
MILLION = 1_000_000
MOST_READ_UNITS = 2.5
"""With the reads of the ticks, which are regardless of the load: about 18 a minute."""
POLLER = {"sqs.ReceiveMessage": 1, "sqs.DeleteMessage": 1}
"""Requests that Lambda's poller makes for each message. They are billed, although Punctual does not make them."""


def measure(punctual: Punctual) -> Report:
    report = Report("Requests of one recurring short execution, and the bill of a million of them")
    minute = bills.idle_minute(punctual)
    bills.show(report, "an idle month", bills.idle_month(minute), MOST_IDLE_DOLLARS, bill.IDLE_MONTH_DOLLARS)
    beyond, within, tagged = _beyond_horizon(punctual), _within_horizon(punctual), _with_tags(punctual)
    for most, (name, since, until, executions) in (
        (MOST_UNITS, beyond),
        (MOST_UNITS_WITHIN_HORIZON, within),
        (MOST_UNITS_WITH_TAGS, tagged),
    ):
        counted = metered(punctual, since, until)
        ticks = metered(punctual, since, until, ("dispatcher",))["dynamodb.PutItem"]
        flushes = counted[f"write_units:{punctual.stack['tables']['signals']}"]
        statistics = _take_statistics(counted, punctual.stack["tables"]["statistics"])
        _describe(report, name, counted, int(ticks), int(flushes), executions, most)
        report.show(f"{name}: write units of the statistics, in addition", f"{statistics / executions:.2f}")
    for recorded, (name, since, until, executions) in (
        (bill.EXECUTION_DOLLARS, beyond),
        (bill.EXECUTION_EACH_SECOND_DOLLARS, within),
    ):
        million = bills.execution(punctual, since, until, executions, minute).times(MILLION)
        bills.show(report, f"a million {name}", million, MOST_DOLLARS, recorded * MILLION)
    report.show(f"write units of {LOG_LINES} log lines written at once, in addition", f"{_log_lines(punctual):.2f}")
    return report


def _log_lines(punctual: Punctual) -> float:
    """The write units of the log of one execution."""
    since = datetime.now(UTC)
    parameters = {"seconds": [0] * LOG_LINES}
    jobs = punctual.submit_all(*({"task": "steps", "parameters": parameters} for _ in range(LOGGING_JOBS)))
    for job in jobs:
        punctual.wait_for_end(job)
    until = datetime.now(UTC) + timedelta(seconds=3)
    _sleep_until(until)  # the workers log their counts after the executions have ended
    counted = metered(punctual, since, until, ("worker",))
    return counted[f"write_units:{punctual.stack['tables']['logs']}"] / LOGGING_JOBS


def _take_statistics(counted: Counter[str], table: str) -> float:
    """Remove what the statistics consume from the counts. Returns their write units."""
    writes = counted[f"write_units:{table}"]
    counted.subtract({"write_units": writes, "read_units": counted[f"read_units:{table}"]})
    return writes


def _with_tags(punctual: Punctual) -> tuple[str, datetime, datetime, int]:
    _sleep_until(datetime.now(UTC) + PLANNER_HORIZON)  # the last work orders of the deleted job would be counted
    _, start, end, executions = _within_horizon(punctual, MOST_TAGS)
    return "due every second, with twenty tags of maximum length", start, end, executions


def _within_horizon(
    punctual: Punctual, tags: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, datetime, datetime, int]:
    job = punctual.submit(name="metered", tags=dict(tags), schedule={"every_seconds": 1})
    punctual.wait_for_end(job)
    _sleep_until(datetime.now(UTC) + FIRST_BATCH_AFTER)
    start = datetime.now(UTC).replace(second=30, microsecond=0)  # ticks come at a fixed second: measure whole minutes
    if start < datetime.now(UTC) + timedelta(seconds=1):
        start += timedelta(minutes=1)
    end = start + timedelta(seconds=STEADY_SECONDS)
    _sleep_until(end + timedelta(seconds=3))
    punctual.request("DELETE", f"/jobs/{job['job_id']}")
    ran = [one for one in punctual.executions(job) if one["ended_at"] and start <= from_text(one["ended_at"]) < end]
    return "due every second", start, end, len([one for one in ran if one["attempt"]])


def _beyond_horizon(punctual: Punctual) -> tuple[str, datetime, datetime, int]:
    seconds = int(PLANNER_HORIZON.total_seconds()) + 15
    jobs = [{"task": "echo", "name": f"far-{n}", "schedule": {"every_seconds": seconds}} for n in range(JOBS_BEYOND)]
    made = punctual.request("POST", "/jobs/batch", {"jobs": jobs}).json()["items"]

    def with_status(statuses: set[str]) -> bool:
        return all(any(one["status"] in statuses for one in punctual.executions(job)) for job in made)

    wait_for(lambda: with_status({"scheduled"}), 60, "the first executions to be planned")
    start = datetime.now(UTC)
    _sleep_until(start + timedelta(seconds=seconds - 5))
    wait_for(lambda: with_status(FINAL), 60, "the first executions to end")
    end = datetime.now(UTC)
    for job in made:
        punctual.request("DELETE", f"/jobs/{job['job_id']}")
    return f"due every {seconds} s", start, end, JOBS_BEYOND


def _describe(
    report: Report, name: str, counted: Counter[str], ticks: int, flushes: int, executions: int, most_units: float
) -> None:
    """Add the rows of one kind of job.

    Each tick records its position, and each worker its counts at most every few seconds, regardless of the load. These
    requests are not part of the cost of an execution, and are shown separately.
    """
    counted = Counter({what: count for what, count in counted.items() if "units:" not in what})
    counted.subtract({"write_units": ticks + flushes, "dynamodb.PutItem": ticks, "dynamodb.UpdateItem": flushes})
    each = {what: count / executions for what, count in counted.items()} | POLLER
    sqs = sum(count for what, count in each.items() if what.startswith("sqs."))
    writes, reads = each.pop("write_units"), each.pop("read_units", 0.0)
    report.show(f"{name}: executions counted", str(executions))
    report.show(f"{name}: positions recorded by ticks", str(ticks))
    report.show(f"{name}: counts recorded by workers", str(flushes))
    report.limit(f"{name}: DynamoDB write units", writes, most_units)
    report.limit(f"{name}: DynamoDB read units", reads, MOST_READ_UNITS)
    report.limit(f"{name}: SQS requests", sqs, 3)
    for what, count in sorted(each.items()):
        report.show(f"    {what}", f"{count:.2f}" + (" (Lambda's poller)" if what in POLLER else ""))


def _sleep_until(instant: datetime) -> None:
    time.sleep(max(0.0, (instant - datetime.now(UTC)).total_seconds()))
