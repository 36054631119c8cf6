"""The clock: a schedule per shard, every minute."""

import dataclasses
import json
from pathlib import Path

from aws_cdk import App

from cdk.settings import PROD
from cdk.stack import PunctualStack
from tests.infrastructure.deployed import Deployed, readable


def test_each_shard_of_the_timers_is_swept_every_minute(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, "Punctual", settings=dataclasses.replace(PROD, timer_shards=4))
    schedules = Deployed.of(app).all("AWS::Scheduler::Schedule").values()
    assert {json.loads(schedule["Target"]["Input"])["shard"] for schedule in schedules} == {0, 1, 2, 3}
    assert {schedule["ScheduleExpression"] for schedule in schedules} == {"rate(1 minute)"}


def test_a_tick_is_on_time_and_soon_given_up(prod: Deployed) -> None:
    (tick,) = prod.all("AWS::Scheduler::Schedule").values()
    assert tick["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert tick["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 1}
    assert readable(tick["Target"]["Arn"]) == "DispatcherFunction.Arn"


def test_the_ticks_have_a_group_of_their_own(prod: Deployed) -> None:
    (tick,) = prod.all("AWS::Scheduler::Schedule").values()
    assert readable(tick["GroupName"]) == "DispatcherTicks"


def test_the_functions_know_the_number_of_shards_that_are_swept(prod: Deployed) -> None:
    for name in ("planner", "dispatcher"):
        assert int(prod.environment(name)["TIMER_SHARDS"]) == len(prod.all("AWS::Scheduler::Schedule"))
