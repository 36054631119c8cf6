from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from punctual.domain.errors import Invalid, TaskUnavailable
from punctual.runtime.tasks.registry import Catalog, calendar, task

catalog = Catalog()


def test_the_shipped_tasks_are_registered() -> None:
    assert {"echo", "sleep", "fail", "queue.process", "http.call"} <= set(catalog.names)


def test_an_unknown_task_is_rejected_with_a_list_of_registered_tasks() -> None:
    message = r"there is no task 'eccho'; registered tasks: .*echo.*: did you mean 'echo'\?$"
    with pytest.raises(Invalid, match=message) as refused:
        catalog.check_name("eccho")
    assert refused.value.field == "task"


@pytest.mark.parametrize(
    ("name", "parameters", "field"),
    [
        ("sleep", {}, "parameters.seconds"),
        ("sleep", {"seconds": "long"}, "parameters.seconds"),
        ("queue.process", {"records": [{}, 7]}, "parameters.records.1"),
        ("http.call", {"url": "https://example.com", "headers": {"a": 1}}, "parameters.headers.a"),
    ],
)
def test_invalid_parameters_name_the_field(name: str, parameters: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid, match=f"the task '{name}'") as refused:
        catalog.check(name, parameters)
    assert refused.value.field == field


def test_the_shipped_http_call_refuses_an_address_in_plain_words() -> None:
    with pytest.raises(Invalid) as refused:
        catalog.check("http.call", {"url": "example.com"})
    assert refused.value.message == (
        "must match its description: an address that starts with http:// or https://, for the task 'http.call'; "
        'for example "https://example.com/hooks/orders"'
    )


def test_a_task_without_a_schema_accepts_any_parameters() -> None:
    catalog.check("echo", {"what": ["ever", None, {"you": 1}]})


def test_the_same_task_name_in_two_modules_is_rejected() -> None:
    catalog.check_name("echo")
    with pytest.raises(ValueError, match="two tasks are named 'echo'"):
        task("echo")(lambda _context, _parameters: None)


def test_the_shipped_calendar_contains_only_weekdays() -> None:
    holidays = catalog.calendars().dates["holidays-us"]
    assert {date(2026, 12, 25), date(2027, 7, 5)} <= holidays
    assert all(day.weekday() < 5 for day in holidays)


def test_the_same_calendar_name_with_other_dates_is_rejected() -> None:
    calendar("test-days", ["2026-12-24"])
    calendar("test-days", ["2026-12-24"])
    assert catalog.calendars().dates["test-days"] == {date(2026, 12, 24)}
    with pytest.raises(ValueError, match="two calendars are named 'test-days'"):
        calendar("test-days", ["2026-12-31"])
    with pytest.raises(ValueError, match="not a date"):
        calendar("test-nights", ["Christmas"])


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of tasks with one healthy module."""
    folder = tmp_path / f"tasks_{tmp_path.name}"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "zebra.py").write_text(f"from punctual import task\ntask('{folder.name}.zebra')(lambda _c, _p: 1)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for module in [name for name in sys.modules if name.split(".")[0] == folder.name]:
        del sys.modules[module]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "import os\nimport pandas9.io",
            "a.py, line 2: ModuleNotFoundError: No module named 'pandas9': add pandas9 to "
            "layers/vendor/requirements.txt, or the package that provides it",
        ),
        ("import xml.nothing", "a.py, line 1: ModuleNotFoundError: No module named 'xml.nothing'"),
        ("from os import nothing", "a.py, line 1: ImportError: cannot import name 'nothing' from 'os'"),
        ("def broken(:", "a.py, line 1: SyntaxError: invalid syntax"),
        ("import json\njson.loads('')", "a.py, line 2: JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        ("\nraise SystemExit(3)", "a.py, line 2: SystemExit: 3"),
        ("x = '\0'", "a.py: "),
    ],
)
def test_a_broken_module_is_named_with_line_reason_and_fix(package: Path, source: str, reason: str) -> None:
    (package / "a.py").write_text(source)
    catalog = Catalog(package.name)
    (broken,) = catalog.broken
    assert str(broken).startswith(f"{package.name}/{reason}")
    assert f"{package.name}.zebra" in catalog.names
    with pytest.raises(TaskUnavailable, match=re.escape(str(broken))):
        catalog.find("x")


def test_what_a_module_registered_before_it_failed_is_unavailable(package: Path) -> None:
    name = f"{package.name}.partly"
    registers = f"task('{name}')(lambda _c, _p: 1)\ncollect('{name}')(lambda _c, _p, _r: 1)"
    (package / "a.py").write_text(f"from punctual import collect, task\n{registers}\n1 / 0")
    catalog = Catalog(package.name)
    with pytest.raises(TaskUnavailable, match="ZeroDivisionError"):
        catalog.find(name)
    assert catalog.find(f"{package.name}.zebra")


def test_a_calendar_that_a_module_declared_before_it_failed_is_unavailable(package: Path) -> None:
    for module, source in (("a", "1 / 0"), ("b", "")):
        declares = f"calendar('{package.name}-{module}', ['2026-12-24'])"
        (package / f"{module}.py").write_text(f"from punctual import calendar\n{declares}\n{source}")
    declared = Catalog(package.name).calendars()
    assert {name for name in declared.dates if name.startswith(package.name)} == {f"{package.name}-b"}
    assert declared.broken_modules == f"{package.name}/a.py, line 3: ZeroDivisionError: division by zero"


def test_a_module_that_imports_a_broken_one_names_the_line_of_the_cause(package: Path) -> None:
    (package / "a.py").write_text(f"from {package.name} import b")
    (package / "b.py").write_text("\n\n1 / 0")
    assert [(module.name, module.file, module.line) for module in Catalog(package.name).broken] == [
        (f"{package.name}.a", f"{package.name}/b.py", 3),
        (f"{package.name}.b", f"{package.name}/b.py", 3),
    ]


@pytest.mark.parametrize("source", ["1 / 0", "import nothing9", "raise SystemExit"])
def test_a_broken_subpackage_does_not_hide_other_modules(package: Path, source: str) -> None:
    (package / "a").mkdir()
    (package / "a" / "__init__.py").write_text(source)
    (package / "a" / "inner.py").write_text("")
    catalog = Catalog(package.name)
    assert [module.file for module in catalog.broken] == [f"{package.name}/a/__init__.py"]
    assert f"{package.name}.zebra" in catalog.names


def test_a_broken_package_is_reported(package: Path) -> None:
    (package / "__init__.py").write_text("1 / 0")
    assert f"{package.name}/__init__.py, line 1" in {
        f"{module.file}, line {module.line}" for module in Catalog(package.name).broken
    }
