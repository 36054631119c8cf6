"""The dashboard: the same metrics as the alarms, in sections."""

import json
from itertools import pairwise
from typing import Any

import pytest

from punctual.domain.lane import Lane, Priority
from punctual.domain.metrics import DashboardMetric, Metric, namespace
from punctual.domain.status import FINAL
from tests.infrastructure.deployed import FUNCTIONS, Deployed, readable

SECTIONS = (
    *("Alarms", "Running now", "Lateness", "Throughput"),
    *("Backlog", "Deadlines", "Cost", "Errors"),
)
# The dimensions of the metrics that the monitor publishes. All other metrics have none.
DIMENSIONS = {
    DashboardMetric.STARTED: {"lane"},
    DashboardMetric.ENDED: {"lane", "outcome"},
    DashboardMetric.RUNNING_NOW: {"lane"},
    DashboardMetric.QUEUE_DEPTH: {"queue"},
    DashboardMetric.QUEUE_DRAIN_MINUTES: {"queue"},
}
VALUES = {
    "lane": {str(lane) for lane in Lane},
    "queue": {*(str(priority) for priority in Priority), "intake"},
    "outcome": {"succeeded", "failed"},
}

Line = tuple[str, str, dict[str, str]]


@pytest.fixture(params=["prod", "local"])
def stack(request: pytest.FixtureRequest) -> Deployed:
    found: Deployed = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def widgets(stack: Deployed) -> list[dict[str, Any]]:
    (dashboard,) = stack.all("AWS::CloudWatch::Dashboard").values()
    assert readable(dashboard["DashboardName"]) in {"Punctual-prod-AWS::Region", "Punctual-local-AWS::Region"}
    return list(json.loads(readable(dashboard["DashboardBody"]))["widgets"])


@pytest.fixture
def lines(widgets: list[dict[str, Any]]) -> list[Line]:
    """Every line of every graph: namespace, metric name, dimensions."""
    drawn = [line for widget in widgets for line in widget["properties"].get("metrics", ())]
    found = []
    for source, name, *dimensions, _look in drawn:
        found.append((source, name, dict(zip(dimensions[::2], dimensions[1::2], strict=True))))
    return found


def test_each_section_begins_with_its_header(widgets: list[dict[str, Any]]) -> None:
    texts = [widget["properties"]["markdown"] for widget in widgets if widget["type"] == "text"]
    assert tuple(text.splitlines()[0].removeprefix("## ") for text in texts) == SECTIONS
    kinds = [widget["type"] for widget in widgets]
    assert kinds[0] == "text"
    assert not any(pair == ("text", "text") for pair in pairwise(kinds))


def test_all_metrics_of_punctual_are_shown_and_no_unknown_ones(lines: list[Line]) -> None:
    shown = {name for source, name, _ in lines if source in {namespace("prod"), namespace("local")}}
    assert shown == {*Metric, *DashboardMetric}


def test_a_metric_is_shown_with_the_dimensions_that_the_monitor_publishes(lines: list[Line]) -> None:
    for source, name, dimensions in lines:
        if source in {namespace("prod"), namespace("local")}:
            assert set(dimensions) == DIMENSIONS.get(name, set()), name


@pytest.mark.parametrize("dimension", VALUES)
def test_every_lane_queue_and_outcome_is_shown(lines: list[Line], dimension: str) -> None:
    for name in {name for _, name, dimensions in lines if dimension in dimensions}:
        assert {found[dimension] for _, one, found in lines if one == name} == VALUES[dimension], name


def test_an_outcome_is_a_final_status() -> None:
    assert {str(status) for status in FINAL} >= VALUES["outcome"]


def test_the_metric_of_every_alarm_is_shown(stack: Deployed, lines: list[Line]) -> None:
    for name, alarm in stack.alarms().items():
        dimensions = {one["Name"]: readable(one["Value"]) for one in alarm.get("Dimensions", ())}
        assert (alarm["Namespace"], alarm["MetricName"], dimensions) in lines, name


def test_errors_and_throttles_are_shown_for_every_function(lines: list[Line]) -> None:
    for metric in ("Errors", "Throttles"):
        shown = {found["FunctionName"] for space, name, found in lines if (space, name) == ("AWS/Lambda", metric)}
        assert shown == {f"{name.title()}Function" for name in FUNCTIONS}


def test_the_state_of_every_alarm_is_shown(stack: Deployed, widgets: list[dict[str, Any]]) -> None:
    (status,) = (widget["properties"] for widget in widgets if widget["type"] == "alarm")
    assert set(status["alarms"]) == {f"{name}.Arn" for name in stack.all("AWS::CloudWatch::Alarm")}


def test_alarm_thresholds_are_drawn_as_annotations(stack: Deployed, widgets: list[dict[str, Any]]) -> None:
    drawn = {
        (*widget["properties"]["metrics"][0][:2], annotation["value"])
        for widget in widgets
        for annotation in widget["properties"].get("annotations", {}).get("horizontal", ())
    }
    watched = {(alarm["Namespace"], alarm["MetricName"], alarm["Threshold"]) for alarm in stack.alarms().values()}
    assert drawn == {one for one in watched if one[:2] != ("AWS/Lambda", "Throttles")}


def test_no_widget_uses_metric_math(widgets: list[dict[str, Any]]) -> None:
    assert '"expression"' not in json.dumps(widgets)
