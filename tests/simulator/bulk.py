"""Bulk operations of a run: random requests, and what holds once faults have ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import plain
from punctual.domain.identity import digest
from tests.simulator.aws.account import Account
from tests.simulator.observer import Observer

if TYPE_CHECKING:
    from tests.simulator.operator import Operator

JOB_ACTIONS: tuple[dict[str, Any], ...] = (
    {"action": "run"},
    {"action": "pause"},
    {"action": "resume"},
    {"action": "priority", "priority": "high"},
)
EXECUTION_ACTIONS: tuple[dict[str, Any], ...] = (
    {"action": "retry", "filter": {"status": ["failed", "timed_out"]}},
    {"action": "cancel", "filter": {"status": ["queued", "waiting"]}},
)


def change_jobs(operator: Operator, where: str) -> None:
    """One action on all jobs that match a filter, or on those named and one that does not exist."""
    body = operator.choose(f"{where}/action", JOB_ACTIONS)
    named = {"ids": ["01m7j3myg0ab16wzvq72dx3zvq", *operator.observer.jobs]}
    body = body | operator.choose(f"{where}/items", ({"filter": {"owner": "team"}}, named))
    operator.keyed("POST", "/jobs/bulk", body)


def change_executions(operator: Operator, where: str) -> None:
    operator.keyed("POST", "/executions/bulk", operator.choose(f"{where}/action", EXECUTION_ACTIONS))


def abort_or_undo(operator: Operator, where: str) -> None:
    if started := [operation["entry"] for operation in _operations(operator.invoker.deployment.account)]:
        verb = operator.choose(f"{where}/verb", ("undo", "abort"))
        operator.request("POST", f"/operations/{operator.choose(f'{where}/operation', started)}/{verb}")


REQUESTS = (None, None, None, None, None, None, None, change_jobs, change_executions, abort_or_undo)


def running(account: Account) -> list[str]:
    return [f"operation {one['entry']}" for one in _operations(account) if one["state"] == "running"]


def violations(account: Account, observer: Observer) -> Iterator[str]:
    """Each operation has ended, each finished item counts once, and each run or retry has stored one execution."""
    requests = Counter(one.request_id for one in [*observer.executions.values(), *observer.removed.values()])
    markers = {one["entry"] for one in _items(account) if one["operation"] == "running"}
    for operation in _operations(account):
        name, counted = f"operation {operation['entry']}", sum(operation[one] for one in ("done", "skipped", "failed"))
        ended_early = operation["state"] == "aborted"
        if counted != operation["position"] or (not ended_early and counted != operation["total"]):
            yield f"{name} counts {counted} of {operation['total']} items at {operation['position']}"
        if (operation["entry"] in markers) != (operation["state"] == "running"):
            yield f"{name} is {operation['state']}, and listed as running: {operation['entry'] in markers}"
        if operation["action"] in ("run", "retry"):
            ids = _ids(account, operation)[: operation["position"]]
            stored = [requests[digest(f"{operation['entry']}\n{item}")] for item in ids]
            if sum(stored) != operation["done"] or max(stored, default=0) > 1:
                yield f"{name} has done {operation['done']} items and stored {stored} executions"


def _ids(account: Account, operation: dict[str, Any]) -> list[str]:
    chunks = [one for one in _items(account) if one["operation"] == operation["entry"] and "ids" in one]
    return [item for chunk in sorted(chunks, key=lambda one: str(one["entry"])) for item in json.loads(chunk["ids"])]


def _operations(account: Account) -> list[dict[str, Any]]:
    return sorted((one for one in _items(account) if one["operation"] == "all"), key=lambda one: str(one["entry"]))


def _items(account: Account) -> list[dict[str, Any]]:
    return [plain(item) for item in account.dynamodb.tables["operations"].items.values()]
