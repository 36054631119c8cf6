"""The long lane: its limits, network, task definitions, one-time schedules, and the events of its containers."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from cdk.settings import LOCAL, PROD, LongLane
from cdk.stack import PunctualStack
from cdk.validation import validate
from tests.infrastructure.deployed import Deployed, readable


def test_the_subnets_are_in_two_zones_and_use_an_internet_gateway(prod: Deployed) -> None:
    zones = [subnet["AvailabilityZone"]["Fn::Select"][0] for subnet in prod.all("AWS::EC2::Subnet").values()]
    assert sorted(zones) == [0, 1]
    for route in prod.all("AWS::EC2::Route").values():
        assert readable(route["GatewayId"]) == "NetworkVpcIGW"


def test_there_is_no_nat_gateway(prod: Deployed) -> None:
    assert not prod.all("AWS::EC2::NatGateway")


def test_containers_accept_no_incoming_connections(prod: Deployed) -> None:
    (group,) = prod.all("AWS::EC2::SecurityGroup").values()
    assert "SecurityGroupIngress" not in group
    assert not prod.all("AWS::EC2::SecurityGroupIngress")
    assert [rule["CidrIp"] for rule in group["SecurityGroupEgress"]] == ["0.0.0.0/0"]


def test_the_cluster_supports_fargate_and_spot(prod: Deployed) -> None:
    (cluster,) = prod.all("AWS::ECS::Cluster").values()
    assert cluster["CapacityProviders"] == ["FARGATE", "FARGATE_SPOT"]


def test_the_runner_is_the_projects_own_image_for_graviton(prod: Deployed) -> None:
    definition = _definitions(prod)["Punctual-prod-runner"]
    assert definition["RuntimePlatform"] == {"CpuArchitecture": "ARM64", "OperatingSystemFamily": "LINUX"}
    assert definition["RequiresCompatibilities"] == ["FARGATE"]
    assert definition["NetworkMode"] == "awsvpc"
    assert (definition["Cpu"], definition["Memory"]) == ("1024", "2048")
    images = json.loads(prod.assets_file.read_text())["dockerImages"]
    (image,) = images.values()
    assert image["source"]["platform"] == "linux/arm64"
    (destination,) = image["destinations"].values()
    assert destination["imageTag"] in json.dumps(_container(definition)["Image"])


def test_the_image_context_contains_only_the_runner_and_the_tasks(prod: Deployed) -> None:
    (image,) = json.loads(prod.assets_file.read_text())["dockerImages"].values()
    context = prod.directory / image["source"]["directory"]
    assert (context / "tasks" / "echo.py").exists()
    assert (context / "layers" / "punctual" / "python" / "punctual" / "__init__.py").exists()
    top = {entry.name for entry in context.iterdir()}
    assert top == {"Dockerfile", ".dockerignore", "layers", "tasks"}
    assert not list(context.rglob("*.pyc"))


def test_the_emulator_builds_no_image(local: Deployed) -> None:
    assert not json.loads(local.assets_file.read_text()).get("dockerImages")
    assert _container(_definitions(local)["Punctual-local-runner"])["Image"] == "punctual-runner:local"


def test_a_container_has_the_maximum_stop_time_out_of_fargate(prod: Deployed) -> None:
    container = _container(_definitions(prod)["Punctual-prod-runner"])
    assert container["StopTimeout"] == 120
    assert (
        container["LinuxParameters"]["InitProcessEnabled"] is True
    )  # otherwise it would ignore SIGTERM before its handler is installed


def test_a_container_gets_the_name_of_the_reporter_and_no_secrets(prod: Deployed) -> None:
    container = _container(_definitions(prod)["Punctual-prod-runner"])
    variables = {variable["Name"]: readable(variable["Value"]) for variable in container["Environment"]}
    assert variables == {
        "PUNCTUAL_REPORTER": "ReporterFunction",
        "PUNCTUAL_STAGE": "prod",
        "LOG_LEVEL": "INFO",
        "LOG_DEBUG_PERCENT": "0",
    }
    assert "Secrets" not in container
    assert "EntryPoint" not in container


def test_containers_write_to_their_own_log_group(prod: Deployed) -> None:
    log = _container(_definitions(prod)["Punctual-prod-runner"])["LogConfiguration"]
    assert log["LogDriver"] == "awslogs"
    assert readable(log["Options"]["awslogs-group"]) == "RunnerLogs"


def test_a_custom_image_has_its_own_task_definition(local: Deployed) -> None:
    container = _container(_definitions(local)["Punctual-local-shell"])
    assert container["Name"] == "runner"
    assert container["Image"] == "punctual-shell:local"
    assert local.environment("api")["LONG_IMAGES"] == "shell"
    runnable = {resource for action, resource in local.permissions("StateMachineRole") if action == "ecs:RunTask"}
    assert {resource.rpartition("/")[2] for resource in runnable} == {
        "Punctual-local-runner:*",
        "Punctual-local-shell:*",
    }


def test_admission_gets_the_task_definition_of_every_image(prod: Deployed, local: Deployed) -> None:
    for stage, stack in (("prod", prod), ("local", local)):
        definitions = json.loads(stack.environment("admission")["TASK_DEFINITIONS"])
        assert set(definitions.values()) == set(_definitions(stack))
        assert definitions[""] == f"Punctual-{stage}-runner"


def test_an_image_of_a_private_repository_can_be_pulled(tmp_path: Path) -> None:
    image = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/batch:7"
    long = dataclasses.replace(PROD.long, images={"batch": image})
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    PunctualStack(app, settings=dataclasses.replace(PROD, long=long))
    validate(app)
    stack = Deployed.of(app)
    repository = "arn:AWS::Partition:ecr:eu-west-1:123456789012:repository/team/batch"
    assert ("ecr:BatchGetImage", repository) in stack.permissions("RunnerExecutionRole")
    used = readable(_container(_definitions(stack)["Punctual-prod-batch"])["Image"])
    assert used == image.replace("amazonaws.com", "AWS::URLSuffix")


def test_the_networks_that_http_call_may_reach_are_given_to_both_lanes(tmp_path: Path, prod: Deployed) -> None:
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    networks = ("10.1.0.0/16", "10.2.3.4/32")
    PunctualStack(app, settings=dataclasses.replace(PROD, http_call_networks=networks))
    stack = Deployed.of(app)
    container = _container(_definitions(stack)["Punctual-prod-runner"])
    assert stack.environment("worker")["HTTP_CALL_NETWORKS"] == ",".join(networks)
    assert {"Name": "HTTP_CALL_NETWORKS", "Value": ",".join(networks)} in container["Environment"]
    assert "HTTP_CALL_NETWORKS" not in prod.environment("worker")


@pytest.mark.parametrize("network", ["internal.example", "10.1.2.3/16", "10.0.0.0/33"])
def test_a_network_that_is_not_valid_is_rejected_by_its_setting(network: str) -> None:
    with pytest.raises(ValueError, match=r"http_call_networks: .*write it as"):
        dataclasses.replace(PROD, http_call_networks=(network,))


@pytest.mark.parametrize("name", ["runner", "Shell", "a,b", ""])
def test_an_invalid_image_name_is_rejected(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid name"):
        dataclasses.replace(LOCAL.long, images={name: "image:1"})


def test_the_observer_receives_an_event_when_a_container_starts_or_stops(prod: Deployed) -> None:
    rule = prod.one("AWS::Events::Rule", "ObserverTaskChanges")
    assert rule["EventPattern"]["source"] == ["aws.ecs"]
    assert rule["EventPattern"]["detail-type"] == ["ECS Task State Change"]
    assert rule["EventPattern"]["detail"]["lastStatus"] == ["RUNNING", "STOPPED"]
    (cluster,) = rule["EventPattern"]["detail"]["clusterArn"]
    assert readable(cluster) == "FargateCluster.Arn"
    (target,) = rule["Targets"]
    assert readable(target["Arn"]) == "ObserverFunction.Arn"


def test_an_event_that_does_not_arrive_or_fails_is_kept(prod: Deployed) -> None:
    (target,) = prod.one("AWS::Events::Rule", "ObserverTaskChanges")["Targets"]
    configs = prod.all("AWS::Lambda::EventInvokeConfig").values()
    (failed,) = (one for one in configs if readable(one["FunctionName"]) == "ObserverFunction")
    kept = (target["DeadLetterConfig"]["Arn"], failed["DestinationConfig"]["OnFailure"]["Destination"])
    assert {readable(queue) for queue in kept} == {"QueuesObserverDeadLetters.Arn"}


def test_only_the_rule_for_task_changes_may_invoke_the_observer(prod: Deployed) -> None:
    permissions = {readable(one["FunctionName"]): one for one in prod.all("AWS::Lambda::Permission").values()}
    assert "ReporterFunction.Arn" not in permissions
    permission = permissions["ObserverFunction.Arn"]
    assert permission["Principal"] == "events.amazonaws.com"
    assert readable(permission["SourceArn"]) == "ObserverTaskChanges.Arn"


def test_events_of_the_stand_in_for_fargate_are_accepted_only_on_the_emulator(prod: Deployed, local: Deployed) -> None:
    for stack, sources in ((prod, ["aws.ecs"]), (local, ["aws.ecs", "punctual.fargate"])):
        assert stack.one("AWS::Events::Rule", "ObserverTaskChanges")["EventPattern"]["source"] == sources


def test_the_one_time_schedules_have_their_own_group(prod: Deployed) -> None:
    groups = {readable(group["Name"]) for group in prod.all("AWS::Scheduler::ScheduleGroup").values()}
    assert groups == {"Punctual-prod-ticks", "Punctual-prod-long"}
    for name in ("planner", "settler", "reconciler"):
        assert prod.environment(name)["SCHEDULE_GROUP"] == "Punctual-prod-long"


@pytest.mark.parametrize("name", ["planner", "reconciler"])
def test_the_functions_that_create_schedules_get_the_target_and_the_role(prod: Deployed, name: str) -> None:
    environment = prod.environment(name)
    assert environment["STATE_MACHINE_ARN"].endswith(":stateMachine:Punctual-prod-long")
    assert environment["SCHEDULE_ROLE_ARN"] == "SchedulesRole.Arn"
    (machine,) = prod.all("AWS::StepFunctions::StateMachine").values()
    assert machine["StateMachineName"] == "Punctual-prod-long"


@pytest.mark.parametrize(("stage", "long"), [("prod", PROD.long), ("local", LOCAL.long)])
def test_the_limits_of_the_settings_reach_the_functions(
    stage: str, long: LongLane, request: pytest.FixtureRequest
) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    admission, api = deployed.environment("admission"), deployed.environment("api")
    assert int(admission["LONG_STARTS_PER_SECOND"]) == long.starts_per_second
    assert int(admission["LONG_VCPUS"]) == int(api["LONG_VCPUS"]) == long.vcpus
    assert int(admission["LONG_TASKS"]) == long.tasks
    assert int(deployed.environment("reporter")["HEARTBEAT_SECONDS"]) == long.heartbeat_seconds


def test_the_start_rate_is_below_the_limit_of_ecs() -> None:
    assert PROD.long.starts_per_second < 20


def _definitions(stack: Deployed) -> dict[str, dict[str, Any]]:
    """The task definitions, by family."""
    return {found["Family"]: found for found in stack.all("AWS::ECS::TaskDefinition").values()}


def _container(definition: dict[str, Any]) -> dict[str, Any]:
    (only,) = definition["ContainerDefinitions"]
    return dict(only)
