from __future__ import annotations

import pytest

from punctual.domain.forecasts.cost import CONTAINER_START_DOLLARS, SHORT_EXECUTION_DOLLARS, container_cost, short_cost
from punctual.domain.jobs.resources import Resources


def test_an_hour_on_fargate_costs_its_list_price_and_spot_about_a_third() -> None:
    size = Resources(cpu=2048, memory_mb=4096)
    on_demand = container_cost(size, 3600)
    assert on_demand.compute_dollars == pytest.approx(2 * 0.03238 + 4 * 0.00356)
    assert on_demand.requests_dollars == pytest.approx(CONTAINER_START_DOLLARS + 120 * 2e-6)
    assert (
        container_cost(Resources(cpu=2048, memory_mb=4096, spot=True), 3600).compute_dollars
        < on_demand.compute_dollars / 3 + 1e-9
    )


def test_each_further_attempt_of_a_short_execution_costs_its_requests() -> None:
    assert short_cost(0).dollars == SHORT_EXECUTION_DOLLARS
    assert SHORT_EXECUTION_DOLLARS < short_cost(0, attempts=2).dollars < 2 * SHORT_EXECUTION_DOLLARS
