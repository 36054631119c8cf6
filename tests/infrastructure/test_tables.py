"""The tables: keys, indexes, streams, expiry, backup, deletion."""

from typing import Any

import pytest

from tests.infrastructure.deployed import Deployed

TABLES = ("Jobs", "Executions", "Parts", "Timers", "Gates", "Signals", "Logs", "Statistics", "Idempotency", "Revisions")


def table(stack: Deployed, name: str) -> dict[str, Any]:
    return stack.one("AWS::DynamoDB::GlobalTable", f"Tables{name}")


def keys(schema: list[dict[str, str]]) -> list[str]:
    return [key["AttributeName"] for key in schema]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Jobs", ["job_id"]),
        ("Executions", ["job_id", "execution_id"]),
        ("Parts", ["execution_id", "part"]),
        ("Timers", ["bucket", "due"]),
        ("Gates", ["gate", "entry"]),
        ("Signals", ["id"]),
        ("Logs", ["execution_id", "entry"]),
        ("Statistics", ["series", "bucket"]),
        ("Idempotency", ["id"]),
        ("Revisions", ["job_id", "revision"]),
    ],
)
def test_a_table_has_the_keys_of_the_data_model(prod: Deployed, name: str, expected: list[str]) -> None:
    assert keys(table(prod, name)["KeySchema"]) == expected


@pytest.mark.parametrize(
    ("name", "index", "expected", "projection"),
    [
        ("Jobs", "by_listing", ["listing", "job_id"], "KEYS_ONLY"),
        ("Jobs", "by_name", ["named", "name_key"], "KEYS_ONLY"),
        ("Jobs", "queue_jobs", ["queue_jobs", "job_id"], "KEYS_ONLY"),
        ("Executions", "by_owner", ["owner", "execution_id"], "KEYS_ONLY"),
        ("Executions", "running", ["running_shard", "execution_id"], "KEYS_ONLY"),
        ("Executions", "long", ["long_shard", "execution_id"], "KEYS_ONLY"),
        ("Executions", "checks", ["check_shard", "check_at"], "KEYS_ONLY"),
        ("Executions", "deadlines", ["deadline_shard", "danger"], "KEYS_ONLY"),
        ("Executions", "unstarted", ["unstarted_of", "execution_id"], "KEYS_ONLY"),
        ("Parts", "waiting", ["waiting", "admission_key"], "ALL"),
        ("Parts", "holding", ["holding", "execution_id"], "KEYS_ONLY"),
    ],
)
def test_an_index_has_the_keys_and_projection_of_its_access_pattern(
    prod: Deployed, name: str, index: str, expected: list[str], projection: str
) -> None:
    indexes = {found["IndexName"]: found for found in table(prod, name)["GlobalSecondaryIndexes"]}
    assert keys(indexes[index]["KeySchema"]) == expected
    assert indexes[index]["Projection"] == {"ProjectionType": projection}


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("Jobs", "NEW_AND_OLD_IMAGES"),
        ("Executions", "NEW_AND_OLD_IMAGES"),
        ("Parts", "NEW_AND_OLD_IMAGES"),
        ("Timers", "OLD_IMAGE"),
    ],
)
def test_a_stream_contains_the_images_that_its_readers_need(prod: Deployed, name: str, view: str) -> None:
    assert table(prod, name)["StreamSpecification"] == {"StreamViewType": view}


@pytest.mark.parametrize("name", ["Signals", "Gates"])
def test_a_table_without_stream_readers_has_no_stream(prod: Deployed, name: str) -> None:
    assert "StreamSpecification" not in table(prod, name)


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("Jobs", "expires_at"),
        ("Executions", "expires_at"),
        ("Parts", "expires_at"),
        ("Timers", "expires_at"),
        ("Gates", "expires_at"),
        ("Signals", "expires_at"),
        ("Statistics", "expires_at"),
        ("Idempotency", "expires_at"),
    ],
)
def test_items_expire_by_time_to_live(prod: Deployed, name: str, attribute: str) -> None:
    assert table(prod, name)["TimeToLiveSpecification"] == {"AttributeName": attribute, "Enabled": True}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_point_in_time_recovery(prod: Deployed, name: str) -> None:
    for replica in table(prod, name)["Replicas"]:
        assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_billed_per_request(prod: Deployed, name: str) -> None:
    assert table(prod, name)["BillingMode"] == "PAY_PER_REQUEST"


def test_data_survives_the_deletion_of_the_stack_except_on_the_emulator(prod: Deployed, local: Deployed) -> None:
    """But not the rollback of its creation: generated or retained names must not block the next creation."""
    policies = {"prod": ("RetainExceptOnCreate", "Retain"), "local": ("Delete", "Delete")}
    for name, stack in (("prod", prod), ("local", local)):
        for resource in stack.template["Resources"].values():
            if resource["Type"] in ("AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::Cognito::UserPool"):
                assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == policies[name]


def test_only_data_survives_the_deletion_of_the_stack(prod: Deployed) -> None:
    kept = {one["Type"] for one in prod.template["Resources"].values() if "Retain" in one.get("DeletionPolicy", "")}
    assert kept == {"AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::Cognito::UserPool"}


def test_a_table_in_an_account_has_deletion_protection(prod: Deployed) -> None:
    (pool,) = prod.all("AWS::Cognito::UserPool").values()
    assert pool["DeletionProtection"] == "ACTIVE"
    for name in TABLES:
        for replica in table(prod, name)["Replicas"]:
            assert replica["DeletionProtectionEnabled"] is True
