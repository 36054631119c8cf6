"""The model of DynamoDB does what AWS documents where moto does nothing: tokens of transactions, and TTL.

DynamoDB Local is compared for tokens as well, by the random requests of test_dynamodb_conformance.py.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from botocore.exceptions import ClientError

from tests.simulator.aws.account import Account
from tests.simulator.aws.table import ACCOUNT, REGION
from tests.simulator.random_operations import PLAIN, RANGED, create_tables

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
NOW = int(START.timestamp())


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def account(clock: Clock) -> Account:
    account = Account(clock)
    client = account.client("dynamodb")
    create_tables(client)
    specification = {"AttributeName": "expires_at", "Enabled": True}
    client.update_time_to_live(TableName=RANGED, TimeToLiveSpecification=specification)
    return account


class Add(NamedTuple):
    """A transaction that adds to a counter, if there is none or it is less than ``below``."""

    expected: str
    """The error, if any, and the counter afterwards."""
    token: str | None = "t"
    amount: int = 1
    below: int = 100
    minutes_later: float = 0
    """When the request is made, after the one before it."""


TOKENS: dict[str, tuple[Add, ...]] = {
    "a repeated request does nothing": (Add("1"), Add("1"), Add("1", minutes_later=9.9)),
    "a repeated request does not evaluate its conditions": (Add("1", below=1), Add("1", below=1)),
    "another request under the token is refused": (Add("1"), Add("IdempotentParameterMismatchException 1", amount=2)),
    "a request under another token is another request": (Add("1"), Add("2", token="u")),
    "each call without a token is another request": (Add("1", token=None), Add("2", token=None)),
    "a token is valid for ten minutes": (Add("1"), Add("2", minutes_later=10)),
    "a request that was cancelled is evaluated again": (
        Add("1", token="u"),
        Add("TransactionCanceledException 1", below=1),
        Add("0", token="v", amount=-1),
        Add("1", below=1),
        Add("1", below=1),
    ),
}


@pytest.mark.parametrize("steps", TOKENS.values(), ids=TOKENS)
def test_a_token_makes_a_transaction_idempotent(account: Account, clock: Clock, steps: tuple[Add, ...]) -> None:
    for step in steps:
        clock.now += timedelta(minutes=step.minutes_later)
        assert add(account.client("dynamodb"), step) == step.expected


def add(client: Any, step: Add) -> str:
    counter: dict[str, Any] = {"TableName": PLAIN, "Key": {"id": {"S": "counter"}}}
    update = {
        **counter,
        "UpdateExpression": "ADD a :amount",
        "ConditionExpression": "attribute_not_exists(a) OR a < :below",
        "ExpressionAttributeValues": {":amount": {"N": str(step.amount)}, ":below": {"N": str(step.below)}},
    }
    error = ""
    try:
        token = {} if step.token is None else {"ClientRequestToken": step.token}
        client.transact_write_items(TransactItems=[{"Update": update}], **token)
    except ClientError as refused:
        error = f"{refused.response['Error']['Code']} "
    return f"{error}{client.get_item(**counter)['Item']['a']['N']}"


EXPIRIES: dict[str, tuple[dict[str, Any], bool]] = {
    "an instant that has passed": ({"expires_at": {"N": str(NOW - 1)}}, True),
    "this second": ({"expires_at": {"N": str(NOW)}}, False),
    "an instant to come": ({"expires_at": {"N": str(NOW + 1)}}, False),
    "no expiry": ({}, False),
    "an instant that has passed, as a string": ({"expires_at": {"S": str(NOW - 1)}}, False),
    "another attribute": ({"a": {"N": str(NOW - 1)}}, False),
}
"""Attributes of an item, and whether TTL removes it."""


@pytest.mark.parametrize(("attributes", "is_removed"), EXPIRIES.values(), ids=EXPIRIES)
def test_ttl_removes_an_item_after_its_expiry(account: Account, attributes: dict[str, Any], is_removed: bool) -> None:
    client, key = account.client("dynamodb"), {"p": {"S": "p"}, "s": {"S": "s"}}
    client.put_item(TableName=RANGED, Item={**key, "g": {"S": "g"}, "h": {"S": "h"}, **attributes})
    assert "Item" in client.get_item(TableName=RANGED, Key=key)  # an expired item is found until it is removed
    assert account.dynamodb.expire(START) == is_removed
    assert ("Item" not in client.get_item(TableName=RANGED, Key=key)) == is_removed
    found = client.query(
        TableName=RANGED,
        IndexName="all",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": {"S": "g"}},
    )
    assert found["Count"] == (not is_removed)


def test_a_write_before_the_removal_by_ttl_keeps_the_item(account: Account) -> None:
    client, key = account.client("dynamodb"), {"p": {"S": "p"}, "s": {"S": "s"}}
    client.put_item(TableName=RANGED, Item={**key, "expires_at": {"N": str(NOW - 1)}})
    client.update_item(TableName=RANGED, Key=key, UpdateExpression="REMOVE expires_at")
    assert account.dynamodb.expire(START) == 0


def test_the_record_of_a_removal_by_ttl_names_the_service_and_has_the_old_image(account: Account) -> None:
    client, keys = account.client("dynamodb"), [{"p": {"S": "p"}, "s": {"S": letter}} for letter in "ab"]
    items = [{**key, "expires_at": {"N": str(NOW - 1)}} for key in keys]
    for item in items:
        client.put_item(TableName=RANGED, Item=item)
    client.delete_item(TableName=RANGED, Key=keys[0])
    account.dynamodb.expire(START)
    records = account.dynamodb.tables[RANGED].records()
    deleted, expired = records[2:]
    assert [record["eventName"] for record in records] == ["INSERT", "INSERT", "REMOVE", "REMOVE"]
    assert "userIdentity" not in deleted
    assert deleted["dynamodb"]["OldImage"] == items[0]
    assert expired == {
        "eventID": expired["eventID"],
        "eventName": "REMOVE",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": REGION,
        "eventSourceARN": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{RANGED}/stream/1",
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {
            "ApproximateCreationDateTime": NOW,
            "Keys": keys[1],
            "OldImage": items[1],
            "SequenceNumber": expired["dynamodb"]["SequenceNumber"],
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }
    numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
    assert numbers == sorted(set(numbers))
