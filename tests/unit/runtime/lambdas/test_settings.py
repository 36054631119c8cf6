from __future__ import annotations

from datetime import timedelta

import pytest

from punctual.domain.lane import Priority
from punctual.runtime.lambdas.settings import MissingSetting, PlannerSettings

ENVIRONMENT = {
    "JOBS_TABLE": "jobs",
    "EXECUTIONS_TABLE": "executions",
    "TIMERS_TABLE": "timers",
    "GATES_TABLE": "gates",
    "HIGH_QUEUE_URL": "h",
    "NORMAL_QUEUE_URL": "n",
    "LOW_QUEUE_URL": "l",
    "CHECKS_QUEUE_URL": "c",
    "DEAD_LETTER_QUEUE_URL": "d",
    "STATE_MACHINE_ARN": "s",
    "SCHEDULE_GROUP": "g",
    "SCHEDULE_ROLE_ARN": "r",
    "TIMER_SHARDS": "4",
    "RETENTION_DAYS": "30",
}


def test_settings_are_read_from_the_variables_of_the_same_name() -> None:
    settings = PlannerSettings.from_env(ENVIRONMENT)
    assert (settings.jobs_table, settings.timer_shards, settings.retention) == ("jobs", 4, timedelta(days=30))
    assert settings.queue_urls == {Priority.HIGH: "h", Priority.NORMAL: "n", Priority.LOW: "l"}


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_a_missing_variable_is_named(name: str) -> None:
    with pytest.raises(MissingSetting, match=name):
        PlannerSettings.from_env({key: value for key, value in ENVIRONMENT.items() if key != name})


def test_a_variable_that_is_not_a_number_is_named_with_its_value() -> None:
    with pytest.raises(MissingSetting, match="TIMER_SHARDS is not a whole number: 'many'"):
        PlannerSettings.from_env({**ENVIRONMENT, "TIMER_SHARDS": "many"})
