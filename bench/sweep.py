"""The cost of a sweep grows with the timers that are due, not with the timers that are stored."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.report import Report, console
from bench.stack import metered
from punctual.aws.dynamodb.shards import DynamoShards
from punctual.aws.dynamodb.table import Table
from punctual.aws.dynamodb.timers import DynamoTimers
from punctual.domain.executions.horizon import SWEEP_HORIZON
from punctual.domain.executions.timer import Timer, TimerReason
from punctual.domain.identity import execution_id, new_job_id
from punctual.domain.instant import to_epoch_ms
from tests.e2e.punctual import Punctual, wait_for

STORED = (1_000, 50_000)
DUE = 100


def measure(punctual: Punctual) -> Report:
    report = Report(f"A dispatcher's sweep with {DUE} timers due")
    read: list[float] = []
    stored = 0
    for wanted in STORED:
        _store(punctual, wanted - stored, ahead=timedelta(days=1))
        stored = wanted
        start = _just_after_a_tick(punctual)
        _store(punctual, DUE, ahead=SWEEP_HORIZON + timedelta(seconds=2))
        time.sleep(5)  # until they are within the sweep horizon
        swept = _tick(punctual)
        units = metered(punctual, start, datetime.now(UTC))["read_units"]
        assert swept["timers_seen"] == DUE, swept
        report.show(f"{wanted:,} stored: timers read", str(swept["timers_seen"]))
        report.show(f"{wanted:,} stored: read units", f"{units:g}")
        read.append(units)
    report.limit(f"read units with {STORED[1]:,} stored against {STORED[0]:,}", read[1] / read[0], 1.1, "×")
    return report


def _just_after_a_tick(punctual: Punctual) -> datetime:
    """Wait for the scheduled tick, so that the next one is most of a minute away and only our tick sweeps timers."""
    logs = {"logGroupName": punctual.stack["log_groups"]["dispatcher"], "filterPattern": '"swept"'}
    since = to_epoch_ms(datetime.now(UTC))
    client = punctual.aws("logs")
    wait_for(lambda: client.filter_log_events(**logs, startTime=since)["events"], 90, "the scheduled tick")
    return datetime.now(UTC)


def _tick(punctual: Punctual) -> dict[str, Any]:
    """Invoke the dispatcher for one tick."""
    answer = punctual.aws("lambda").invoke(
        FunctionName=punctual.stack["functions"]["dispatcher"], Payload=json.dumps({"shard": 0})
    )
    swept: dict[str, Any] = json.loads(answer["Payload"].read())
    return swept


def _store(punctual: Punctual, count: int, ahead: timedelta) -> None:
    with console.status(f"storing {count:,} timers"):
        items: list[dict[str, Any]] = []
        now = datetime.now(UTC)
        shards = DynamoShards(Table(punctual.stack["tables"]["executions"], punctual.aws("dynamodb")), 1, lambda: now)
        timers = DynamoTimers(_Collecting(items), shards)  # type: ignore[arg-type]
        for n in range(count):
            at = now + ahead + timedelta(milliseconds=n)
            job = new_job_id(now)
            timers.set(Timer(at=at, job_id=job, execution_id=execution_id(job, at), reason=TimerReason.DUE))
        Table(punctual.stack["tables"]["timers"], punctual.aws("dynamodb")).put_many(items)


class _Collecting:
    """Collects items instead of writing them, so that they can be stored in few large requests."""

    def __init__(self, items: list[dict[str, Any]]) -> None:
        self._items = items

    def put(self, item: dict[str, Any]) -> None:
        self._items.append(item)
