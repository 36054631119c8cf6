"""`.local/stack.json`: addresses, resource names and tokens for clients of the local stack."""

import json
from typing import Any

from local.places import REGION, Places
from local.private_file import write_private

FUNCTIONS = (
    *("api", "console", "planner", "dispatcher", "worker", "settler", "intake"),
    *("conductor", "reporter", "observer", "admission", "reconciler", "monitor", "notifier", "bulk"),
)
TABLES = (
    "jobs",
    "revisions",
    "executions",
    "timers",
    "idempotency",
    "parts",
    "gates",
    "signals",
    "logs",
    "statistics",
    "operations",
)
QUEUES = ("high", "normal", "low", "intake", "checks", "notices", "bulk")
TOPICS = ("page", "notice")
DEAD_LETTERS = (*QUEUES, "planner", "settler", "admission")


def describe(
    outputs: dict[str, str], *, endpoint: str, tokens: dict[str, str], pid: int, fargate_pid: int | None = None
) -> dict[str, Any]:
    """The content of the file, from the outputs of the stack."""
    return {
        "api_url": api_url(endpoint, outputs["ApiId"]),
        "console_url": console_url(endpoint, outputs["ApiId"]),
        "endpoint_url": endpoint,
        "region": REGION,
        "tokens": tokens,
        "tables": {name: outputs[f"{name.title()}Table"] for name in TABLES},
        "queues": {
            **{name: outputs[f"{name.title()}QueueUrl"] for name in QUEUES},
            **{f"{name}_dead_letters": outputs[f"{name.title()}DeadLetterQueueUrl"] for name in DEAD_LETTERS},
        },
        "topics": {name: outputs[f"{name.title()}TopicArn"] for name in TOPICS},
        "functions": {name: outputs[f"{name.title()}Function"] for name in FUNCTIONS},
        "log_groups": {name: outputs[f"{name.title()}LogGroup"] for name in (*FUNCTIONS, "runner")},
        "results_bucket": outputs["ResultsBucket"],
        "user_pool_id": outputs["UserPoolId"],
        "user_pool_client_id": outputs["UserPoolClientId"],
        "cluster": outputs["Cluster"],
        "state_machine_arn": outputs["StateMachineArn"],
        "schedule_group": outputs["ScheduleGroup"],
        "dashboard": outputs["Dashboard"],
        "pid": pid,
        "fargate_pid": fargate_pid,
    }


def api_url(endpoint: str, api_id: str) -> str:
    """The URL of the API. As on AWS, the stage `$default` does not appear in it."""
    return f"{endpoint}/_aws/execute-api/{api_id}"


def console_url(endpoint: str, api_id: str) -> str:
    return f"{api_url(endpoint, api_id)}/console"


def read(places: Places) -> dict[str, Any] | None:
    """The content that the last `make up` wrote, or `None`."""
    if not places.stack_file.exists():
        return None
    return dict(json.loads(places.stack_file.read_text()))


def write(places: Places, stack: dict[str, Any]) -> None:
    write_private(places.stack_file, stack)
