"""The state machine of the long lane: the path of an execution and of its parts, retries and error handling."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.infrastructure.conftest import ROOT
from tests.infrastructure.deployed import Deployed

VALIDATOR = ROOT / "node_modules" / ".bin" / "asl-validator"
LAMBDA = "arn:aws:states:::lambda:invoke"
CALLBACK = ".waitForTaskToken"
FINAL_ERRORS = {"Punctual.Stopped", "Punctual.Lost", "Punctual.Cancelled", "States.Timeout", "States.HeartbeatTimeout"}


@pytest.fixture
def machine(prod: Deployed) -> dict[str, Any]:
    """The states of an execution."""
    return dict(prod.state_machine()["States"])


@pytest.fixture
def part(machine: dict[str, Any]) -> dict[str, Any]:
    """The states of a part."""
    return dict(machine["Parts"]["ItemProcessor"]["States"])


@pytest.mark.parametrize("stage", ["prod", "local"])
def test_the_validator_accepts_the_state_machine(stage: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    rendered = tmp_path / "long.asl.json"
    rendered.write_text(json.dumps(deployed.state_machine()))
    found = subprocess.run([VALIDATOR, "--json-path", rendered], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_no_placeholder_is_left_in_the_state_machine(prod: Deployed) -> None:
    assert "${" not in json.dumps(prod.state_machine())


def test_an_execution_runs_parts_until_none_is_left(prod: Deployed, machine: dict[str, Any]) -> None:
    assert prod.state_machine()["StartAt"] == "NextParts"
    assert machine["NextParts"]["Next"] == "HasParts"
    assert machine["HasParts"]["Choices"] == [
        {"Variable": "$.step.next", "StringEquals": "run", "Next": "WaitUntilDue"}
    ]
    assert machine["HasParts"]["Default"] == "Ended"
    assert machine["WaitUntilDue"]["Next"] == "Parts"
    assert machine["Parts"]["Next"] == "NextParts"
    assert machine["Ended"]["Type"] == "Succeed"


def test_a_run_sends_its_arn_so_that_a_second_start_has_no_effect(machine: dict[str, Any]) -> None:
    assert machine["NextParts"]["Parameters"]["Payload"]["run_arn.$"] == "$$.Execution.Id"


def test_an_execution_does_not_start_before_it_is_due(machine: dict[str, Any]) -> None:
    assert machine["WaitUntilDue"]["Type"] == "Wait"
    assert machine["WaitUntilDue"]["TimestampPath"] == "$.step.not_before"


def test_parts_run_in_parallel_within_the_limit_of_their_job(machine: dict[str, Any]) -> None:
    parts = machine["Parts"]
    assert parts["QueryLanguage"] == "JSONata"
    assert parts["Items"] == "{% $states.input.step.parts %}"
    assert parts["MaxConcurrency"] == "{% $states.input.step.at_once %}"
    assert parts["ItemProcessor"]["ProcessorConfig"] == {"Mode": "INLINE"}


def test_a_part_is_admitted_then_run_then_concluded(machine: dict[str, Any], part: dict[str, Any]) -> None:
    assert machine["Parts"]["ItemProcessor"]["StartAt"] == "RequestSlot"
    path = ["RequestSlot"]
    while following := part[path[-1]].get("Next"):
        path.append(following)
    assert path == ["RequestSlot", "WaitForStart", "Run", "ConcludeAttempt", "ShouldRetry"]
    assert part["RequestSlot"]["Resource"] == LAMBDA + CALLBACK
    assert part["Run"]["Resource"] == "arn:aws:states:::ecs:runTask" + CALLBACK
    assert part["ConcludeAttempt"]["Resource"] == LAMBDA


def test_a_part_to_be_retried_waits_for_its_backoff_and_requests_a_new_slot(part: dict[str, Any]) -> None:
    assert part["ShouldRetry"]["Choices"] == [
        {"Variable": "$.conclusion.retry", "BooleanEquals": True, "Next": "Backoff"}
    ]
    assert part["Backoff"]["TimestampPath"] == "$.conclusion.retry_at"
    assert part["Backoff"]["Next"] == "ClearAttempt"
    assert set(part["ClearAttempt"]["Parameters"]) == {"job_id.$", "execution_id.$", "part.$"}
    assert part["ClearAttempt"]["Next"] == "RequestSlot"
    assert part["ShouldRetry"]["Default"] == "Done"


def test_a_part_starts_at_the_time_of_its_grant(part: dict[str, Any]) -> None:
    assert part["RequestSlot"]["ResultPath"] == "$.grant"
    assert part["WaitForStart"]["TimestampPath"] == "$.grant.start_at"


def test_every_wait_has_a_timeout(part: dict[str, Any]) -> None:
    assert part["RequestSlot"]["TimeoutSeconds"] == 14 * 24 * 3600
    assert part["Run"]["TimeoutSecondsPath"] == "$.grant.timeout_seconds"
    assert part["Run"]["HeartbeatSecondsPath"] == "$.grant.heartbeat_seconds"


@pytest.mark.parametrize("name", ["RequestSlot", "Run"])
def test_every_error_is_passed_to_the_conclude_attempt_step(part: dict[str, Any], name: str) -> None:
    assert part[name]["Catch"] == [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "ConcludeAttempt"}]


def test_a_rejected_start_is_retried_but_a_container_that_ran_is_not(part: dict[str, Any]) -> None:
    ran, rejected = part["Run"]["Retry"]
    assert set(ran["ErrorEquals"]) == FINAL_ERRORS
    assert ran["MaxAttempts"] == 0
    assert rejected["ErrorEquals"] == ["States.TaskFailed"]
    assert rejected["MaxAttempts"] == 2  # it holds a slot meanwhile: then the part waits without one
    assert rejected["BackoffRate"] == 2
    assert rejected["JitterStrategy"] == "FULL"


def test_a_failed_call_of_the_conductor_is_retried_for_hours(machine: dict[str, Any], part: dict[str, Any]) -> None:
    for state in (machine["NextParts"], part["ConcludeAttempt"]):
        (retry,) = state["Retry"]
        assert retry["ErrorEquals"] == ["States.ALL"]
        assert retry["MaxAttempts"] * retry["MaxDelaySeconds"] > 4 * 3600


def test_a_failed_slot_request_is_retried_with_backoff_unless_the_answer_is_final(part: dict[str, Any]) -> None:
    answered, failed = part["RequestSlot"]["Retry"]
    assert set(answered["ErrorEquals"]) == {"Punctual.Stale", "Punctual.Impossible", "States.Timeout"}
    assert answered["MaxAttempts"] == 0
    assert failed["ErrorEquals"] == ["States.ALL"]
    assert (failed["BackoffRate"], failed["MaxDelaySeconds"]) == (2, 300)


def test_every_lambda_step_calls_the_conductor(machine: dict[str, Any], part: dict[str, Any]) -> None:
    calls = [state for state in (*machine.values(), *part.values()) if state.get("Resource", "").startswith(LAMBDA)]
    assert {state["Parameters"]["FunctionName"] for state in calls} == {"ConductorFunction.Arn"}
    assert {state["Parameters"]["Payload"]["do"] for state in calls} == {
        "next_parts",
        "request_slot",
        "conclude_attempt",
    }


def test_a_container_gets_its_size_capacity_command_and_assignment_from_the_grant(part: dict[str, Any]) -> None:
    run = part["Run"]["Parameters"]
    assert run["Cluster"] == "FargateCluster.Arn"
    assert run["TaskDefinition.$"] == "$.grant.task_definition"
    assert run["CapacityProviderStrategy.$"] == "$.grant.capacity"
    assert run["Overrides"]["Cpu.$"] == "$.grant.cpu"
    assert run["Overrides"]["Memory.$"] == "$.grant.memory"
    (container,) = run["Overrides"]["ContainerOverrides"]
    assert container["Name"] == "runner"
    assert container["Command.$"] == "$.grant.command"
    variables = {variable["Name"]: variable["Value.$"] for variable in container["Environment"]}
    assert variables == {
        "PUNCTUAL_ASSIGNMENT": "$.grant.assignment",
        "PUNCTUAL_TASK_TOKEN": "$$.Task.Token",
    }


def test_a_container_runs_in_the_public_subnets_with_a_public_address(prod: Deployed, part: dict[str, Any]) -> None:
    network = part["Run"]["Parameters"]["NetworkConfiguration"]["AwsvpcConfiguration"]
    assert set(network["Subnets"]) == set(prod.all("AWS::EC2::Subnet"))
    assert network["SecurityGroups"] == ["NetworkContainers.GroupId"]
    assert network["AssignPublicIp"] == "ENABLED"


def test_the_diagram_in_the_documentation_shows_exactly_the_states_and_transitions(
    prod: Deployed, machine: dict[str, Any], part: dict[str, Any]
) -> None:
    text = (ROOT / "docs" / "long-lane.md").read_text()
    diagram = text.split("stateDiagram-v2")[1].split("```")[0]
    shown = set(re.findall(r"^\s*(\S+) --> (\w+|\[\*\])", diagram, flags=re.MULTILINE))
    expected = (
        _transitions(machine) | _transitions(part) | {("[*]", prod.state_machine()["StartAt"]), ("[*]", "RequestSlot")}
    )
    assert shown == expected


def _transitions(states: dict[str, Any]) -> set[tuple[str, str]]:
    found = set()
    for name, state in states.items():
        targets = [one["Next"] for one in (state, *state.get("Choices", ()), *state.get("Catch", ())) if "Next" in one]
        targets += [state["Default"]] if "Default" in state else []
        targets += ["[*]"] if state.get("End") or state["Type"] == "Succeed" else []
        found |= {(name, target) for target in targets}
    return found
