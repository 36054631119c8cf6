"""What the benchmarks limit."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bench import cost, lateness
from bench.report import Report
from punctual.domain.instant import to_text


def failed_rows(report: Report) -> list[str]:
    return [name for name, *_, is_kept in report.rows if not is_kept]


def test_a_first_start_is_measured_from_the_request_of_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait_for_end(job: dict[str, Any]) -> list[dict[str, str]]:
        scheduled_at = job["submitted_at"] + timedelta(seconds=3)  # the request took three seconds to arrive
        started_at = scheduled_at + timedelta(milliseconds=20)
        return [{"scheduled_at": to_text(scheduled_at), "started_at": to_text(started_at)}]

    punctual = SimpleNamespace(
        stack={"ready_at": time.monotonic() - lateness.SETTLE_SECONDS},
        submit=lambda **_: {"submitted_at": datetime.now(UTC)},
        wait_for_end=wait_for_end,
    )
    monkeypatch.setattr(lateness, "_due_together", lambda *_: [0.1])
    report = Report("")
    lateness._measure_first_starts(report, punctual)  # type: ignore[arg-type]
    assert failed_rows(report) == ["fresh stack, submitted now, the worst run"]


def test_executions_within_the_horizon_have_a_lower_limit_of_write_units(monkeypatch: pytest.MonkeyPatch) -> None:
    now, executions = datetime.now(UTC), 100
    for name in ("_beyond_horizon", "_within_horizon", "_with_tags"):
        monkeypatch.setattr(cost, name, lambda _, kind=name: (kind, now, now, executions))
    monkeypatch.setattr(cost, "metered", lambda *_: Counter({"write_units": 7 * executions}))
    monkeypatch.setattr(cost, "_log_lines", lambda _: 2.0)
    report = cost.measure(SimpleNamespace(stack={"tables": {"signals": "s", "statistics": "t"}}))  # type: ignore[arg-type]
    assert failed_rows(report) == ["_within_horizon: DynamoDB write units"]
