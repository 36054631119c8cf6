"""The fixed part of an idle month, from the template, and the totals in docs/benchmarks.md."""

import re

import pytest

from bench.bills import fixed_month
from punctual.domain.forecasts import bill
from tests.infrastructure.conftest import ROOT
from tests.infrastructure.deployed import Deployed

BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text()
IDLE = BENCHMARKS.split("\n### An idle month\n")[1].split("\n### ")[0]
EXECUTIONS = BENCHMARKS.split("\n### A million executions\n")[1].split("\n### ")[0]


def row(table: str, name: str) -> list[float]:
    """The dollars in the row with this name."""
    (found,) = re.findall(rf"^\| \**{re.escape(name)}\** \|(.*)\|$", table, flags=re.MULTILINE)
    return [float(one) for one in re.findall(r"\d+\.\d\d", found.partition("|")[0] if table is IDLE else found)]


def test_the_documented_lines_of_an_idle_month_are_those_of_the_template(prod: Deployed) -> None:
    for name, dollars in fixed_month(prod).lines.items():
        assert row(IDLE, name) == [pytest.approx(dollars, abs=0.006)], name


def test_the_documented_totals_are_those_of_the_estimate() -> None:
    assert row(IDLE, "total") == [pytest.approx(bill.IDLE_MONTH_DOLLARS, abs=0.006)]
    each_second, beyond = row(EXECUTIONS, "total")
    assert each_second == pytest.approx(bill.EXECUTION_EACH_SECOND_DOLLARS * 1e6, abs=0.006)
    assert beyond == pytest.approx(bill.EXECUTION_DOLLARS * 1e6, abs=0.006)


@pytest.mark.parametrize(("table", "columns"), [(IDLE, 1), (EXECUTIONS, 2)])
def test_the_documented_lines_add_up_to_the_totals(table: str, columns: int) -> None:
    names = [name for name, _ in bill.PRICES.values() if f"| {name} |" in table]
    for column in range(columns):
        total = sum(row(table, name)[column] for name in names)
        assert row(table, "total")[column] == pytest.approx(total, abs=0.05)


def test_an_idle_month_costs_at_most_ten_dollars() -> None:
    assert bill.IDLE_MONTH_DOLLARS <= 10
