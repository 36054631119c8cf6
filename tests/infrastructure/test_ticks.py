"""The ticks: every minute for each timer shard, admission and the monitor; every half hour for the reconciler."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from cdk.settings import PROD
from cdk.stack import PunctualStack
from tests.infrastructure.deployed import Deployed, readable

TICKING = ("dispatcher", "admission", "monitor", "reconciler")


def test_each_timer_shard_is_swept_every_minute(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, settings=dataclasses.replace(PROD, timer_shards=4))
    schedules = Deployed.of(app).ticks("dispatcher")
    assert sorted((one["shard"], one["shards"]) for one in map(_input, schedules)) == [(n, 4) for n in range(4)]
    assert {schedule["ScheduleExpression"] for schedule in schedules} == {"rate(1 minute)"}


def test_the_ticks_are_changed_from_the_last_to_the_first(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, settings=dataclasses.replace(PROD, timer_shards=3))
    schedules = Deployed.of(app).template["Resources"].items()
    found = {name: one for name, one in schedules if one["Type"] == "AWS::Scheduler::Schedule"}
    ticks = {_input(one["Properties"]).get("shard"): (name, one["DependsOn"]) for name, one in found.items()}
    assert ticks[1][0] in ticks[0][1]
    assert ticks[2][0] in ticks[1][1]


def _input(schedule: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(schedule["Target"]["Input"])
    return found


@pytest.mark.parametrize(
    ("function", "rate", "payload"),
    [
        ("admission", "rate(1 minute)", {"do": "tick"}),
        ("monitor", "rate(1 minute)", {"do": "tick"}),
        ("reconciler", "rate(30 minutes)", {}),
    ],
)
def test_a_periodic_function_is_invoked_at_its_rate(
    prod: Deployed, function: str, rate: str, payload: dict[str, str]
) -> None:
    (tick,) = prod.ticks(function)
    assert tick["ScheduleExpression"] == rate
    assert json.loads(tick["Target"]["Input"]) == payload


@pytest.mark.parametrize("function", TICKING)
def test_a_tick_has_no_flexible_window_and_is_retried_at_most_once_within_a_minute(
    prod: Deployed, function: str
) -> None:
    (tick,) = prod.ticks(function)
    assert tick["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert tick["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 1}


@pytest.mark.parametrize("function", TICKING)
def test_the_ticks_have_a_group_of_their_own(prod: Deployed, function: str) -> None:
    (tick,) = prod.ticks(function)
    assert readable(tick["GroupName"]) == "DispatcherTicks"


def test_the_functions_get_the_number_of_timer_shards_that_are_swept(prod: Deployed) -> None:
    for name in ("planner", "dispatcher", "monitor"):
        assert int(prod.environment(name)["TIMER_SHARDS"]) == len(prod.ticks("dispatcher"))
