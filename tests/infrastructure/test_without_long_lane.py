"""A stage without the long lane: nothing of it is deployed, and the other functions know that it is absent."""

import json
from dataclasses import replace

import pytest

from cdk.settings import PROD
from cdk.stages import with_long_lane
from tests.infrastructure.deployed import DEAD_LETTER_READERS, FUNCTIONS, LONG_LANE, Deployed, readable

OF_THE_LANE_ONLY = ("AWS::EC2::", "AWS::ECS::", "AWS::StepFunctions::", "AWS::Events::")


def test_nothing_that_serves_only_the_lane_is_deployed(prod: Deployed, short: Deployed) -> None:
    kinds = {resource["Type"] for resource in short.template["Resources"].values()}
    assert not [kind for kind in kinds if kind.startswith(OF_THE_LANE_ONLY)]
    left_out = set(prod.all("AWS::Lambda::Function")) - short.all("AWS::Lambda::Function").keys()
    assert left_out == {f"{name.title()}Function" for name in LONG_LANE}
    groups = {readable(group["Name"]) for group in short.all("AWS::Scheduler::ScheduleGroup").values()}
    assert groups == {"Punctual-short-ticks"}


def test_no_image_is_built(short: Deployed) -> None:
    assert not json.loads(short.assets_file.read_text()).get("dockerImages")


def test_no_role_may_use_a_service_of_the_lane(short: Deployed) -> None:
    actions = {action for role in short.all("AWS::IAM::Role") for action, _ in short.permissions(role)}
    assert not [action for action in actions if action.startswith(("states:", "ecs:", "ecr:", "scheduler:", "iam:"))]


def test_the_other_functions_know_that_the_lane_is_absent(prod: Deployed, short: Deployed) -> None:
    assert {short.environment("api")[name] for name in ("LONG_VCPUS", "LONG_TASKS")} == {"0"}
    empty = {
        "planner": ("STATE_MACHINE_ARN", "SCHEDULE_GROUP", "SCHEDULE_ROLE_ARN"),
        "settler": ("SCHEDULE_GROUP", "CLUSTER"),
        "monitor": ("STATE_MACHINE_ARN",),
    }
    for name, variables in empty.items():
        assert {short.environment(name)[one] for one in variables} == {""}
        assert "" not in {prod.environment(name)[one] for one in variables}


def test_the_other_functions_keep_their_variables(prod: Deployed, short: Deployed) -> None:
    for name in set(FUNCTIONS) - set(LONG_LANE):
        assert short.environment(name).keys() == prod.environment(name).keys()


def test_the_monitor_reads_only_dead_letter_queues_that_exist(short: Deployed) -> None:
    left_out = {"Admission", "Observer"}
    expected = {f"Queues{name.title()}DeadLetters" for name in DEAD_LETTER_READERS if name.title() not in left_out}
    assert set(json.loads(short.environment("monitor")["DEAD_LETTER_QUEUE_URLS"])) == expected


def test_alarms_and_dashboard_of_the_lane_vanish(prod: Deployed, short: Deployed) -> None:
    assert prod.alarms().keys() - short.alarms().keys() == {"StateMachineFailures", "StreamBehind-admission"}
    (dashboard,) = short.all("AWS::CloudWatch::Dashboard").values()
    body = readable(dashboard["DashboardBody"])
    for absent in ("StateMachineFailures", "SlotsTaken", '"long"', *(f"{name.title()}Function" for name in LONG_LANE)):
        assert absent not in body
        assert absent in readable(next(iter(prod.all("AWS::CloudWatch::Dashboard").values()))["DashboardBody"])


def test_no_output_names_a_component_of_the_lane(prod: Deployed, short: Deployed) -> None:
    left_out = prod.template["Outputs"].keys() - short.template["Outputs"].keys()
    assert {"Cluster", "StateMachineArn", "ScheduleGroup", "RunnerLogGroup", "AdmissionFunction"} <= left_out


def test_the_context_of_the_cdk_switches_the_lane() -> None:
    off = replace(PROD, long=replace(PROD.long, enabled=False))
    assert with_long_lane(PROD, "off") == with_long_lane(off, None) == off
    assert with_long_lane(off, "on") == with_long_lane(PROD, None) == PROD
    with pytest.raises(ValueError, match="long_lane: must be on or off, but is 'no'"):
        with_long_lane(PROD, "no")
