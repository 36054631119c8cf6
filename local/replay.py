"""Replays stream records that functions may have missed when the emulator stopped.

The emulator does not save its streams, so unread records are lost. After a restart, the items that may have changed
last are sent to the stream consumers again, as stream records. Consumers are idempotent: they ignore a record that they
have already processed.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from local.aws import client
from local.places import REGION
from punctual.aws.dynamodb.items import plain
from punctual.domain.status import FINAL, Status
from punctual.domain.triggers import EXECUTIONS, PARTS, SENDING, Effect, effect_of

Item = dict[str, Any]
# The maximum lag of a stream consumer before the stop.
BACKLOG = timedelta(hours=1)
BATCH = 100


class Replay:
    """Replays changes from shortly before `stopped` on the stack that `.local/stack.json` describes."""

    def __init__(self, stack: dict[str, Any], stopped: datetime) -> None:
        self._stack = stack
        self._since = (stopped - BACKLOG).isoformat()
        self._dynamodb: Any = client("dynamodb", stack["endpoint_url"])
        self._lambda: Any = client("lambda", stack["endpoint_url"])

    def run(self) -> None:
        # the table also holds the numbers of shards
        executions = [item for item in self._scan("executions") if "status" in item]
        jobs = [job for job in self._scan("jobs") if self._recent(job, "updated_at")]
        ended = [execution for execution in executions if self._recent(execution, "ended_at")]
        overdue = [execution for execution in executions if self._missed_its_timer(execution)]
        last = _last_of_each_job(executions)
        self._invoke("planner", "jobs", [job for job in jobs if _needs_replay(job, last)])
        candidates = [_leading_if_last(execution, last) for execution in executions]
        self._invoke("planner", "executions", [execution for execution in candidates if _is_to_be_sent(execution)])
        self._invoke("planner", "timers", [_expired_timer(execution) for execution in overdue])
        self._invoke("settler", "executions", [execution for execution in ended if _is_settled(execution)])

    def restart_runs(self) -> bool:
        """Invoke the reconciler to restart state machine runs: all ended with the emulator. `False` if that failed.

        Admission must be paused until then: it would grant slots to runs that no longer exist.
        """
        # Nothing is in progress, so no execution is too young for the reconciler.
        now = json.dumps({"grace_seconds": 0})
        reply = self._lambda.invoke(FunctionName=self._stack["functions"]["reconciler"], Payload=now)
        return "FunctionError" not in reply

    def wake_admission(self) -> None:
        """Replay the changes of parts that admission may have missed."""
        self._invoke("admission", "parts", [part for part in self._scan("parts") if self._needs_admission(part)])

    def _needs_admission(self, part: Item) -> bool:
        """Whether admission may have missed that the part requested, got or released a slot."""
        if effect_of("admission", PARTS, None, plain(part)) is not Effect.ADMIT:
            return False
        return Status(part["status"]["S"]) not in FINAL or self._recent(part, "ended_at")

    def _missed_its_timer(self, execution: Item) -> bool:
        """The emulator removes an expired timer without a stream record, possibly before the sweep."""
        return bool(
            execution["status"]["S"] == "scheduled" and execution["scheduled_at"]["S"] < _text(datetime.now(UTC))
        )

    def _recent(self, item: Item, attribute: str) -> bool:
        return attribute in item and str(item[attribute]["S"]) >= self._since

    def _scan(self, table: str) -> Iterator[Item]:
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._stack["tables"][table])
        for page in pages:
            yield from page["Items"]

    def _invoke(self, function: str, table: str, items: list[Item]) -> None:
        source = f"arn:aws:dynamodb:{REGION}::table/{self._stack['tables'][table]}/stream/replay"
        for start in range(0, len(items), BATCH):
            records = [
                {
                    "eventName": "INSERT",
                    "eventSource": "aws:dynamodb",
                    "eventSourceARN": source,
                    "dynamodb": {"OldImage" if table == "timers" else "NewImage": item},
                }
                for item in items[start : start + BATCH]
            ]
            self._lambda.invoke(
                FunctionName=self._stack["functions"][function], Payload=json.dumps({"Records": records})
            )


def _expired_timer(execution: Item) -> Item:
    """The timer of a scheduled execution, as in the stream record of its removal by TTL."""
    due = f"{execution['scheduled_at']['S']}#{execution['execution_id']['S']}#due"
    return {"bucket": {"S": "expired"}, "due": {"S": due}, "job_id": execution["job_id"]}


def _text(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _last_of_each_job(executions: list[Item]) -> dict[str, str]:
    """The last planned execution of each job: its leader, or its only execution."""
    ends = [execution for execution in executions if _is(execution, "is_leader", "is_last_of_job")]
    ends.sort(key=lambda execution: execution["execution_id"]["S"])
    return {execution["job_id"]["S"]: execution["execution_id"]["S"] for execution in ends}


def _needs_replay(job: Item, last: dict[str, str]) -> bool:
    """Whether to replay the job. Planning from its start is slow, so skip active jobs that are already planned."""
    return bool(job["state"]["S"] != "active") or job["job_id"]["S"] not in last


def _leading_if_last(execution: Item, last: dict[str, str]) -> Item:
    """Remove the leader flag unless it is the last execution of its job: only that one can lack a successor."""
    if last.get(execution["job_id"]["S"]) == execution["execution_id"]["S"]:
        return execution
    return {name: value for name, value in execution.items() if name != "is_leader"}


def _is_to_be_sent(execution: Item) -> bool:
    """Whether the planner must send it, or plan its successors."""
    return effect_of("planner", EXECUTIONS, None, plain(execution)) in SENDING


def _is_settled(execution: Item) -> bool:
    """Whether the settler follows up on its end or counts it."""
    return effect_of("settler", EXECUTIONS, None, plain(execution)) in (Effect.FOLLOW_UP, Effect.COUNT)


def _is(execution: Item, *flags: str) -> bool:
    return any(execution.get(flag, {}).get("BOOL") for flag in flags)
