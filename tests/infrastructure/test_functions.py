"""The Lambda functions: runtime, layers, log groups, environment, timeouts."""

import dataclasses
from dataclasses import asdict
from typing import Any, get_type_hints

import pytest
from aws_cdk import App

from cdk.settings import PROD, Provisioned
from cdk.stack import PunctualStack
from punctual.runtime.lambdas import settings
from tests.infrastructure.deployed import FUNCTIONS, Deployed, readable

COMMON_VARIABLES = {"PUNCTUAL_STAGE", "LOG_LEVEL", "LOG_DEBUG_PERCENT"}
# The settings that each handler reads at start-up define the variables that the stack must set.
SETTINGS = {name: getattr(settings, f"{name.title()}Settings") for name in FUNCTIONS}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_runs_its_own_handler_on_graviton(prod: Deployed, name: str) -> None:
    function = prod.function(name)
    assert function["Runtime"] == "python3.13"
    assert function["Architectures"] == ["arm64"]
    assert function["Handler"] == "handler.handler"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gets_exactly_the_variables_that_it_reads(prod: Deployed, name: str) -> None:
    assert set(prod.environment(name)) == COMMON_VARIABLES | {field.upper() for field in get_type_hints(SETTINGS[name])}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_uses_both_layers(prod: Deployed, name: str) -> None:
    layers = {readable(layer) for layer in prod.function(name)["Layers"]}
    assert layers == {"LayersPunctual", "LayersVendor"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_logs_to_its_own_group_with_a_retention_period(prod: Deployed, name: str) -> None:
    group = readable(prod.function(name)["LoggingConfig"]["LogGroup"])
    assert group == f"{name.title()}FunctionLogs"
    assert prod.one("AWS::Logs::LogGroup", group)["RetentionInDays"] == 30


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lambda_logs_no_line_of_its_own_for_an_invocation_without_fault(prod: Deployed, name: str) -> None:
    logging = prod.function(name)["LoggingConfig"]
    assert logging["LogFormat"] == "JSON"
    assert logging["SystemLogLevel"] == "WARN"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_and_lambda_apply_the_log_level_of_the_stage(prod: Deployed, name: str) -> None:
    assert prod.environment(name)["LOG_LEVEL"] == "INFO"
    assert prod.environment(name)["LOG_DEBUG_PERCENT"] == "0"
    assert prod.function(name)["LoggingConfig"]["ApplicationLogLevel"] == PROD.least_log_level == "INFO"


@pytest.mark.parametrize(
    ("changes", "least"),
    [
        ({"log_level": "WARNING"}, "INFO"),  # Lambda takes WARNING, which it does not know, as INFO
        ({"log_level": "DEBUG"}, "DEBUG"),
        ({"log_debug_percent": 1}, "DEBUG"),
    ],
)
def test_lambda_drops_no_line_that_the_stage_allows(changes: dict[str, Any], least: str) -> None:
    assert dataclasses.replace(PROD, **changes).least_log_level == least


def test_every_log_group_has_a_retention_period(prod: Deployed, local: Deployed) -> None:
    for stage in (prod, local):
        assert all("RetentionInDays" in group for group in stage.all("AWS::Logs::LogGroup").values())


def test_a_function_gets_the_url_of_its_own_dead_letter_queue(prod: Deployed) -> None:
    for name in ("planner", "settler", "intake", "admission", "bulk"):
        assert prod.environment(name)["DEAD_LETTER_QUEUE_URL"] == f"Queues{name.title()}DeadLetters"
    assert prod.environment("monitor")["DEAD_LETTER_QUEUE_URL"] == "QueuesChecksDeadLetters"
    assert prod.environment("notifier")["DEAD_LETTER_QUEUE_URL"] == "QueuesNoticesDeadLetters"
    for priority in ("high", "normal", "low"):
        url = prod.environment("worker")[f"{priority.upper()}_DEAD_LETTER_QUEUE_URL"]
        assert url == f"Queues{priority.title()}DeadLetters"


def test_both_lanes_write_the_logs_that_the_api_reads(prod: Deployed) -> None:
    assert {prod.environment(name)["LOGS_TABLE"] for name in ("api", "worker", "reporter")} == {"TablesLogs"}


def test_nothing_is_provisioned_by_default(prod: Deployed, local: Deployed) -> None:
    for stage in (prod, local):
        assert not stage.all("AWS::Lambda::Alias")
        assert not stage.all("AWS::Lambda::Version")


def test_provisioned_instances_receive_the_requests_the_records_and_the_messages() -> None:
    app = App(context={"aws:cdk:bundling-stacks": []})
    provisioned = Provisioned(api=1, planner=2, worker=3)
    PunctualStack(app, settings=dataclasses.replace(PROD, provisioned=provisioned))
    stack = Deployed.of(app)
    aliases = stack.all("AWS::Lambda::Alias").items()
    kept = {key: one["ProvisionedConcurrencyConfig"]["ProvisionedConcurrentExecutions"] for key, one in aliases}
    assert kept == {f"{name.title()}FunctionProvisioned": one for name, one in asdict(provisioned).items()}
    sources = stack.all("AWS::Lambda::EventSourceMapping").items()
    aliased = {key for key, one in sources if readable(one["FunctionName"]).endswith("FunctionProvisioned")}
    assert aliased == {key for key, _ in sources if key.startswith(("Planner", "Worker"))}
    assert len(aliased) == 6
    targets = {readable(one["IntegrationUri"]) for one in stack.all("AWS::ApiGatewayV2::Integration").values()}
    assert "ApiFunctionProvisioned" in targets


def test_a_negative_number_of_provisioned_instances_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"provisioned\.worker: -1 is not between 0 and 1,000"):
        Provisioned(worker=-1)


def test_the_worker_has_the_maximum_time_out_of_lambda(prod: Deployed) -> None:
    assert prod.function("worker")["Timeout"] == 900


def test_the_api_times_out_before_the_gateway(prod: Deployed) -> None:
    assert prod.function("api")["Timeout"] < 30


def test_a_tick_times_out_before_the_next_one(prod: Deployed) -> None:
    for name in ("dispatcher", "admission", "monitor"):
        assert prod.function(name)["Timeout"] < 60


def test_a_failed_tick_is_not_retried_because_the_next_one_catches_up(prod: Deployed) -> None:
    configs = prod.all("AWS::Lambda::EventInvokeConfig").values()
    retries = {
        readable(one["FunctionName"]): one["MaximumRetryAttempts"] for one in configs if "MaximumRetryAttempts" in one
    }
    ticking = ("Dispatcher", "Admission", "Reconciler", "Monitor")
    assert retries == {f"{name}Function": 0 for name in ticking}


def test_only_functions_with_bounded_loops_may_send_themselves_many_messages_in_a_row(prod: Deployed) -> None:
    """A bulk operation ends with its items, checks with their execution, and digests with the notices."""
    allowed = {name for name in FUNCTIONS if prod.function(name).get("RecursiveLoop") == "Allow"}
    assert allowed == {"bulk", "monitor", "notifier"}
