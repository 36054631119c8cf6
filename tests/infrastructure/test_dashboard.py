"""The dashboard: the same metrics as the alarms, in sections."""

import json
from itertools import pairwise
from typing import Any

import pytest

from punctual.domain.lane import Lane, Priority
from punctual.domain.metrics import NAMESPACE, Detail, Metric
from punctual.domain.status import FINAL
from tests.infrastructure.deployed import FUNCTIONS, Deployed, readable

SECTIONS = (
    *("Alarms", "What runs now", "Lateness", "Throughput"),
    *("Backlog", "Deadlines", "Cost", "Errors"),
)
# By what the monitor divides them. What is not named here has no dimension.
DIVIDED_BY = {
    Detail.STARTED: {"lane"},
    Detail.ENDED: {"lane", "outcome"},
    Detail.RUNNING_NOW: {"lane"},
    Detail.QUEUE_DEPTH: {"queue"},
    Detail.QUEUE_DRAIN_MINUTES: {"queue"},
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
    assert dashboard["DashboardName"] == "Punctual"
    return list(json.loads(readable(dashboard["DashboardBody"]))["widgets"])


@pytest.fixture
def lines(widgets: list[dict[str, Any]]) -> list[Line]:
    """Every line of every graph: namespace, name, dimensions."""
    drawn = [line for widget in widgets for line in widget["properties"].get("metrics", ())]
    found = []
    for namespace, name, *dimensions, _look in drawn:
        found.append((namespace, name, dict(zip(dimensions[::2], dimensions[1::2], strict=True))))
    return found


def test_each_section_begins_with_its_header(widgets: list[dict[str, Any]]) -> None:
    texts = [widget["properties"]["markdown"] for widget in widgets if widget["type"] == "text"]
    assert tuple(text.splitlines()[0].removeprefix("## ") for text in texts) == SECTIONS
    kinds = [widget["type"] for widget in widgets]
    assert kinds[0] == "text"
    assert not any(pair == ("text", "text") for pair in pairwise(kinds))


def test_everything_that_punctual_measures_is_shown_and_nothing_that_it_does_not(lines: list[Line]) -> None:
    shown = {name for namespace, name, _ in lines if namespace == NAMESPACE}
    assert shown == {*Metric, *Detail}


def test_a_metric_is_shown_by_what_the_monitor_divides_it_by(lines: list[Line]) -> None:
    for namespace, name, dimensions in lines:
        if namespace == NAMESPACE:
            assert set(dimensions) == DIVIDED_BY.get(name, set()), name


@pytest.mark.parametrize("dimension", VALUES)
def test_no_lane_queue_or_outcome_is_left_out(lines: list[Line], dimension: str) -> None:
    for name in {name for _, name, dimensions in lines if dimension in dimensions}:
        assert {found[dimension] for _, one, found in lines if one == name} == VALUES[dimension], name


def test_an_outcome_is_a_status_that_an_execution_ends_with() -> None:
    assert {str(status) for status in FINAL} >= VALUES["outcome"]


def test_whatever_an_alarm_watches_can_be_looked_at(stack: Deployed, lines: list[Line]) -> None:
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


def test_the_thresholds_are_drawn_in(stack: Deployed, widgets: list[dict[str, Any]]) -> None:
    drawn = {
        (*widget["properties"]["metrics"][0][:2], annotation["value"])
        for widget in widgets
        for annotation in widget["properties"].get("annotations", {}).get("horizontal", ())
    }
    watched = {(alarm["Namespace"], alarm["MetricName"], alarm["Threshold"]) for alarm in stack.alarms().values()}
    assert drawn == {one for one in watched if one[:2] != ("AWS/Lambda", "Throttles")}


def test_nothing_is_calculated(widgets: list[dict[str, Any]]) -> None:
    assert '"expression"' not in json.dumps(widgets)
