"""The model of DynamoDB answers like other implementations: the same random requests, answers, errors, tables and
stream records.

moto is always compared. DynamoDB Local, which validates requests as AWS does, is compared if it runs and the variable
``DYNAMODB_LOCAL`` has its address: ``DYNAMODB_LOCAL=http://127.0.0.1:8000 pytest tests/simulator``. What moto lacks,
tokens of transactions and TTL, is in test_dynamodb_documented.py.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from tests.integration.fast_moto import speed_up
from tests.simulator.aws.account import Account
from tests.simulator.random_operations import PLAIN, RANGED, Generator, create_tables, key_of

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
LOCAL = os.environ.get("DYNAMODB_LOCAL")
UNCOMPARED = {"ResponseMetadata", "ConsumedCapacity", "ItemCollectionMetrics", "LastEvaluatedKey"}


@pytest.fixture(params=["moto", *(["local"] if LOCAL else [])])
def reference(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    if request.param == "local":
        monkeypatch.setenv("AWS_ENDPOINT_URL", str(LOCAL))
        yield request.param
    else:
        monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
        speed_up(monkeypatch)
        with mock_aws():
            yield request.param


def test_the_model_answers_like_the_reference(reference: str) -> None:
    other = boto3.client("dynamodb")
    seeds, requests = (30, 400) if reference == "local" else (4, 100)
    events: set[str] = set()
    for seed in range(seeds):
        for table in (PLAIN, RANGED):
            if table in other.list_tables()["TableNames"]:
                other.delete_table(TableName=table)
        account = Account(lambda: NOW)
        model = account.client("dynamodb")
        create_tables(other)
        create_tables(model)
        generator = Generator(random.Random(seed), moto=reference == "moto")
        for number in range(requests):
            operation, parameters = generator.request()
            ours, theirs = answer(model, operation, parameters), answer(other, operation, parameters)
            assert agree(ours, theirs), f"seed {seed}, request {number}: {operation} {json.dumps(parameters)}"
        for table in (PLAIN, RANGED):
            stored = other.scan(TableName=table, ConsistentRead=True)["Items"]
            kept = account.dynamodb.tables[table].items.values()
            assert sorted(map(key_of, kept)) == sorted(map(key_of, stored))
            assert ordered(kept) == ordered(stored)
        stream = other.describe_table(TableName=RANGED)["Table"]["LatestStreamArn"]
        recorded = by_key(account.dynamodb.tables[RANGED].records())
        assert recorded == by_key(written(stream))
        events |= {change.event for changes in recorded.values() for change in changes}
    assert events == {"INSERT", "MODIFY", "REMOVE"}


def answer(client: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The response, or the error with its item and reasons, in a form that can be compared."""
    call = getattr(client, operation)
    try:
        if operation == "query":
            return all_pages(call, parameters)
        response = call(**parameters)
    except ClientError as error:
        fields: Any = error.response
        reasons = [(one["Code"], normal(one.get("Item"))) for one in fields.get("CancellationReasons", ())]
        return {"error": fields["Error"]["Code"], "item": normal(fields.get("Item")), "reasons": reasons}
    if operation == "batch_get_item":
        return {table: ordered(items) for table, items in response["Responses"].items() if items}
    return {name: normal(value) for name, value in response.items() if name not in UNCOMPARED}


def all_pages(query: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """The items of all pages: an implementation may or may not find out on the last page that it is the last.

    The order of rows with the same key in an index is undefined.
    """
    items: list[Any] = []
    counts = [0, 0]
    while True:
        response = query(**parameters)
        items += response.get("Items", [])
        counts = [counts[0] + response["Count"], counts[1] + response["ScannedCount"]]
        if "LastEvaluatedKey" not in response:
            return {"items": ordered(items) if "IndexName" in parameters else normal(items), "counts": counts}
        parameters = {**parameters, "ExclusiveStartKey": response["LastEvaluatedKey"]}


def agree(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """DynamoDB Local rejects an update within a transaction that AWS reports as one of the cancellation reasons."""
    unfit = any(code == "ValidationError" for code, _ in ours.get("reasons", ()))
    return ours == theirs or (unfit and theirs.get("error") == "ValidationException")


def written(stream: str) -> Iterator[dict[str, Any]]:
    """All records of a stream."""
    streams = boto3.client("dynamodbstreams")
    for shard in streams.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"]:
        where = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = streams.get_shard_iterator(StreamArn=stream, **where)["ShardIterator"]
        while iterator:
            page = streams.get_records(ShardIterator=iterator)
            yield from page["Records"]
            iterator = page.get("NextShardIterator") if page["Records"] else None


class Change(NamedTuple):
    event: str
    old: Any
    new: Any
    view: str


def by_key(records: Iterable[dict[str, Any]]) -> dict[Any, list[Change]]:
    """The changes of each item, in order. The order of records of different items is undefined.

    Leaves out two kinds of records that only moto writes: of a write that changes nothing, and, if an update creates an
    item, of an item without attributes before it.
    """
    changes: dict[Any, list[Change]] = {}
    for record in records:
        data = record["dynamodb"]
        images = normal(data.get("OldImage")), normal(data.get("NewImage"))
        change = Change(record["eventName"], *images, data["StreamViewType"])
        earlier = changes.setdefault(key_of(data["Keys"]), [])
        if earlier and earlier[-1].event == change.event == "INSERT":
            earlier.pop()
        if change.old != change.new:
            earlier.append(change)
    return changes


def ordered(items: Any) -> list[Any]:
    return sorted(map(normal, items), key=lambda item: json.dumps(item, sort_keys=True))


def normal(value: Any) -> Any:
    """The value with sets in order."""
    if isinstance(value, dict):
        return {name: sorted(one) if name == "SS" else normal(one) for name, one in value.items()}
    return [normal(one) for one in value] if isinstance(value, list) else value
