"""Refusals of the parameters of the shipped tasks: each shows how to write the parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from punctual.domain.errors import Invalid
from punctual.runtime.tasks.registry import Catalog, Task

WRONG: tuple[Any, ...] = (None, "ftp://x", "", -1, 10**9, True, [], [None], [-1], {"x": None})


def shipped() -> list[Task]:
    return [one for one in Catalog().tasks if one.parameters is not None]


def refusals(task: Task) -> Iterator[str]:
    """The refusal of every wrong value of every parameter, and of no parameters at all."""
    assert task.parameters is not None
    cases = [{name: value} for name in task.parameters["properties"] for value in WRONG]
    schema = {key: value for key, value in task.parameters.items() if key != "required"}
    for checked, parameters in [(task, {}), *((Task(task.name, task.function, schema), case) for case in cases)]:
        try:
            checked.check(parameters)
        except Invalid as error:
            yield f"{error.field} {error.message}"


@pytest.mark.parametrize("task", shipped(), ids=lambda task: task.name)
def test_every_refusal_has_an_example(task: Task) -> None:
    found = list(refusals(task))
    assert found
    assert [message for message in found if "; for example " not in message] == []
