from __future__ import annotations

import pytest

from punctual.domain.forecasts import bill
from punctual.domain.forecasts.bill import Usage
from punctual.domain.forecasts.cost import (
    CONTAINER_START_DOLLARS,
    SHORT_EXECUTION_DOLLARS,
    container_cost,
    estimated_dollars,
    short_cost,
)
from punctual.domain.forecasts.queue_backlog import LaneFlow
from punctual.domain.jobs.resources import Resources


def test_an_hour_on_fargate_costs_its_list_price_and_spot_about_a_third() -> None:
    size = Resources(cpu=2048, memory_mb=4096)
    on_demand = container_cost(size, 3600)
    assert on_demand.compute_dollars == pytest.approx(2 * 0.03238 + 4 * 0.00356)
    assert on_demand.requests_dollars == pytest.approx(CONTAINER_START_DOLLARS + 120 * 2e-6 + 0.005)  # with its address
    assert (
        container_cost(Resources(cpu=2048, memory_mb=4096, spot=True), 3600).compute_dollars
        < on_demand.compute_dollars / 3 + 1e-9
    )


def test_each_further_attempt_of_a_short_execution_costs_its_requests() -> None:
    assert short_cost(0).dollars == SHORT_EXECUTION_DOLLARS
    assert SHORT_EXECUTION_DOLLARS < short_cost(0, attempts=2).dollars < 2 * SHORT_EXECUTION_DOLLARS


def test_the_estimate_of_a_month_adds_what_ran_to_what_an_idle_month_costs() -> None:
    idle = LaneFlow(started=0, finished=0, failed=0, busy_seconds=0)
    month = bill.SECONDS_PER_MONTH
    assert estimated_dollars({"short": idle, "long": idle}, 0, 0, month) == pytest.approx(bill.IDLE_MONTH_DOLLARS)
    busy = LaneFlow(started=1_000, finished=1_000, failed=0, busy_seconds=3600)
    found = estimated_dollars({"short": busy, "long": idle}, 0, 0, month) - bill.IDLE_MONTH_DOLLARS
    assert found == pytest.approx(1_000 * SHORT_EXECUTION_DOLLARS + 1_800 * bill.LAMBDA_GB_SECOND)
    found = estimated_dollars({"short": idle, "long": idle}, 2, 2048, 3600)
    assert found == pytest.approx(bill.IDLE_MONTH_DOLLARS / 730 + 2 * 0.03238 + 4 * 0.00356 + 2 * 0.005, rel=0.01)


def test_a_bill_has_a_line_for_each_use_and_its_total() -> None:
    used = Usage(write_units=2, read_units=4) + Usage(write_units=1).times(2)
    assert used.lines == pytest.approx({"DynamoDB writes": 4 * 0.625e-6, "DynamoDB reads": 4 * 0.125e-6})
    assert used.dollars == pytest.approx(3e-6)
