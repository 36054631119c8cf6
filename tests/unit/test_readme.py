"""The code of the README is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.executions.progress import Progress
from punctual.runtime.tasks import registry
from tests.unit.contexts import context

README = Path(__file__).parents[2] / "README.md"


def test_the_task_in_the_readme_runs_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 10
    monkeypatch.setattr(registry, "_tasks", {})
    exec(compile(code, "tasks/greet.py", "exec"), {"__name__": "tasks.greet"})
    greet = registry._tasks["greet"]
    reports: list[Progress] = []
    greeting = context(_report=reports.append)
    assert greet.function(greeting, {"name": "world"}) == {"text": "hello, world", "attempt": 1}
    assert reports == [Progress(percent=50, message="thinking of something to say")]
    with pytest.raises(Invalid):
        greet.check({})
