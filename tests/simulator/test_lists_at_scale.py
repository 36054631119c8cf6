"""Lists over 10,000 jobs and 100,000 executions: here and not in tests/integration, as moto reads whole tables.

The items are written to the tables directly. The model has no scan, so a list that scanned would fail.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from punctual.aws.dynamodb.execution_item import execution_to_item
from punctual.aws.dynamodb.items import Item, typed
from punctual.aws.dynamodb.job_item import job_to_item
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import execution_id, new_job_id
from punctual.domain.instant import to_text
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.schedules.every import Every
from punctual.domain.status import Status
from tests.simulator.aws.account import Account
from tests.simulator.aws.table import Table
from tests.simulator.deployment import Deployment, installed
from tests.simulator.kernel import Kernel
from tests.simulator.operator import event

START = datetime(2026, 11, 1, tzinfo=UTC)
OWNERS = ("data-quality", "finance")
EXECUTIONS_PER_JOB = 10
PER_READ_UNIT = 4096


@dataclass
class Reads:
    """What the requests to DynamoDB read."""

    requests: Counter[str] = field(default_factory=Counter)
    records: int = 0
    units: float = 0

    def count(self, _service: str, operation: str, parameters: Any, response: Any) -> None:
        self.requests[operation, parameters.get("IndexName", "")] += 1
        batches = response.get("Responses", {})
        read = [one for items in batches.values() for one in items] or response.get("Items") or [response.get("Item")]
        sizes = [len(json.dumps(one)) for one in read if one]
        self.records += len(sizes) if batches else 0
        chunks = sizes if batches else [sum(sizes)]
        self.units += sum(ceil(max(size, 1) / PER_READ_UNIT) / 2 for size in chunks)


@dataclass
class Api:
    deployment: Deployment

    def get(self, path: str) -> tuple[dict[str, Any], Reads]:
        """A page, and what it read."""
        reads = Reads()
        self.deployment.account.hooks.after_call = reads.count
        response = self.deployment.call("api", event("GET", path, None))
        assert response["statusCode"] == 200, response["body"]
        return json.loads(response["body"]), reads


@contextmanager
def stored(jobs: int) -> Iterator[Api]:
    """A deployment with this many jobs of two owners, nine of ten live, and ten ended executions of each."""
    kernel = Kernel()
    account = Account(lambda: kernel.now)
    with installed(kernel, account) as deployment:
        kernel.now = START + timedelta(days=30)
        tables = account.dynamodb.tables
        put(tables["jobs"], typed({"job_id": "#owners", "owners": frozenset(OWNERS)}))
        for number in range(jobs):
            job = job_of(number)
            put(tables["jobs"], typed(job_to_item(job)))
            first = typed(execution_to_item(execution_of(job)))
            for minute in range(EXECUTIONS_PER_JOB):
                due = START + timedelta(minutes=number + minute)
                changed = {"execution_id": execution_id(job.job_id, due), "scheduled_at": to_text(due)}
                put(tables["executions"], first | typed(changed))
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
    )


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
        ended_at=START,
    )


def put(table: Table, item: Item) -> None:
    table.write(table.key_of(item), item, 0, START)


JOB = job_of(3).job_id
LISTS = [
    "/jobs",
    "/jobs?sort=oldest",
    "/jobs?sort=name",
    "/jobs?name=JOB",
    "/jobs?state=active&tag=dataset:orders",
    "/jobs?owner=finance",
    "/executions",
    "/executions?owner=finance",
    "/executions?status=succeeded&task=echo",
    "/executions?from=2026-11-01T00:00:00Z&to=2026-11-01T00:10:00Z",
    f"/executions?job_id={JOB}",
    f"/jobs/{JOB}/executions",
]


def test_a_page_needs_as_many_requests_over_100000_executions_as_over_ten_items() -> None:
    def requests_of(api: Api) -> dict[str, Counter[str]]:
        found = {}
        for path in LISTS:
            page, reads = api.get(f"{path}{'&' if '?' in path else '?'}limit=4")
            assert len(page["items"]) == 4, path
            found[path] = reads.requests
        return found

    with stored(10) as few:
        expected = requests_of(few)
    with stored(10_000) as many:
        assert requests_of(many) == expected
        for query in ("owner=finance", "sort=name&owner=finance", "name=job-&owner=finance"):
            page, reads = many.get(f"/jobs?{query}")
            assert (len(page["items"]), reads.units <= 30) == (50, True), (query, reads)
        page, reads = many.get("/executions?owner=finance")
        assert (len(page["items"]), reads.units <= 30) == (50, True), reads
        for path in ("/jobs?tag=dataset:rare&sort=newest", "/executions?tag=dataset:rare"):
            page, reads = many.get(path)
            assert (page["items"], page["cursor"] is not None, reads.records) == ([], True, 1000), path
            assert reads.units <= 530, (path, reads)
        for path, total in (
            ("/executions", (10_000, False)),
            ("/executions?to=2026-11-01T01:00:00Z", (555, True)),
            ("/jobs", (10_000, True)),
            ("/jobs?owner=finance&state=active,paused", (4_000, True)),
            ("/jobs?sort=name&name=job-00", (900, True)),
            ("/jobs?task=echo", (None, None)),
        ):
            page, _ = many.get(f"{path}{'&' if '?' in path else '?'}total=true")
            assert (page["total"], page["total_is_exact"]) == total, path
