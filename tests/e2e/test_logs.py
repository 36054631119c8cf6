"""The log of a running execution, in both lanes of the deployed stack."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.e2e.punctual import Punctual, wait_for

STEPS = 8


@pytest.mark.parametrize("lane", [{"lane": "short"}, {"lane": "long", "resources": {"vcpu": 0.5}}], ids=str)
def test_a_running_execution_can_be_followed(punctual: Punctual, lane: dict[str, Any]) -> None:
    job = punctual.submit(task="steps", parameters={"seconds": [1] * STEPS}, **lane)
    [execution] = wait_for(lambda: punctual.executions(job), 30, "its execution")
    path = f"/executions/{execution['execution_id']}/logs"
    page = punctual.get(path)
    found: list[str] = []
    pages_while_running = 0
    while not page["complete"]:
        found += [line["message"] for line in page["items"]]
        pages_while_running += bool(page["items"])
        time.sleep(0.3)
        page = punctual.get(f"{path}?after={page['after']}")
    found += [line["message"] for line in page["items"]]
    assert found == [f"step {number} of {STEPS}" for number in range(1, STEPS + 1)]
    assert page["total"] == STEPS
    assert pages_while_running >= STEPS // 2
