"""What a deployment with thousands of jobs has besides jobs and ended executions: live executions, and what they store.

Every job has one live execution, which runs and has a deadline. Those of the even jobs are in the index of running
executions, the others hold the gate of their job. Each job has its statistics.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from punctual.aws.dynamodb.execution_item import as_text, execution_to_item
from punctual.aws.dynamodb.execution_logs import DynamoExecutionLogs
from punctual.aws.dynamodb.gates import HOLDER, key_of_gate
from punctual.aws.dynamodb.items import Item, instant_text, to_json, typed
from punctual.aws.dynamodb.operations import DynamoOperations
from punctual.aws.dynamodb.part_item import part_to_item
from punctual.aws.dynamodb.parts import LANE
from punctual.aws.dynamodb.statistics import DynamoStatistics
from punctual.aws.dynamodb.table import Table as TableAdapter
from punctual.domain.executions.deadline_outlook import DeadlineState, danger_key
from punctual.domain.executions.execution import Execution, Result
from punctual.domain.executions.execution_log import LogChunk, LogLine
from punctual.domain.executions.progress import Progress
from punctual.domain.identity import execution_id
from punctual.domain.instant import to_epoch_ms
from punctual.domain.jobs.gate import OF_JOB
from punctual.domain.jobs.job import Job
from punctual.domain.long_lane.laxity import admission_key
from punctual.domain.long_lane.part import Part
from punctual.domain.operations.operation import BulkAction, Kind, Operation, OperationState
from punctual.domain.requests.caller import Caller, Role
from punctual.domain.statistics.ended import QUARTER, CountedEnd, counted_end, quarter_of
from punctual.domain.statistics.job_record import JobRecord, count
from punctual.domain.statistics.quarter import Quarter, quarter_of_ends
from punctual.domain.status import Status
from tests.simulator.aws.account import Account

EPOCH = datetime.fromtimestamp(0, UTC)
YEAR = timedelta(days=365)
PARTS = 10
"""How many parts hold a slot, and how many wait for one."""
OPERATIONS = 10
LOGGED_LINES = 1000
QUARTERS = 96
"""Of an hour, in the statistics of each owner."""


def live_id(job: Job, start: datetime) -> str:
    return execution_id(job.job_id, start - timedelta(days=1))


def add_live_executions(account: Account, jobs: list[Job], example: Execution, start: datetime) -> None:
    """Add the live execution of each job, with its index entries and its gate. ``example`` is one of the first job."""
    deadline_at = start + YEAR
    running = replace(
        example,
        status=Status.RUNNING,
        scheduled_at=start - timedelta(days=1),
        started_at=start,
        ended_at=None,
        attempt=1,
        deadline_at=deadline_at,
        lease_until=deadline_at,
        worker_id="worker-2",
        progress=Progress(percent=50.0, message="half", done=5, total=10),
    )
    common = typed(started_item(running) | {"deadline_shard": "0", "tags": to_json({"dataset": "live"})})
    for number, job in enumerate(jobs):
        one = live_id(job, start)
        own: Item = {
            "job_id": job.job_id,
            "execution_id": one,
            "owner": job.owner,
            "danger": danger_key(DeadlineState.ON_TRACK, deadline_at, one),
        }
        if number % 2 == 0:
            own["running_shard"] = "0"
        else:
            gate = key_of_gate(f"{OF_JOB}{job.job_id}")
            put(account, "gates", typed({**gate, "count": 1, HOLDER + one: 1}))
        put(account, "executions", common | typed(own))


def started_item(execution: Execution) -> Item:
    """The item of an execution that has started."""
    return execution_to_item(execution) | {
        "started_at": instant_text(execution.started_at),
        "lease_until": instant_text(execution.lease_until),
        "worker_id": execution.worker_id,
        "progress": as_text(execution.progress),
        "result": as_text(execution.result),
    }


def add_statistics(account: Account, jobs: list[Job], ended: list[Execution], now: datetime) -> None:
    """Add the record of each job, and the days and quarters of an hour that the first one and its owner have."""
    ends = [counted_end(one) for one in ended]
    adapter = DynamoStatistics(_adapter(account, "statistics"))
    change = count(JobRecord(job_id=jobs[0].job_id), ends, {})
    assert change is not None
    adapter.apply([change], {}, now)
    for owner in {job.owner for job in jobs}:
        adapter.apply([], _last_day_of(owner, ends[0], now), now)
    series = f"job#{jobs[0].job_id}"
    record = account.dynamodb.tables["statistics"].items[series, "record"]
    for job in jobs[1:]:
        put(account, "statistics", {**record, "series": {"S": f"job#{job.job_id}"}})


def _last_day_of(owner: str, end: CountedEnd, now: datetime) -> dict[tuple[str, datetime], Quarter]:
    """The same counts in each of the last quarters of an hour."""
    return {(owner, quarter_of(now) - n * QUARTER): quarter_of_ends([end]) for n in range(QUARTERS)}


def add_operations(account: Account, start: datetime) -> None:
    adapter = DynamoOperations(_adapter(account, "operations"), YEAR)
    for number in range(OPERATIONS):
        operation = Operation(
            operation_id=f"01m7j3myg0ab16wzvq72d{number:05}",
            kind=Kind.JOBS,
            action=BulkAction.PAUSE,
            created_by=Caller("ann", (), Role.OPERATOR),
            created_at=start,
            total=0,
            step_at=start,
            state=OperationState.SUCCEEDED,
            ended_at=start,
        )
        adapter.add(operation, [])


def add_lane(account: Account, jobs: list[Job], start: datetime) -> None:
    """Parts that hold a slot, and parts that wait for one."""
    for number, job in enumerate(jobs[: 2 * PARTS]):
        waits = number < PARTS
        part = Part(
            execution_id=live_id(job, start),
            name="all",
            job_id=job.job_id,
            owner=job.owner,
            status=Status.WAITING if waits else Status.RUNNING,
            cpu=1024,
            memory_mb=2048,
            latest_start=start + YEAR,
            expected_seconds=3600,
            requested_at=start,
        )
        place = {"waiting": LANE, "admission_key": admission_key(part, start)} if waits else {"holding": LANE}
        put(account, "parts", typed(part_to_item(part) | place))


def add_log_and_result(account: Account, execution: Execution) -> None:
    """Log lines and a result of an ended execution."""
    lines = tuple(
        LogLine(to_epoch_ms(execution.scheduled_at), "INFO", f"checked record {n} of the table orders", {"record": n})
        for n in range(LOGGED_LINES)
    )
    chunk = LogChunk(
        part="",
        attempt=1,
        number=0,
        stored_at=execution.scheduled_at,
        lines=lines,
        totals={"INFO": LOGGED_LINES},
    )
    DynamoExecutionLogs(_adapter(account, "logs"), YEAR).store(execution.execution_id, chunk)
    put(account, "executions", typed(started_item(replace(execution, result=Result(value={"rows": 10})))))


def _adapter(account: Account, table: str) -> TableAdapter:
    return TableAdapter(table, account.client("dynamodb"))


def put(account: Account, name: str, item: Item) -> None:
    table = account.dynamodb.tables[name]
    table.write(table.key_of(item), item, 0, EPOCH)
