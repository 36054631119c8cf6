"""The check of `tasks/` before a deployment: only packages that are deployed can be imported."""

import shutil
from pathlib import Path

import pytest

from cdk.bundling import ROOT
from cdk.lock import FOR_FUNCTIONS
from cdk.task_check import TasksBroken, check_tasks


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "tasks", tmp_path / "tasks", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_the_shipped_tasks_can_be_imported(root: Path) -> None:
    check_tasks(root, FOR_FUNCTIONS)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "import boto3\nimport pandas",
            "tasks/report.py, line 2: ModuleNotFoundError: No module named 'pandas': add pandas to ",
        ),
        ("import pytest", "tasks/report.py, line 1: ModuleNotFoundError: No module named 'pytest': add pytest to "),
        ("import local", "tasks/report.py, line 1: ModuleNotFoundError: No module named 'local'"),
        ("print('hello')\ndef broken(:", "tasks/report.py, line 2: SyntaxError: invalid syntax"),
    ],
)
def test_a_module_that_functions_cannot_import_is_refused_with_line_and_fix(
    root: Path, source: str, reason: str
) -> None:
    (root / "tasks" / "report.py").write_text(source)
    with pytest.raises(TasksBroken) as refused:
        check_tasks(root, FOR_FUNCTIONS)
    title, *lines = str(refused.value).splitlines()
    assert title == "These modules of tasks/ cannot be imported, so nothing was deployed:"
    assert len(lines) == 1
    assert lines[0].startswith(reason)


@pytest.mark.parametrize("code", [0, 3])
def test_a_module_that_ends_the_process_is_refused(root: Path, code: int) -> None:
    (root / "tasks" / "report.py").write_text(f"import os\nos._exit({code})")
    with pytest.raises(TasksBroken, match=f"ended its process with exit code {code}"):
        check_tasks(root, FOR_FUNCTIONS)
