"""Bulk operations on 10,000 jobs that a filter selects: not in tests/integration, as moto reads whole tables."""

from __future__ import annotations

import json
from typing import Any

from tests.simulator.stored_lists import Api, stored

ITEMS_PER_INVOCATION = 1000


def test_bulk_operations_on_10000_jobs_select_them_and_run_to_their_end_or_until_aborted() -> None:
    with stored(10_000) as api:
        pause = {"action": "pause", "filter": {"task": "echo"}}
        assert api.post("/jobs/bulk?dry_run=true", pause)["count"] == 10_000
        operation_id = api.post("/jobs/bulk", pause)["operation_id"]
        for _ in range(10_000 // ITEMS_PER_INVOCATION):
            progress = invoke(api, operation_id)
        assert counts(progress) == ("succeeded", 10_000, 9_000, 1_000, 0)  # 1,000 jobs have ended
        assert paused(api) == 9_000

        operation_id = api.post("/jobs/bulk", {"action": "resume", "filter": {"state": ["paused"]}})["operation_id"]
        assert counts(invoke(api, operation_id)) == ("running", 9_000, 1_000, 0, 0)
        api.post(f"/operations/{operation_id}/abort")
        assert counts(invoke(api, operation_id)) == ("aborted", 9_000, 1_000, 0, 0)
        assert paused(api) == 8_000

        minutes = {"from": "2026-11-02T00:00:00Z", "to": "2026-11-02T16:40:00Z"}
        operation_id = api.post("/executions/bulk", {"action": "retry", "filter": minutes})["operation_id"]
        for _ in range(10_000 // ITEMS_PER_INVOCATION):
            progress = invoke(api, operation_id)
        assert counts(progress) == ("succeeded", 10_000, 10_000, 0, 0)


def invoke(api: Api, operation_id: str) -> dict[str, Any]:
    """Deliver one message to the function, and return the operation."""
    body = json.dumps({"operation_id": operation_id})
    answer = api.deployment.call("bulk", {"Records": [{"messageId": "1", "body": body}]})
    assert answer == {"batchItemFailures": []}
    return api.get(f"/operations/{operation_id}")[0]


def counts(operation: dict[str, Any]) -> tuple[str, int, int, int, int]:
    return (operation["state"], *(operation[name] for name in ("total", "done", "skipped", "failed")))


def paused(api: Api) -> int:
    return sum(
        item.get("state") == {"S": "paused"} for item in api.deployment.account.dynamodb.tables["jobs"].items.values()
    )
