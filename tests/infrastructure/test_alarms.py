"""The alarms: what each watches, from when on, whom it tells, and where it says what to do."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from cdk.metrics import Logged, Published
from cdk.settings import LOCAL, PROD, Alerts
from cdk.stack import PunctualStack
from punctual.domain.executions.horizon import SWEEP
from punctual.domain.metrics import NAMESPACE, Detail, Metric
from tests.infrastructure.conftest import ROOT
from tests.infrastructure.deployed import FUNCTIONS, Deployed, readable

RUNBOOK = (ROOT / "docs" / "operations.md").read_text()
PAGE, NOTICE = "TopicsPage", "TopicsNotice"
# Whom it tells, above what, and in how many minutes out of how many.
EXPECTED = {
    "DeadlineAtRisk": (NOTICE, 0, 1, 1),
    "DeadlineMissed": (PAGE, 0, 1, 1),
    "BacklogDrainTime": (PAGE, 30, 1, 1),
    "BacklogSize": (PAGE, 100_000, 1, 1),
    "OldestMessage": (NOTICE, 900, 2, 2),
    "DispatchLate": (NOTICE, 2, 3, 5),
    "TickMissed": (PAGE, 150, 2, 3),
    "SweepBehind": (PAGE, 60, 1, 1),
    "StreamBehind": (PAGE, 60, 3, 3),
    "DeadLetters": (PAGE, 0, 1, 1),
    "WorkerFailures": (NOTICE, 25, 3, 5),
    "StateMachineFailures": (NOTICE, 0, 1, 1),
    "ApiErrors": (PAGE, 5, 2, 3),
    "Throttled": (NOTICE, 0, 3, 5),
}
# What AWS counts in another unit.
UNITS = {"IteratorAge": 1000}


def kind(name: str) -> str:
    """`Throttled-worker` is one of the kind `Throttled`."""
    return name.partition("-")[0]


def test_the_stack_and_the_monitor_call_metrics_by_the_same_names() -> None:
    assert {one.name: one.value for one in Published} == {one.name: one.value for one in Metric}
    assert {one.name: one.value for one in Logged} == {one.name: one.value for one in Detail}


def test_every_metric_that_is_published_for_alarms_is_watched_by_one(prod: Deployed) -> None:
    own = [alarm["MetricName"] for alarm in prod.alarms().values() if alarm["Namespace"] == NAMESPACE]
    assert sorted(own) == sorted(Metric)


def test_an_alarm_on_punctuals_own_metrics_needs_no_dimension(prod: Deployed) -> None:
    for name, alarm in prod.alarms().items():
        assert ("Dimensions" in alarm) == (alarm["Namespace"] != NAMESPACE), name


def test_every_kind_of_alarm_goes_off_on_the_emulator_too(local: Deployed) -> None:
    """It has none of AWS's own metrics, and ignores dimensions."""
    own = {name for name, alarm in local.alarms().items() if alarm["Namespace"] == NAMESPACE}
    assert own == set(EXPECTED)


@pytest.mark.parametrize("stage", ["prod", "local"])
def test_there_is_neither_a_composite_alarm_nor_metric_math(stage: str, request: pytest.FixtureRequest) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    assert not deployed.all("AWS::CloudWatch::CompositeAlarm")
    for name, alarm in deployed.alarms().items():
        assert "Metrics" not in alarm, name
        assert {"MetricName", "Namespace", "Statistic", "Threshold", "ComparisonOperator"} <= set(alarm), name


def test_each_alarm_tells_its_topic_from_when_on_it_should(prod: Deployed) -> None:
    for name, alarm in prod.alarms().items():
        (topic,) = (readable(action) for action in alarm["AlarmActions"])
        threshold = alarm["Threshold"] / UNITS.get(alarm["MetricName"], 1)
        said = (topic, threshold, alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"])
        assert said == EXPECTED[kind(name)], name
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold", name
        assert alarm["Period"] == 60, name
    assert {kind(name) for name in prod.alarms()} == set(EXPECTED)


def test_whoever_is_told_that_it_began_is_told_that_it_is_over(prod: Deployed) -> None:
    for name, alarm in prod.alarms().items():
        assert alarm["OKActions"] == alarm["AlarmActions"], name


def test_silence_is_bad_news_of_the_tick_alone(prod: Deployed) -> None:
    silent = {name: alarm["TreatMissingData"] for name, alarm in prod.alarms().items()}
    assert silent.pop("TickMissed") == "breaching"
    assert set(silent.values()) == {"notBreaching"}


def test_what_happened_is_added_up_and_of_what_is_so_the_worst_counts(prod: Deployed) -> None:
    added_up = {kind(name) for name, alarm in prod.alarms().items() if alarm["Statistic"] == "Sum"}
    assert added_up == {"StateMachineFailures", "ApiErrors", "Throttled"}
    worst = {kind(name) for name, alarm in prod.alarms().items() if alarm["Statistic"] == "Maximum"}
    assert worst == set(EXPECTED) - added_up


@pytest.mark.parametrize(("stage", "alerts"), [("prod", PROD.alerts), ("local", LOCAL.alerts)])
def test_the_limits_of_a_backlog_are_the_settings(stage: str, alerts: Alerts, request: pytest.FixtureRequest) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    alarms, monitor = deployed.alarms(), deployed.environment("monitor")
    assert alarms["BacklogDrainTime"]["Threshold"] == int(monitor["BACKLOG_MINUTES"]) == alerts.backlog_minutes
    assert alarms["BacklogSize"]["Threshold"] == int(monitor["BACKLOG_MESSAGES"]) == alerts.backlog_messages
    assert alarms["OldestMessage"]["Threshold"] == alerts.backlog_minutes * 60 / 2


@pytest.mark.parametrize("wrong", [{"backlog_minutes": 0}, {"backlog_messages": -1}])
def test_a_limit_that_is_none_is_refused_by_name(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"alerts.{name}: .* at least 1"):
        dataclasses.replace(PROD.alerts, **wrong)


def test_a_sweep_that_falls_behind_is_told_while_nothing_is_late_yet(prod: Deployed) -> None:
    assert prod.alarms()["SweepBehind"]["Threshold"] < SWEEP.total_seconds()


def test_whoever_reads_a_stream_is_watched_for_falling_behind(prod: Deployed) -> None:
    readers = {name for name in FUNCTIONS for source in prod.sources(name) if source.endswith(".StreamArn")}
    assert _watched_functions(prod, "StreamBehind", "IteratorAge") == readers


def test_every_function_is_watched_for_throttles(prod: Deployed) -> None:
    assert _watched_functions(prod, "Throttled", "Throttles") == set(FUNCTIONS)


def test_errors_of_the_own_api_are_counted_at_its_gateway_too(prod: Deployed) -> None:
    alarm = prod.alarms()["ApiErrors-gateway"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/ApiGateway", "5xx")
    assert _dimensions(alarm) == {"ApiId": "ApiHttp"}


def test_each_alarm_says_what_it_means_and_links_to_its_section_of_the_runbook(prod: Deployed) -> None:
    for name, alarm in prod.alarms().items():
        meaning, _, link = alarm["AlarmDescription"].rpartition(" ")
        assert meaning.endswith("."), name
        assert link == f"{PROD.alerts.runbook}#{_anchor(kind(name))}"


def test_the_runbook_has_a_section_for_each_alarm_and_for_nothing_that_is_none(prod: Deployed) -> None:
    of_alarms = RUNBOOK.split("\n## The alarms\n")[1].split("\n## ")[0]
    sections = re.findall(r"^### (.+)$", of_alarms, flags=re.MULTILINE)
    assert sorted(sections) == sorted({kind(name) for name in prod.alarms()})
    anchors = [_anchor(heading) for heading in re.findall(r"^#+ (.+)$", RUNBOOK, flags=re.MULTILINE)]
    assert len(anchors) == len(set(anchors))  # a second of the same name would be called otherwise


def test_the_runbooks_table_tells_the_topic_of_each_alarm() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(#(\w+)\) \| (page|notice) \|", RUNBOOK, flags=re.MULTILINE)
    topics = {name: {PAGE: "page", NOTICE: "notice"}[topic] for name, (topic, *_) in EXPECTED.items()}
    assert {name: topic for name, _, topic in rows} == topics
    assert all(anchor == _anchor(name) for name, anchor, _ in rows)


def test_the_links_lead_to_where_the_settings_say(tmp_path: Path) -> None:
    alerts = dataclasses.replace(PROD.alerts, runbook="https://wiki.example.com/punctual")
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, "Punctual", settings=dataclasses.replace(PROD, alerts=alerts))
    alarm = Deployed.of(app).alarms()["DeadLetters"]
    assert alarm["AlarmDescription"].endswith(" https://wiki.example.com/punctual#deadletters")


def _watched_functions(stack: Deployed, wanted: str, metric: str) -> set[str]:
    """The functions that an alarm of this kind is about, each by its own metric."""
    watched = set()
    for name, alarm in stack.alarms().items():
        if kind(name) == wanted and name != wanted:
            about = name.partition("-")[2]
            assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", metric)
            assert _dimensions(alarm) == {"FunctionName": f"{about.title()}Function"}
            watched.add(about)
    return watched


def _dimensions(alarm: dict[str, Any]) -> dict[str, str]:
    return {one["Name"]: readable(one["Value"]) for one in alarm["Dimensions"]}


def _anchor(heading: str) -> str:
    """As GitHub and most others make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
