"""What the benchmarks limit."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bench import bills, cost, lateness, usage
from bench.report import Report
from punctual.domain.forecasts import bill
from punctual.domain.forecasts.bill import Usage
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


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What is counted in each period, for 100 executions, with the recorded bills."""
    now, found = datetime.now(UTC), Counter[str]()
    for name in ("_beyond_horizon", "_within_horizon", "_with_tags"):
        monkeypatch.setattr(cost, name, lambda _, kind=name: (kind, now, now, 100))
    monkeypatch.setattr(cost, "metered", lambda *_: Counter(found))
    monkeypatch.setattr(cost, "_log_lines", lambda _: 2.0)
    monkeypatch.setattr(bills, "idle_minute", lambda _: bills.IdleMinute(Usage(), Usage()))
    monkeypatch.setattr(bills, "idle_month", lambda _: Usage(key_months=bill.IDLE_MONTH_DOLLARS))
    monkeypatch.setattr(bills, "execution", lambda *_: Usage(key_months=bill.EXECUTION_DOLLARS))
    return found


def measured_rows() -> list[str]:
    stack = {"tables": {"signals": "s", "statistics": "t"}}
    return failed_rows(cost.measure(SimpleNamespace(stack=stack)))  # type: ignore[arg-type]


def test_executions_within_the_horizon_have_a_lower_limit_of_write_units(counted: Counter[str]) -> None:
    counted["write_units"] = 700
    assert measured_rows() == ["_within_horizon: DynamoDB write units"]


@pytest.mark.usefixtures("counted")
def test_a_bill_above_its_limit_or_far_from_the_recorded_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bills, "idle_month", lambda _: Usage(key_months=10.01))
    monkeypatch.setattr(bills, "execution", lambda *_: Usage(key_months=bill.EXECUTION_DOLLARS * 0.85))
    assert measured_rows() == [
        "an idle month: total",
        "a million _beyond_horizon: difference to the recorded total",
        "a million _within_horizon: difference to the recorded total",
    ]


def test_lines_of_the_log_are_billed_without_those_that_only_the_emulator_writes() -> None:
    total = usage.Counted()
    zeros = {"_aws": {"CloudWatchMetrics": [{"Metrics": [{"Name": "Started"}]}]}, "Started": 0}
    meter = {"meter": {"dynamodb.PutItem": 2.0, "write_units": 2.0}}
    for line in ('{"message": "swept"}', json.dumps(zeros), json.dumps(meter), "END RequestId: 1"):
        usage.add_message(total, line)
    assert (total.invocations, total.log_bytes) == (1, 20 + usage.EVENT_BYTES)
    billed = total.usage(log_days=30)
    assert (billed.write_units, billed.lambda_gb_seconds) == (2, pytest.approx(0.5 * (0.010 + 2 * 0.012)))


def test_a_worker_waits_for_a_quarter_of_the_orders_half_of_a_quarter_of_a_second() -> None:
    assert pytest.approx(0.25 * 0.125) == usage.WAITING_SECONDS
