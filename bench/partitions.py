"""Speed-up by partitions: the same week of data in one container, and in one container per day in parallel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bench.report import Report
from punctual.domain.instant import from_text, to_text
from tests.e2e.punctual import FINAL, Punctual, wait_for

SECONDS = 140
"""Run time of the week in one container: eight hours, compressed. The start of a container is not compressed."""
EIGHT_HOURS = 8 * 3600
DAYS = 7


def measure(punctual: Punctual) -> Report:
    report = Report("A week of data, partitioned")
    whole = _worked(punctual, "whole")
    by_days = _worked(punctual, "by-days", partitions={"by": "day"})
    overhead = by_days - whole / DAYS
    report.show("in one container", f"{whole:.1f} s")
    report.show("by day in parallel, and collected", f"{by_days:.1f} s")
    report.show("of which overhead", f"{overhead:.1f} s")
    report.limit("eight hours become", (EIGHT_HOURS / DAYS + overhead) / 3600, 1.25, " h")
    return report


def _worked(punctual: Punctual, name: str, **how: Any) -> float:
    """Seconds from the first start to the end of an execution for last week."""
    job = punctual.submit(
        name=name,
        task="quality.weekly",
        lane="long",
        parameters={"dataset": "orders", "seconds": SECONDS},
        schedule={"cron": "0 2 * * SUN"},
        window="week",
        resources={"vcpu": 0.25},
        **how,
    )
    now = datetime.now(UTC)
    last_week = {"from": to_text(now - timedelta(days=7)), "to": to_text(now)}
    [asked_for] = punctual.request("POST", f"/jobs/{job['job_id']}/backfill", last_week).json()["items"]

    def ended() -> dict[str, Any] | None:
        execution = punctual.get(f"/executions/{asked_for['execution_id']}")
        return execution if execution["status"] in FINAL else None

    execution = wait_for(ended, SECONDS + 120, f"{name} to end")
    assert execution["status"] == "succeeded", execution
    return (from_text(execution["ended_at"]) - from_text(execution["started_at"])).total_seconds()
