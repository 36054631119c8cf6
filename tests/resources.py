"""The tables, queues and settings of a deployed Punctual, for tests that create them through an AWS client."""

from __future__ import annotations

import json
from typing import Any

PRIORITIES = ("high", "normal", "low")
DEAD_LETTER_QUEUE_OWNERS = (
    *PRIORITIES,
    "intake",
    "planner",
    "settler",
    "admission",
    "observer",
    "monitor",
    "notifier",
    "bulk",
)
TOPICS = ("page", "notice")
ROLE = "arn:aws:iam::123456789012:role/schedules"
TASK_ROLE = "arn:aws:iam::123456789012:role/tasks"
STATE_MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:long"

BOTH_IMAGES, OLD_IMAGE = "NEW_AND_OLD_IMAGES", "OLD_IMAGE"
TABLES: dict[str, tuple[list[str], dict[str, list[str]], str | None]] = {
    "jobs": (
        ["job_id"],
        {
            "by_listing": ["listing", "job_id"],
            "by_name": ["named", "name_key"],
            "queue_jobs": ["queue_jobs", "job_id"],
        },
        BOTH_IMAGES,
    ),
    "revisions": (["job_id", "revision"], {}, None),
    "executions": (
        ["job_id", "execution_id"],
        {
            "by_owner": ["owner", "execution_id"],
            "running": ["running_shard", "execution_id"],
            "long": ["long_shard", "execution_id"],
            "checks": ["check_shard", "check_at"],
            "deadlines": ["deadline_shard", "danger"],
            "unstarted": ["unstarted_of", "execution_id"],
        },
        BOTH_IMAGES,
    ),
    "parts": (
        ["execution_id", "part"],
        {"waiting": ["waiting", "admission_key"], "holding": ["holding", "execution_id"]},
        BOTH_IMAGES,
    ),
    "timers": (["bucket", "due"], {}, OLD_IMAGE),
    "idempotency": (["id"], {}, None),
    "signals": (["id"], {}, None),
    "gates": (["gate", "entry"], {}, None),
    "logs": (["execution_id", "entry"], {}, None),
    "statistics": (["series", "bucket"], {}, None),
    "operations": (["operation", "entry"], {}, None),
}
"""By name: the key, the secondary indexes, and what the stream contains."""


def create_tables(dynamodb: Any) -> None:
    for name, (key, indexes, stream) in TABLES.items():
        attributes = {*key, *(one for index in indexes.values() for one in index)}
        request: dict[str, Any] = {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": _key_schema(key),
            "AttributeDefinitions": [{"AttributeName": one, "AttributeType": "S"} for one in sorted(attributes)],
        }
        if indexes:
            request["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": index,
                    "KeySchema": _key_schema(key),
                    "Projection": {"ProjectionType": "ALL" if index == "waiting" else "KEYS_ONLY"},
                }
                for index, key in indexes.items()
            ]
        if stream:
            request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream}
        dynamodb.create_table(**request)


def queue_names() -> list[str]:
    dead_letters = [f"{one}-dead" for one in DEAD_LETTER_QUEUE_OWNERS]
    return [*PRIORITIES, "intake", "checks", "notices", "bulk", *dead_letters]


def environment(queues: dict[str, str], topics: dict[str, str]) -> dict[str, str]:
    """The environment variables of all functions, except for ``DEAD_LETTER_QUEUE_URL``, which differs per function."""
    return {
        "PUNCTUAL_STAGE": "test",
        "API_URL": "https://api.example.com",
        "EMAIL_SENDER": "punctual@example.com",
        "JOBS_TABLE": "jobs",
        "REVISIONS_TABLE": "revisions",
        "EXECUTIONS_TABLE": "executions",
        "TIMERS_TABLE": "timers",
        "IDEMPOTENCY_TABLE": "idempotency",
        "RESULTS_BUCKET": "results",
        "LOGS_TABLE": "logs",
        "STATISTICS_TABLE": "statistics",
        "OPERATIONS_TABLE": "operations",
        "PARTS_TABLE": "parts",
        "CLUSTER": "long",
        "STATE_MACHINE_ARN": STATE_MACHINE,
        "SCHEDULE_GROUP": "long",
        "SCHEDULE_ROLE_ARN": ROLE,
        "TASK_ROLE_ARN": TASK_ROLE,
        "LONG_IMAGES": "shell",
        "ISSUER": "https://cognito-idp.us-east-1.amazonaws.com/pool",
        "USER_POOL_ID": "pool",
        "SIGN_IN_CLIENT_ID": "console-client",
        "CONSOLE_PATH": "/console/",
        "SIGN_IN_URL": "https://punctual-test.auth.us-east-1.amazoncognito.com",
        "ALARM_PREFIX": "Punctual-",
        "LONG_VCPUS": "4",
        "LONG_TASKS": "4",
        "LONG_STARTS_PER_SECOND": "20",
        "HEARTBEAT_SECONDS": "10",
        "TASK_DEFINITIONS": json.dumps({"": "runner", "shell": "shell"}),
        "RETENTION_DAYS": "90",
        "BRIEF_RETENTION_DAYS": "35",
        "TIMER_SHARDS": "1",
        "SIGNALS_TABLE": "signals",
        "GATES_TABLE": "gates",
        "CONCURRENCY": json.dumps({"high": 10, "normal": 10, "low": 4, "intake": 2}),
        "BACKLOG_MINUTES": "2",
        "METRICS_FROM_LOGS": "0",
        "BACKLOG_MESSAGES": "1000",
        "DEAD_LETTER_QUEUE_URLS": json.dumps([queues[f"{one}-dead"] for one in DEAD_LETTER_QUEUE_OWNERS]),
        **{f"{one.upper()}_QUEUE_URL": queues[one] for one in ("intake", "checks", "notices", "bulk", *PRIORITIES)},
        **{f"{one.upper()}_DEAD_LETTER_QUEUE_URL": queues[f"{one}-dead"] for one in PRIORITIES},
        **{f"{one.upper()}_TOPIC_ARN": arn for one, arn in topics.items()},
    }


def _key_schema(names: list[str]) -> list[dict[str, str]]:
    return [{"AttributeName": one, "KeyType": kind} for one, kind in zip(names, ("HASH", "RANGE"), strict=False)]
