"""What compares each request of a function with its role, and its role with the requests."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.grants import findings
from tests.permissions import PERMISSIONS, UNUSED, grants, refused
from tests.resources import ROLE

SCHEDULE = {"GroupName": "long", "Name": "one", "Target": {"RoleArn": ROLE}}


@pytest.mark.parametrize(
    ("function", "service", "operation", "parameters", "needs"),
    [
        ("planner", "scheduler", "CreateSchedule", SCHEDULE, []),
        ("planner", "scheduler", "CreateSchedule", {**SCHEDULE, "GroupName": "other"}, ["scheduler:CreateSchedule"]),
        ("planner", "scheduler", "CreateSchedule", {**SCHEDULE, "Target": {"RoleArn": "other"}}, ["iam:PassRole"]),
        ("settler", "ecs", "StopTask", {"cluster": "long"}, []),
        ("settler", "ecs", "StopTask", {"cluster": "other"}, ["ecs:StopTask"]),
        ("worker", "cloudwatch", "PutMetricData", {"Namespace": "Punctual/test"}, []),
        ("worker", "cloudwatch", "PutMetricData", {"Namespace": "AWS/Lambda"}, ["cloudwatch:PutMetricData"]),
        ("api", "s3", "GetObject", {"Bucket": "results"}, []),
        ("api", "s3", "GetObject", {"Bucket": "other"}, ["s3:GetObject"]),
        ("api", "dynamodb", "Query", {"TableName": "executions", "IndexName": "by_owner"}, []),
        ("api", "dynamodb", "Query", {"TableName": "executions", "IndexName": "checks"}, ["dynamodb:Query"]),
        ("settler", "stepfunctions", "StopExecution", {"executionArn": "arn:other:1"}, ["states:StopExecution"]),
    ],
)
def test_a_request_is_refused_for_its_action_resource_index_or_condition(
    function: str, service: str, operation: str, parameters: dict[str, Any], needs: list[str]
) -> None:
    assert [one.action for one in refused(function, service, operation, parameters)] == needs


def test_a_grant_that_no_test_uses_needs_a_reason() -> None:
    granted = {(function, *grant) for function in PERMISSIONS for grant in grants(function)}
    without_reason = {one for one in granted if not any(reason.covers(*one) for reason in UNUSED)}
    assert findings(without_reason) == []
    needless = ("intake", "dynamodb:PutItem", "TablesExecutions.Arn")
    assert findings(without_reason - {needless}) == [
        "no test needs that intake may dynamodb:PutItem on TablesExecutions.Arn"
    ]
    assert findings(granted) == [f"remove from UNUSED: {reason.reason}" for reason in UNUSED]
