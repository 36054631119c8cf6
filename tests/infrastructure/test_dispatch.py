"""The clock: a schedule per shard, for admission and for the monitor, every minute; for the reconciler, every hour."""

import dataclasses
import json
from pathlib import Path

import pytest
from aws_cdk import App

from cdk.settings import PROD
from cdk.stack import PunctualStack
from tests.infrastructure.deployed import Deployed, readable

TICKING = ("dispatcher", "admission", "monitor", "reconciler")


def test_each_shard_of_the_timers_is_swept_every_minute(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, "Punctual", settings=dataclasses.replace(PROD, timer_shards=4))
    schedules = Deployed.of(app).ticks("dispatcher")
    assert {json.loads(schedule["Target"]["Input"])["shard"] for schedule in schedules} == {0, 1, 2, 3}
    assert {schedule["ScheduleExpression"] for schedule in schedules} == {"rate(1 minute)"}


@pytest.mark.parametrize(
    ("function", "rate", "says"),
    [
        ("admission", "rate(1 minute)", {"do": "tick"}),
        ("monitor", "rate(1 minute)", {"do": "tick"}),
        ("reconciler", "rate(1 hour)", {}),
    ],
)
def test_whoever_looks_around_does_so_at_a_steady_rate(
    prod: Deployed, function: str, rate: str, says: dict[str, str]
) -> None:
    (tick,) = prod.ticks(function)
    assert tick["ScheduleExpression"] == rate
    assert json.loads(tick["Target"]["Input"]) == says


@pytest.mark.parametrize("function", TICKING)
def test_a_tick_is_on_time_and_soon_given_up(prod: Deployed, function: str) -> None:
    (tick,) = prod.ticks(function)
    assert tick["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert tick["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 1}


@pytest.mark.parametrize("function", TICKING)
def test_the_ticks_have_a_group_of_their_own(prod: Deployed, function: str) -> None:
    (tick,) = prod.ticks(function)
    assert readable(tick["GroupName"]) == "DispatcherTicks"


def test_the_functions_know_the_number_of_shards_that_are_swept(prod: Deployed) -> None:
    for name in ("planner", "dispatcher", "monitor"):
        assert int(prod.environment(name)["TIMER_SHARDS"]) == len(prod.ticks("dispatcher"))
