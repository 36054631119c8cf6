"""Telling the functions again what they may have missed when the emulator stopped.

The emulator does not save its streams: a change that nobody had read yet is never read. So after a restart the
items that may have changed last are handed to the readers once more, as stream records. Those who heard of
them already do nothing: every reader of a stream has to bear a record that comes twice.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from local.aws import client
from local.places import REGION

Item = dict[str, Any]
# How long before the stop a reader can have fallen behind.
BACKLOG = timedelta(hours=1)
BATCH = 100
WAITING = ("queued", "retrying")
MOVING = ("waiting", "starting")


class Replay:
    """Replays what changed shortly before `stopped` on the stack that `.local/stack.json` describes."""

    def __init__(self, stack: dict[str, Any], stopped: datetime) -> None:
        self._stack = stack
        self._since = (stopped - BACKLOG).isoformat()
        self._dynamodb: Any = client("dynamodb", stack["endpoint_url"])
        self._lambda: Any = client("lambda", stack["endpoint_url"])

    def run(self) -> None:
        executions = list(self._scan("executions"))
        jobs = [job for job in self._scan("jobs") if self._recent(job, "updated_at")]
        waiting = [execution for execution in executions if execution["status"]["S"] in WAITING]
        ended = [execution for execution in executions if self._recent(execution, "ended_at")]
        overdue = [execution for execution in executions if self._missed_its_timer(execution)]
        last = _last_of_each_job(executions)
        self._tell("planner", "jobs", [job for job in jobs if _is_news(job, last)])
        self._tell("planner", "executions", [_leading_if_last(execution, last) for execution in waiting])
        self._tell("planner", "timers", [_expired_timer(execution) for execution in overdue])
        self._tell("settler", "executions", [execution for execution in ended if _is_settled(execution)])

    def begin_anew(self) -> bool:
        """Let the reconciler start the state machines again: all ended with the emulator. `False` if that failed.

        Admission has to be held until then: it would give slots to those that are gone.
        """
        # Nothing is under way, so nothing is too young to be looked at.
        now = json.dumps({"grace_seconds": 0})
        reply = self._lambda.invoke(FunctionName=self._stack["functions"]["reconciler"], Payload=now)
        return "FunctionError" not in reply

    def wake_admission(self) -> None:
        """Tell admission of the parts that it may have missed."""
        self._tell("admission", "parts", [part for part in self._scan("parts") if self._moved(part)])

    def _moved(self, part: Item) -> bool:
        """Whether admission may have missed that it waits for a slot, was given one, or gave one back.

        What has no status is no part: the table also holds the counters of the lane.
        """
        status = part.get("status", {}).get("S")
        return status in MOVING or (status is not None and self._recent(part, "ended_at"))

    def _missed_its_timer(self, execution: Item) -> bool:
        """The emulator removes an expired timer without a word, perhaps before it could be swept."""
        return bool(
            execution["status"]["S"] == "scheduled" and execution["scheduled_at"]["S"] < _text(datetime.now(UTC))
        )

    def _recent(self, item: Item, attribute: str) -> bool:
        return attribute in item and str(item[attribute]["S"]) >= self._since

    def _scan(self, table: str) -> Iterator[Item]:
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._stack["tables"][table])
        for page in pages:
            yield from page["Items"]

    def _tell(self, function: str, table: str, items: list[Item]) -> None:
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
    """The timer of a scheduled execution, as the stream tells of its removal."""
    due = f"{execution['scheduled_at']['S']}#{execution['execution_id']['S']}#due"
    return {"slot": {"S": "expired"}, "due": {"S": due}, "job_id": execution["job_id"]}


def _text(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _last_of_each_job(executions: list[Item]) -> dict[str, str]:
    """The execution up to which each job is planned: the last of those that lead on, or the only one."""
    ends = [execution for execution in executions if _is(execution, "leads", "once")]
    ends.sort(key=lambda execution: execution["execution_id"]["S"])
    return {execution["job_id"]["S"]: execution["execution_id"]["S"] for execution in ends}


def _is_news(job: Item, last: dict[str, str]) -> bool:
    """Planning a job from its start again is slow: only if nobody planned it to the end."""
    return bool(job["state"]["S"] != "active") or job["job_id"]["S"] not in last


def _leading_if_last(execution: Item, last: dict[str, str]) -> Item:
    """So is planning again what follows: only the last of a job's executions can lack a successor."""
    if last.get(execution["job_id"]["S"]) == execution["execution_id"]["S"]:
        return execution
    return {name: value for name, value in execution.items() if name != "leads"}


def _is_settled(execution: Item) -> bool:
    """Whether something has to follow from its end."""
    return _is(execution, "once") or execution.get("lane") == {"S": "long"}


def _is(execution: Item, *flags: str) -> bool:
    return any(execution.get(flag, {}).get("BOOL") for flag in flags)
