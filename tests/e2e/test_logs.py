"""The log of a running execution, in both lanes of the deployed stack."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.punctual import Punctual, wait_for

STEPS = 8


@pytest.mark.parametrize("lane", [{"lane": "short"}, {"lane": "long", "resources": {"vcpu": 0.5}}], ids=str)
def test_a_running_execution_can_be_followed(punctual: Punctual, lane: dict[str, Any]) -> None:
    job = punctual.submit(task="steps", parameters={"seconds": [1] * STEPS}, **lane)
    [execution] = wait_for(lambda: punctual.executions(job), 30, "its execution")
    path = f"/executions/{execution['execution_id']}/logs"
    pages = [punctual.get(path)]

    def complete() -> bool:
        if not pages[-1]["complete"]:
            pages.append(punctual.get(f"{path}?after={pages[-1]['after']}"))
        return bool(pages[-1]["complete"])

    wait_for(complete, 120, "the end of the log")
    lines = [line["message"] for page in pages for line in page["items"]]
    assert lines == [f"step {number} of {STEPS}" for number in range(1, STEPS + 1)]
    assert pages[-1]["total"] == STEPS
    assert any(page["items"] for page in pages if not page["complete"]), "the log was empty while the execution ran"
