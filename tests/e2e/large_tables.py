"""Tables with 10,000 jobs and 100,000 executions, which the API of the stack reads instead of its own.

The emulator imports them from S3 several times faster than it stores batches. They have no stream, so only the API
works on them, and one request deletes each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from punctual.aws.dynamodb.items import Item, typed
from punctual.aws.dynamodb.job_item import job_to_item
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import execution_id, new_job_id
from punctual.domain.jobs.job import Job
from punctual.domain.schedules.cron import Cron
from punctual.domain.statistics.ended import counted_end, ends_text
from punctual.domain.status import Status
from tests.e2e.punctual import Punctual, wait_for
from tests.simulator.stored_live import started_item

JOBS = 10_000
MINUTES_A_DAY = 1440
TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
DAYS = [TODAY - timedelta(days=ago) for ago in range(10, 0, -1)]
"""Each job has run on each."""
TEAMS = ("data-quality", "finance", "logistics", "marketing")
BUCKET = "large-tables"


@contextmanager
def large_tables(punctual: Punctual) -> Iterator[None]:
    """Let the API read these tables until the block ends."""
    jobs = [_job(number) for number in range(JOBS)]
    owners: Item = {"job_id": "#owners", "owners": frozenset(TEAMS)}
    lines = {
        "jobs": (_line(one) for one in [owners, *map(job_to_item, jobs)]),
        "executions": (line for job in jobs for line in _executions(job)),
        "statistics": (_line({"series": f"job#{one.job_id}", **_statistics(one.created_at)}) for one in jobs),
    }
    api, functions, dynamodb = punctual.stack["functions"]["api"], punctual.aws("lambda"), punctual.aws("dynamodb")
    variables = functions.get_function_configuration(FunctionName=api)["Environment"]["Variables"]
    punctual.aws("s3").create_bucket(Bucket=BUCKET)
    try:
        imports = [_import(punctual, kind, "\n".join(one)) for kind, one in lines.items()]
        wait_for(lambda: all(_is_complete(dynamodb, one) for one in imports), 120, "the imports complete")
        large = {f"{kind.upper()}_TABLE": _name(kind) for kind in lines}
        functions.update_function_configuration(FunctionName=api, Environment={"Variables": variables | large})
        yield
    finally:
        functions.update_function_configuration(FunctionName=api, Environment={"Variables": variables})
        for kind in lines:
            dynamodb.delete_table(TableName=_name(kind))
            punctual.aws("s3").delete_object(Bucket=BUCKET, Key=kind)


def _name(kind: str) -> str:
    return f"large-{kind}"


def _import(punctual: Punctual, kind: str, lines: str) -> str:
    """Begin to import a table with the keys and indexes of the deployed one. Returns the ARN of the import."""
    punctual.aws("s3").put_object(Bucket=BUCKET, Key=kind, Body=lines.encode())
    dynamodb = punctual.aws("dynamodb")
    deployed = dynamodb.describe_table(TableName=punctual.stack["tables"][kind])["Table"]
    indexes = [
        {field: index[field] for field in ("IndexName", "KeySchema", "Projection")}
        for index in deployed.get("GlobalSecondaryIndexes", ())
    ]
    imported = dynamodb.import_table(
        S3BucketSource={"S3Bucket": BUCKET, "S3KeyPrefix": kind},
        InputFormat="DYNAMODB_JSON",
        TableCreationParameters={
            "TableName": _name(kind),
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": deployed["KeySchema"],
            "AttributeDefinitions": deployed["AttributeDefinitions"],
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
        },
    )
    return str(imported["ImportTableDescription"]["ImportArn"])


def _is_complete(dynamodb: Any, import_arn: str) -> bool:
    description = dynamodb.describe_import(ImportArn=import_arn)["ImportTableDescription"]
    assert description["ImportStatus"] in ("IN_PROGRESS", "COMPLETED"), description
    return bool(description["ImportStatus"] == "COMPLETED")


def _line(item: Item) -> str:
    return json.dumps({"Item": typed(item)})


def _job(number: int) -> Job:
    created_at = DAYS[0] + timedelta(minutes=number % MINUTES_A_DAY)
    return Job(
        job_id=new_job_id(created_at, str(number)),
        name=f"nightly-report-{number:05d}",
        owner=TEAMS[number % len(TEAMS)],
        created_by="operator",
        task="echo",
        schedule=Cron(f"{created_at:%M %H} * * *"),
        created_at=created_at,
        updated_at=created_at,
    )


def _executions(job: Job) -> Iterable[str]:
    """The lines of a job's executions, which differ by their day only."""
    first = _line(started_item(_execution(job, job.created_at)))
    for day in DAYS:
        yield first.replace(f"{DAYS[0]:%Y-%m-%d}", f"{day:%Y-%m-%d}").replace(f"{DAYS[0]:%Y%m%d}T", f"{day:%Y%m%d}T")


def _execution(job: Job, due: datetime) -> Execution:
    """Those of every tenth job fail."""
    return Execution(
        job_id=job.job_id,
        execution_id=execution_id(job.job_id, due),
        owner=job.owner,
        task=job.task,
        scheduled_at=due,
        status=Status.FAILED if due.minute % 10 == 0 else Status.SUCCEEDED,
        job_name=job.name,
        started_at=due + timedelta(seconds=1),
        ended_at=due + timedelta(seconds=30),
        attempt=1,
        worker_id="worker-1",
    )


@cache
def _statistics(created_at: datetime) -> Item:
    """The statistics of the jobs of this minute."""
    job = _job((created_at - DAYS[0]) // timedelta(minutes=1))
    ends = [counted_end(_execution(job, job.created_at + (day - DAYS[0]))) for day in DAYS]
    last = ends[-1]
    return {
        "bucket": "record",
        "version": 1,
        "counted": ends_text(tuple(one.ended for one in ends)),
        "since": ends[0].ended.day,
        "day": last.ended.day,
        "counts": " ".join(f"{name}={value}" for name, value in last.of_job.items()),
    }
