"""Thousands of jobs, written directly to the table of the emulator.

They are done, which triggers no function (see docs/triggers.md), so every filter drops the records of the stream. The
requests are not signed, because signing would take longer than storing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from punctual.aws.dynamodb.items import Item, typed
from punctual.aws.dynamodb.job_item import job_to_item
from punctual.domain.identity import new_job_id
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.schedules.every import Every

TEAM = "archive"
START = datetime(2026, 1, 1, tzinfo=UTC)
BATCH = 25
"""The most that one BatchWriteItem request takes."""


@contextmanager
def many_jobs(stack: dict[str, Any], number: int) -> Iterator[None]:
    """Store them as those of the team ``TEAM``, and delete them at the end: lists of the emulator read linearly."""
    table, items = stack["tables"]["jobs"], [typed(job_to_item(_job(one))) for one in range(number)]
    _name_team(stack, "ADD")
    try:
        _write(stack, table, [{"PutRequest": {"Item": item}} for item in items])
        yield
    finally:
        _write(stack, table, [{"DeleteRequest": {"Key": {"job_id": item["job_id"]}}} for item in items])
        _name_team(stack, "DELETE")


def _name_team(stack: dict[str, Any], action: str) -> None:
    """Add the team to the item that names all owners, or delete it there."""
    update = {
        "TableName": stack["tables"]["jobs"],
        "Key": {"job_id": {"S": "#owners"}},
        "UpdateExpression": f"{action} owners :team",
        "ExpressionAttributeValues": {":team": {"SS": [TEAM]}},
    }
    _send(_connect(stack), "UpdateItem", update)


def _job(number: int) -> Job:
    created_at = START + timedelta(seconds=number)
    return Job(
        job_id=new_job_id(created_at, str(number)),
        name=f"archived-{number:05d}",
        owner=TEAM,
        created_by="operator",
        task="echo",
        schedule=Every(60, START),
        created_at=created_at,
        updated_at=created_at,
        state=JobState.DONE,
    )


def _write(stack: dict[str, Any], table: str, requests: list[Item]) -> None:
    connection = _connect(stack)
    for start in range(0, len(requests), BATCH):
        batch = {"RequestItems": {table: requests[start : start + BATCH]}}
        assert not _send(connection, "BatchWriteItem", batch).get("UnprocessedItems")


def _connect(stack: dict[str, Any]) -> HTTPConnection:
    return HTTPConnection(urlsplit(stack["endpoint_url"]).netloc)


def _send(connection: HTTPConnection, operation: str, body: dict[str, Any]) -> Any:
    headers = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"}
    connection.request("POST", "/", json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return json.loads(text)
