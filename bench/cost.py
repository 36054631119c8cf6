"""What one recurring short execution asks of AWS, counted at the botocore layer inside the deployed functions.

Two kinds: a job that comes due within the planner's reach, which goes straight to its queue, and one beyond it, which
waits in the timer wheel. Each is counted over a span in which as many executions are planned as are run.
"""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench import prices
from bench.report import Report
from bench.stack import metered
from punctual.domain.executions.horizon import REACH
from punctual.domain.instant import from_text
from tests.e2e.punctual import FINAL, Punctual, awaited

STEADY_SECONDS = 120
JOBS_BEYOND = 100
POLLER = {"sqs.ReceiveMessage": 1, "sqs.DeleteMessage": 1}
"""Made by Lambda's own poller for each message, and paid for, though no code of Punctual's makes them."""


def measure(punctual: Punctual) -> Report:
    report = Report("Requests of one recurring short execution")
    for name, since, until, executions in (_beyond_reach(punctual), _within_reach(punctual)):
        counted = metered(punctual, since, until)
        ticks = metered(punctual, since, until, ("dispatcher",))["dynamodb.PutItem"]
        tells = counted[f"write_units:{punctual.stack['tables']['signals']}"]
        _describe(report, name, counted, int(ticks), int(tells), executions)
    return report


def _within_reach(punctual: Punctual) -> tuple[str, datetime, datetime, int]:
    job = punctual.submit(name="metered", schedule={"every_seconds": 1})
    punctual.ended(job)
    start = datetime.now(UTC).replace(second=30, microsecond=0)  # ticks come at a fixed second: take whole minutes
    if start < datetime.now(UTC) + timedelta(seconds=1):
        start += timedelta(minutes=1)
    end = start + timedelta(seconds=STEADY_SECONDS)
    _sleep_until(end + timedelta(seconds=3))
    punctual.request("DELETE", f"/jobs/{job['job_id']}")
    ran = [one for one in punctual.executions(job) if one["ended_at"] and start <= from_text(one["ended_at"]) < end]
    return "due every second", start, end, len([one for one in ran if one["attempt"]])


def _beyond_reach(punctual: Punctual) -> tuple[str, datetime, datetime, int]:
    seconds = int(REACH.total_seconds()) + 15
    jobs = [{"task": "echo", "name": f"far-{n}", "schedule": {"every_seconds": seconds}} for n in range(JOBS_BEYOND)]
    made = punctual.request("POST", "/jobs/batch", {"jobs": jobs}).json()["items"]

    def with_status(statuses: set[str]) -> bool:
        return all(any(one["status"] in statuses for one in punctual.executions(job)) for job in made)

    awaited(lambda: with_status({"scheduled"}), 60, "the first executions to be planned")
    start = datetime.now(UTC)
    _sleep_until(start + timedelta(seconds=seconds - 5))
    awaited(lambda: with_status(FINAL), 60, "the first executions to end")
    end = datetime.now(UTC)
    for job in made:
        punctual.request("DELETE", f"/jobs/{job['job_id']}")
    return f"due every {seconds} s", start, end, JOBS_BEYOND


def _describe(report: Report, name: str, counted: Counter[str], ticks: int, tells: int, executions: int) -> None:
    """A tick records how far it swept, and a worker what it counted, at most every few seconds, whatever there is to
    run: that is not the cost of an execution, and shown beside it."""
    counted = Counter({what: count for what, count in counted.items() if "units:" not in what})
    counted.subtract({"write_units": ticks + tells, "dynamodb.PutItem": ticks, "dynamodb.UpdateItem": tells})
    each = {what: count / executions for what, count in counted.items()} | POLLER
    sqs = sum(count for what, count in each.items() if what.startswith("sqs."))
    writes, reads = each.pop("write_units"), each.pop("read_units", 0.0)
    report.show(f"{name}: executions counted", str(executions))
    report.show(f"{name}: positions recorded by ticks meanwhile", str(ticks))
    report.show(f"{name}: counts told by workers meanwhile", str(tells))
    report.limit(f"{name}: DynamoDB write units", writes, 8)
    report.limit(f"{name}: DynamoDB read units", reads, 2)
    report.limit(f"{name}: SQS requests", sqs, 3)
    for what, count in sorted(each.items()):
        report.show(f"    {what}", f"{count:.2f}" + (" (Lambda's poller)" if what in POLLER else ""))
    dollars = writes * prices.WRITE_UNITS + reads * prices.READ_UNITS + sqs * prices.SQS_REQUESTS
    report.show(f"{name}: DynamoDB and SQS, per million", f"${dollars:.2f}")
    report.show(f"{name}: and Lambda's requests (one each)", f"${dollars + prices.LAMBDA_REQUESTS:.2f}")


def _sleep_until(instant: datetime) -> None:
    time.sleep(max(0.0, (instant - datetime.now(UTC)).total_seconds()))
