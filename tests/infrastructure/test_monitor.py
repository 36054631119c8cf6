"""The configuration of the monitor: queues, tables, capacity."""

import dataclasses
import json

import pytest

from cdk.settings import LOCAL, PROD, Settings
from tests.infrastructure.deployed import Deployed

STAGES = [("prod", PROD), ("local", LOCAL)]


def test_every_dead_letter_queue_is_monitored(prod: Deployed) -> None:
    urls = json.loads(prod.environment("monitor")["DEAD_LETTER_QUEUE_URLS"])
    assert set(urls) == {name for name in prod.all("AWS::SQS::Queue") if name.endswith("DeadLetters")}


@pytest.mark.parametrize("name", ["high", "normal", "low", "intake"])
def test_the_queues_that_can_have_a_backlog_are_monitored(prod: Deployed, name: str) -> None:
    assert prod.environment("monitor")[f"{name.upper()}_QUEUE_URL"] == f"Queues{name.title()}"


def test_the_monitor_gets_the_checks_queue_and_all_senders_of_notices_their_queue(prod: Deployed) -> None:
    environment = prod.environment("monitor")
    assert environment["CHECKS_QUEUE_URL"] == "QueuesChecks"
    for name in ("monitor", "settler", "notifier"):
        assert prod.environment(name)["NOTICES_QUEUE_URL"] == "QueuesNotices"


def test_the_monitor_and_the_planner_use_the_same_state_machine(prod: Deployed) -> None:
    assert prod.environment("monitor")["STATE_MACHINE_ARN"] == prod.environment("planner")["STATE_MACHINE_ARN"]


@pytest.mark.parametrize(("stage", "settings"), STAGES)
@pytest.mark.parametrize("name", ["monitor", "api"])
def test_the_functions_that_forecast_get_the_capacity(
    stage: str, settings: Settings, name: str, request: pytest.FixtureRequest
) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    environment = deployed.environment(name)
    assert json.loads(environment["CONCURRENCY"]) == dataclasses.asdict(settings.concurrency)
    assert int(environment["LONG_TASKS"]) == settings.long.tasks
    assert int(environment["LONG_VCPUS"]) == settings.long.vcpus


def test_the_functions_that_count_or_notify_share_the_signals_table(prod: Deployed) -> None:
    for name in ("api", "worker", "intake", "settler", "monitor", "notifier"):
        assert prod.environment(name)["SIGNALS_TABLE"] == "TablesSignals"


def test_metrics_are_published_by_requests_only_on_the_emulator(prod: Deployed, local: Deployed) -> None:
    assert prod.environment("monitor")["METRICS_FROM_LOGS"] == "1"
    assert local.environment("monitor")["METRICS_FROM_LOGS"] == "0"


def test_the_cluster_has_no_container_insights_whose_metrics_are_billed(prod: Deployed) -> None:
    (cluster,) = prod.all("AWS::ECS::Cluster").values()
    assert cluster["ClusterSettings"] == [{"Name": "containerInsights", "Value": "disabled"}]
