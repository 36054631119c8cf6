"""What the monitor is told to look at."""

import dataclasses
import json

import pytest

from cdk.settings import LOCAL, PROD, Settings
from tests.infrastructure.deployed import Deployed

STAGES = [("prod", PROD), ("local", LOCAL)]


def test_every_queue_of_dead_letters_is_looked_into(prod: Deployed) -> None:
    urls = json.loads(prod.environment("monitor")["DEAD_LETTER_QUEUE_URLS"])
    assert set(urls) == {name for name in prod.all("AWS::SQS::Queue") if name.endswith("DeadLetters")}


@pytest.mark.parametrize("name", ["high", "normal", "low", "intake"])
def test_the_queues_that_can_have_a_backlog_are_surveyed(prod: Deployed, name: str) -> None:
    assert prod.environment("monitor")[f"{name.upper()}_QUEUE_URL"] == f"Queues{name.title()}"


def test_checks_come_back_to_it_and_notices_go_to_the_notifier(prod: Deployed) -> None:
    environment = prod.environment("monitor")
    assert environment["CHECKS_QUEUE_URL"] == "QueuesChecks"
    for name in ("monitor", "settler", "notifier"):
        assert prod.environment(name)["NOTICES_QUEUE_URL"] == "QueuesNotices"


def test_it_looks_for_runs_that_broke_where_they_are_started(prod: Deployed) -> None:
    assert prod.environment("monitor")["STATE_MACHINE_ARN"] == prod.environment("planner")["STATE_MACHINE_ARN"]


@pytest.mark.parametrize(("stage", "settings"), STAGES)
@pytest.mark.parametrize("name", ["monitor", "api"])
def test_whoever_forecasts_knows_the_capacity(
    stage: str, settings: Settings, name: str, request: pytest.FixtureRequest
) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    environment = deployed.environment(name)
    assert json.loads(environment["CONCURRENCY"]) == dataclasses.asdict(settings.concurrency)
    assert int(environment["LONG_TASKS"]) == settings.long.tasks
    assert int(environment["LONG_VCPUS"]) == settings.long.vcpus


def test_all_that_count_or_tell_share_one_table_of_signals(prod: Deployed) -> None:
    for name in ("api", "worker", "intake", "settler", "monitor", "notifier"):
        assert prod.environment(name)["SIGNALS_TABLE"] == "TablesSignals"
