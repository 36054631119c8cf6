"""A module of ``tasks/`` that cannot be imported: only its own tasks are unavailable, with the reason and an alarm."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tasks
from punctual.domain.metrics import Metric
from tests.integration.long_lane import NO_BACKOFF, LongLane, start_part
from tests.integration.test_own_metrics import published
from tests.integration.world import World

WORKS = """
from punctual import task

@task("report")
def report(_context, _parameters):
    return "reported"
"""
BROKEN = f"{WORKS}\nimport pandas_of_the_year_3000\n"
REASON = (
    "task 'report' is unavailable: these modules cannot be imported: tasks/report.py, line 8: ModuleNotFoundError: "
    "No module named 'pandas_of_the_year_3000': add pandas_of_the_year_3000 to layers/vendor/requirements.txt, "
    "or the package that provides it"
)


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Path]:
    """The file of a module in the package ``tasks``."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    tasks.__path__.append(str(folder))
    yield folder / "report.py"
    tasks.__path__.remove(str(folder))
    forget(folder / "report.py")


def forget(module: Path) -> None:
    """The next process imports the module again."""
    sys.modules.pop("tasks.report", None)
    sys.path_importer_cache.pop(str(module.parent), None)


def test_a_broken_module_makes_only_its_own_tasks_unavailable(world: World, module: Path) -> None:
    module.write_text(BROKEN)
    status, problem = world.request("POST", "/jobs", {"task": "report"})
    assert (status, problem["errors"]) == (422, [{"field": "task", "message": REASON}])
    job = world.submit(task="echo", parameters={"n": 1})
    world.run_until_idle()
    assert world.executions(job["job_id"])[0]["status"] == "succeeded"
    assert world.request("GET", "/jobs")[0] == 200


@pytest.mark.parametrize("source", ["1 / 0\n{declares}", "{declares}\n1 / 0"])
def test_a_calendar_of_a_broken_module_is_refused_with_the_reason(world: World, module: Path, source: str) -> None:
    declares = "from punctual import calendar; calendar('inventory-days', ['2026-12-31'])"
    module.write_text(source.format(declares=declares))
    schedule = {"cron": "0 2 * * *", "skip": ["inventory-days"]}
    status, problem = world.request("POST", "/jobs", {"task": "echo", "schedule": schedule})
    assert (status, problem["errors"][0]["field"]) == (422, "schedule.skip.0")
    assert "there is no calendar 'inventory-days'" in problem["errors"][0]["message"]
    assert "cannot be imported: tasks/report.py, line " in problem["errors"][0]["message"]
    assert "ZeroDivisionError: division by zero" in problem["errors"][0]["message"]
    assert "inventory-days" not in [one["name"] for one in world.request("GET", "/calendars")[1]["items"]]


def test_the_list_of_tasks_names_a_broken_module_and_the_fix(world: World, module: Path) -> None:
    module.write_text(BROKEN)
    _, found = world.request("GET", "/tasks")
    [report] = [one for one in found["items"] if one["name"] == "report"]
    assert (report["is_available"], report["file"], report["parameters"]) == (False, "tasks/report.py", None)
    assert report["reason"] == REASON.partition("imported: ")[2]
    assert all(one["is_available"] for one in found["items"] if one["name"] != "report")
    assert [one["module"] for one in found["unavailable"]] == ["tasks.report"]
    assert "add pandas_of_the_year_3000 to layers/vendor/requirements.txt" in found["unavailable"][0]["reason"]


def test_a_task_that_live_jobs_use_and_no_module_has_is_listed(world: World, module: Path) -> None:
    module.write_text(WORKS)
    world.submit(task="report", schedule={"every_seconds": 3600})
    world.deliver_streams()
    module.write_text("1 / 0")
    forget(module)
    world.start_processes()
    _, found = world.request("GET", "/tasks?usage=true")
    [report] = [one for one in found["items"] if one["name"] == "report"]
    assert (report["is_available"], report["file"], report["usage"]["live_jobs"]) == (False, None, 1)
    assert report["reason"].startswith("no module of tasks/ registers it")


def test_a_broken_module_needs_attention_in_the_overview(world: World, module: Path) -> None:
    module.write_text(BROKEN)
    [item] = world.request("GET", "/overview")[1]["attention"]
    assert (item["id"], item["kind"], item["subject"]["type"]) == ("module.tasks.report", "module", "module")
    assert "cannot be imported: tasks/report.py, line 8: ModuleNotFoundError" in item["cause"]
    assert (item["subject"]["owner"], item["since"]) == (None, None)


def test_an_execution_of_a_broken_module_is_retried_with_the_reason(world: World, module: Path) -> None:
    module.write_text(WORKS)
    job = world.submit(task="report", retry={"max_attempts": 2, "backoff_seconds": 60})
    module.write_text(BROKEN)
    forget(module)
    world.run_until_idle()
    (execution,) = world.executions(job["job_id"])
    assert execution["status"] == "retrying"
    assert execution["attempts"][0]["error"] == {"type": "TaskUnavailable", "message": REASON, "trace": None}


def test_a_broken_module_is_counted_for_its_alarm(world: World, module: Path) -> None:
    module.write_text(BROKEN)
    world.submit(task="echo")
    assert published(world, Metric.BROKEN_TASK_MODULES) == [1]
    for _ in range(3):
        world.request("POST", "/jobs", {"task": "report"})
    assert published(world, Metric.BROKEN_TASK_MODULES) == [1]
    world.pass_time(60)
    world.request("POST", "/jobs", {"task": "report"})
    assert published(world, Metric.BROKEN_TASK_MODULES) == [1, 1]


def test_a_module_that_is_broken_in_the_image_only_is_counted_by_the_reporter(world: World, lane: LongLane) -> None:
    _, container = start_part(lane, retry=NO_BACKOFF)
    container.conclude("failed", error={"type": "TaskUnavailable", "message": REASON, "trace": None})
    assert published(world, Metric.BROKEN_TASK_MODULES) == [1]


def test_healthy_modules_are_not_counted(world: World) -> None:
    assert world.request("POST", "/jobs", {"task": "report"})[0] == 422
    world.submit(task="echo")
    world.run_until_idle()
    assert published(world, Metric.BROKEN_TASK_MODULES) == []
