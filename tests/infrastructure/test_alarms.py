"""The alarms: metric, threshold, topic, and link to the runbook."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from cdk.settings import LOCAL, PROD, Alerts
from cdk.stack import PunctualStack
from punctual.domain.executions.horizon import SWEEP_HORIZON
from punctual.domain.metrics import Metric, namespace
from tests.infrastructure.conftest import ROOT
from tests.infrastructure.deployed import FUNCTIONS, Deployed, readable

RUNBOOK = (ROOT / "docs" / "operations.md").read_text()
PAGE, NOTICE = "TopicsPage", "TopicsNotice"
# Topic, threshold, and the number of breaching minutes out of the evaluated minutes.
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
    "BrokenTaskModules": (PAGE, 0, 1, 15),
    "StateMachineFailures": (NOTICE, 0, 1, 1),
    "ApiErrors": (PAGE, 5, 2, 3),
    "Throttled": (NOTICE, 0, 5, 5),
}
# Of invocations: queues, streams and asynchronous calls are retried for hours, so only lasting throttles count.
EXPECTED_OF_INVOCATIONS = (NOTICE, 0, 15, 15)
# Metrics that AWS reports in another unit: IteratorAge in milliseconds.
UNITS = {"IteratorAge": 1000}


def kind(name: str) -> str:
    """The kind of an alarm: `Throttled` for `Throttled-worker`."""
    return name.partition("-")[0]


def test_every_metric_published_for_alarms_has_one_alarm(prod: Deployed) -> None:
    own = [alarm["MetricName"] for alarm in prod.alarms().values() if alarm["Namespace"] == namespace("prod")]
    assert sorted(own) == sorted(Metric)


def test_an_alarm_on_punctuals_own_metrics_has_no_dimension(prod: Deployed) -> None:
    for name, alarm in prod.alarms().items():
        assert ("Dimensions" in alarm) == (alarm["Namespace"] != namespace("prod")), name


def test_every_kind_of_alarm_can_trigger_on_the_emulator(local: Deployed) -> None:
    """The emulator ignores dimensions: each kind has an alarm on an own metric, and none on a metric of AWS."""
    watched = {name: alarm["Namespace"] for name, alarm in local.alarms().items()}
    assert watched == dict.fromkeys(EXPECTED, namespace("local"))


def test_a_burst_that_is_throttled_for_a_few_minutes_raises_no_alarm(prod: Deployed) -> None:
    """Nothing is lost: the services retry. An operator has to act only if the load stays above the limit."""
    throttled = [alarm for name, alarm in prod.alarms().items() if kind(name) == "Throttled"]
    assert all(alarm["DatapointsToAlarm"] == alarm["EvaluationPeriods"] >= 5 for alarm in throttled)


@pytest.mark.parametrize("stage", ["prod", "local"])
def test_there_is_neither_a_composite_alarm_nor_metric_math(stage: str, request: pytest.FixtureRequest) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    assert not deployed.all("AWS::CloudWatch::CompositeAlarm")
    for name, alarm in deployed.alarms().items():
        assert "Metrics" not in alarm, name
        assert {"MetricName", "Namespace", "Statistic", "Threshold", "ComparisonOperator"} <= set(alarm), name


def test_each_alarm_has_its_topic_and_threshold(prod: Deployed) -> None:
    for name, alarm in prod.alarms().items():
        (topic,) = (readable(action) for action in alarm["AlarmActions"])
        threshold = alarm["Threshold"] / UNITS.get(alarm["MetricName"], 1)
        found = (topic, threshold, alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"])
        invocations = (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", "Throttles")
        assert found == (EXPECTED_OF_INVOCATIONS if invocations else EXPECTED[kind(name)]), name
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold", name
        assert alarm["Period"] == 60, name
    assert {kind(name) for name in prod.alarms()} == set(EXPECTED)


def test_the_end_of_an_alarm_is_sent_to_the_same_topic(prod: Deployed) -> None:
    for name, alarm in prod.alarms().items():
        assert alarm["OKActions"] == alarm["AlarmActions"], name


def test_missing_data_breaches_only_the_alarm_for_missed_ticks(prod: Deployed) -> None:
    missing_data = {name: alarm["TreatMissingData"] for name, alarm in prod.alarms().items()}
    assert missing_data.pop("TickMissed") == "breaching"
    assert set(missing_data.values()) == {"notBreaching"}


def test_counts_of_events_are_summed_and_of_states_the_maximum_is_used(prod: Deployed) -> None:
    summed = {kind(name) for name, alarm in prod.alarms().items() if alarm["Statistic"] == "Sum"}
    assert summed == {"StateMachineFailures", "ApiErrors", "Throttled"}
    maximum = {kind(name) for name, alarm in prod.alarms().items() if alarm["Statistic"] == "Maximum"}
    assert maximum == set(EXPECTED) - summed


@pytest.mark.parametrize(("stage", "alerts"), [("prod", PROD.alerts), ("local", LOCAL.alerts)])
def test_the_backlog_thresholds_come_from_the_settings(
    stage: str, alerts: Alerts, request: pytest.FixtureRequest
) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    alarms, monitor = deployed.alarms(), deployed.environment("monitor")
    assert alarms["BacklogDrainTime"]["Threshold"] == int(monitor["BACKLOG_MINUTES"]) == alerts.backlog_minutes
    assert alarms["BacklogSize"]["Threshold"] == int(monitor["BACKLOG_MESSAGES"]) == alerts.backlog_messages
    assert alarms["OldestMessage"]["Threshold"] == alerts.backlog_minutes * 60 / 2


@pytest.mark.parametrize("wrong", [{"backlog_minutes": 0}, {"backlog_messages": -1}])
def test_a_backlog_limit_below_one_is_rejected_by_name(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"alerts.{name}: .* is not between 1 and"):
        dataclasses.replace(PROD.alerts, **wrong)


def test_the_sweep_alarm_triggers_before_any_execution_is_late(prod: Deployed) -> None:
    assert prod.alarms()["SweepBehind"]["Threshold"] < SWEEP_HORIZON.total_seconds()


def test_every_stream_reader_has_an_alarm_for_falling_behind(prod: Deployed) -> None:
    readers = {name for name in FUNCTIONS for source in prod.sources(name) if source.endswith(".StreamArn")}
    assert _watched_functions(prod, "StreamBehind", "IteratorAge") == readers


def test_the_functions_that_use_the_shared_concurrency_most_and_always_have_an_alarm_for_throttles(
    prod: Deployed,
) -> None:
    assert _watched_functions(prod, "Throttled", "Throttles") == {"worker", "monitor"}
    for name in ("worker", "monitor"):
        assert "ReservedConcurrentExecutions" not in prod.function(name), name


def test_api_errors_are_also_counted_at_the_gateway(prod: Deployed) -> None:
    alarm = prod.alarms()["ApiErrors-gateway"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/ApiGateway", "5xx")
    assert _dimensions(alarm) == {"ApiId": "ApiHttp"}


def test_each_alarm_describes_its_meaning_and_links_to_its_section_of_the_runbook(prod: Deployed) -> None:
    for name, alarm in prod.alarms().items():
        meaning, _, link = alarm["AlarmDescription"].rpartition(" ")
        assert meaning.endswith("."), name
        assert link == f"{PROD.alerts.runbook}#{_anchor(kind(name))}"


def test_the_runbook_has_a_section_for_each_alarm_and_no_others(prod: Deployed) -> None:
    of_alarms = RUNBOOK.split("\n## The alarms\n")[1].split("\n## ")[0]
    sections = re.findall(r"^### (.+)$", of_alarms, flags=re.MULTILINE)
    assert sorted(sections) == sorted({kind(name) for name in prod.alarms()})
    anchors = [_anchor(heading) for heading in re.findall(r"^#+ (.+)$", RUNBOOK, flags=re.MULTILINE)]
    assert len(anchors) == len(set(anchors))  # a second heading with the same text would get another anchor


def test_the_table_of_the_runbook_lists_the_topic_of_each_alarm() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(#(\w+)\) \| (page|notice) \|", RUNBOOK, flags=re.MULTILINE)
    topics = {name: {PAGE: "page", NOTICE: "notice"}[topic] for name, (topic, *_) in EXPECTED.items()}
    assert {name: topic for name, _, topic in rows} == topics
    assert all(anchor == _anchor(name) for name, anchor, _ in rows)


def test_the_runbook_links_use_the_address_from_the_settings(tmp_path: Path) -> None:
    alerts = dataclasses.replace(PROD.alerts, runbook="https://wiki.example.com/punctual")
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, settings=dataclasses.replace(PROD, alerts=alerts))
    alarm = Deployed.of(app).alarms()["DeadLetters"]
    assert alarm["AlarmDescription"].endswith(" https://wiki.example.com/punctual#deadletters")


def _watched_functions(stack: Deployed, wanted: str, metric: str) -> set[str]:
    """The functions that have an alarm of this kind, each on its own metric."""
    watched = set()
    for name, alarm in stack.alarms().items():
        if kind(name) == wanted and name != wanted:
            function = name.partition("-")[2]
            assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", metric)
            assert _dimensions(alarm) == {"FunctionName": f"{function.title()}Function"}
            watched.add(function)
    return watched


def _dimensions(alarm: dict[str, Any]) -> dict[str, str]:
    return {one["Name"]: readable(one["Value"]) for one in alarm["Dimensions"]}


def _anchor(heading: str) -> str:
    """The anchor that GitHub creates from a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
