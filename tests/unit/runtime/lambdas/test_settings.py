from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from punctual.domain.lane import Priority
from punctual.runtime.lambdas import settings
from punctual.runtime.lambdas.settings import MissingSetting, PlannerSettings

ENVIRONMENT = {
    "JOBS_TABLE": "jobs",
    "REVISIONS_TABLE": "revisions",
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
    "BRIEF_RETENTION_DAYS": "10",
}


def test_settings_are_read_from_the_variables_of_the_same_name() -> None:
    read = PlannerSettings.from_env(ENVIRONMENT)
    assert (read.jobs_table, read.timer_shards, read.retention) == ("jobs", 4, timedelta(days=30))
    assert read.queue_urls == {Priority.HIGH: "h", Priority.NORMAL: "n", Priority.LOW: "l"}


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_a_missing_variable_is_named(name: str) -> None:
    with pytest.raises(MissingSetting, match=name):
        PlannerSettings.from_env({key: value for key, value in ENVIRONMENT.items() if key != name})


def test_a_variable_that_is_not_a_number_is_named_with_its_value() -> None:
    with pytest.raises(MissingSetting, match="TIMER_SHARDS is not a whole number: 'many'"):
        PlannerSettings.from_env({**ENVIRONMENT, "TIMER_SHARDS": "many"})


def test_only_the_listed_modules_read_the_environment() -> None:
    package = Path(settings.__file__).parents[2]
    functions = Path(__file__).parents[4] / "functions"
    reading = {
        str(path.relative_to(root))
        for root in (package, functions)
        for path in root.rglob("*.py")
        if re.search(r"\b(environ|getenv)\b", path.read_text())
    }
    assert reading - {"runtime/lambdas/settings.py"} == set(re.findall(r"``(\S+\.py)``", settings.__doc__ or ""))
