"""A deployment with thousands of jobs and executions, and what its API reads from DynamoDB to answer a request."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any
from unittest import mock

from punctual.aws.dynamodb.dependant_item import dependant_items
from punctual.aws.dynamodb.items import Item, typed
from punctual.aws.dynamodb.job_item import job_to_item
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import execution_id, new_job_id
from punctual.domain.instant import to_text
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.schedules.every import Every
from punctual.domain.status import Status
from tests.simulator.aws.account import Account
from tests.simulator.aws.dynamodb import DynamoDb
from tests.simulator.deployment import Deployment, installed
from tests.simulator.kernel import Kernel
from tests.simulator.operator import event
from tests.simulator.stored_live import (
    add_lane,
    add_live_executions,
    add_log_and_result,
    add_operations,
    add_statistics,
    put,
    started_item,
)

START = datetime(2026, 11, 1, tzinfo=UTC)
OWNERS = ("data-quality", "finance")
DAY = timedelta(days=1)
EXECUTIONS_PER_JOB = 10
DEPENDANTS = 10
"""Of the first job."""
PER_READ_UNIT = 4096
"""Bytes."""


@dataclass
class Reads:
    """What the requests to DynamoDB read."""

    dynamodb: DynamoDb = field(repr=False)
    requests: Counter[str] = field(default_factory=Counter)
    records: int = 0
    """Read by key."""
    units: float = 0
    """Read units, as AWS computes them from sizes: a query rounds up its page, every other read each item."""

    def count(self, _service: str, operation: str, parameters: Any, response: Any) -> None:
        self.requests[f"{operation} {parameters.get('IndexName', '')}"] += 1
        batches = [item for items in response.get("Responses", {}).values() for item in items]
        keys = sum(len(batch.get("Keys", ())) for batch in parameters.get("RequestItems", {}).values())
        missing = [0] * (keys - len(batches))  # each costs as much as a small item
        if parameters.get("Select") == "COUNT":  # it answers without the items that it reads
            response = self.dynamodb.query(**{name: one for name, one in parameters.items() if name != "Select"})
        found = batches if keys else response.get("Items") or [response.get("Item", {})]
        sizes = [*map(size_of, found), *missing]
        self.records += len(batches)
        factor = 1 if "'ConsistentRead': True" in str(parameters) else 0.5
        self.units += sum(max(1, ceil(size / PER_READ_UNIT)) * factor for size in (sizes if keys else [sum(sizes)]))


def size_of(item: Item) -> int:
    values = ((name, value) for name, typed_value in item.items() for value in typed_value.values())
    return sum(len(name) + len(value if isinstance(value, bytes) else str(value)) for name, value in values)


@dataclass
class Api:
    deployment: Deployment

    def get(self, path: str) -> tuple[dict[str, Any], Reads]:
        """A page, and what it read."""
        reads, hooks = Reads(self.deployment.account.dynamodb), self.deployment.account.hooks
        with mock.patch.object(hooks, "after_call", reads.count):
            return self._request("GET", path), reads

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to the request of an administrator."""
        return self._request("POST", path, None if body is None else json.dumps(body), groups="admin")

    def _request(self, method: str, path: str, body: str | None = None, **more: Any) -> dict[str, Any]:
        response = self.deployment.call("api", event(method, path, body, **more))
        assert response["statusCode"] < 300, response["body"]
        answer: dict[str, Any] = json.loads(response["body"])
        return answer


@contextmanager
def stored(jobs: int) -> Iterator[Api]:
    """A deployment with this many jobs of two owners, nine of ten live, and ten ended executions of each.

    ``stored_live`` describes what else it has.
    """
    kernel = Kernel()
    account = Account(lambda: kernel.now)
    with installed(kernel, account) as deployment:
        kernel.now = START + timedelta(days=30)
        put(account, "jobs", typed({"job_id": "#owners", "owners": frozenset(OWNERS)}))
        all_jobs = [job_of(number) for number in range(jobs)]
        for number, job in enumerate(all_jobs):
            for item in (job_to_item(job), *dependant_items(job)):
                put(account, "jobs", typed(item))
            first = typed(started_item(execution_of(job)))
            for minute in range(EXECUTIONS_PER_JOB):
                due = START + timedelta(minutes=number + minute)
                changed = {"execution_id": execution_id(job.job_id, due), "scheduled_at": to_text(due)}
                put(account, "executions", first | typed(changed))
        example = execution_of(all_jobs[0])
        add_live_executions(account, all_jobs, example, START)
        add_statistics(account, all_jobs, [ended(all_jobs[0], START + day * DAY) for day in range(30)], kernel.now)
        add_operations(account, START)
        add_lane(account, all_jobs, START)
        add_log_and_result(account, example)
        yield Api(deployment)


def job_of(number: int) -> Job:
    created_at = START + timedelta(seconds=number)
    return Job(
        job_id=new_job_id(created_at, str(number)),
        name=f"job-{number:05d}",
        owner=OWNERS[number % 2],
        created_by="ann",
        task="echo",
        schedule=Every(60, START),
        created_at=created_at,
        updated_at=created_at,
        tags={"dataset": "rare" if number == 0 else "orders"},
        state=JobState.DONE if number % 10 == 9 else JobState.ACTIVE,
        is_upstream=number == 0,
        depends_on=(Dependency(job_of(0).job_id),) if 0 < number <= DEPENDANTS else (),
    )


def ended(job: Job, due: datetime) -> Execution:
    """An execution that succeeded ten seconds after its due instant."""
    name, ended_at = execution_id(job.job_id, due), due + timedelta(seconds=10)
    return replace(execution_of(job), execution_id=name, scheduled_at=due, started_at=due, ended_at=ended_at)


def execution_of(job: Job) -> Execution:
    return Execution(
        job_id=job.job_id,
        execution_id=execution_id(job.job_id, START),
        owner=job.owner,
        task=job.task,
        scheduled_at=START,
        status=Status.SUCCEEDED,
        tags=job.tags,
        job_name=job.name,
        started_at=START,
        ended_at=START,
        attempt=1,
        deadline_at=START + 300 * DAY,
        worker_id="worker-1",
    )
