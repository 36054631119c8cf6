"""Refusals of the parameters of the shipped tasks: each shows how to write the parameter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from punctual.domain.errors import Invalid
from punctual.runtime.tasks.registry import Catalog, Task

WRONG: tuple[Any, ...] = (None, "ftp://x", "", -1, 10**9, True, [], [None], [-1], {"x": None})


def shipped() -> list[Task]:
    return [one for one in Catalog().tasks if one.parameters is not None]


def refusals(task: Task) -> Iterator[str]:
    """The refusal of every wrong value of every parameter, of an unknown parameter, and of no parameters at all."""
    assert task.parameters is not None
    cases = [{name: value} for name in task.parameters["properties"] for value in WRONG]
    cases += [{name: 1} for name in ("unknown", *(f"{known}x" for known in task.parameters["properties"]))]
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


CLOSED = [one for one in shipped() if one.parameters and one.parameters.get("additionalProperties") is False]


@pytest.mark.parametrize("task", CLOSED, ids=lambda task: task.name)
def test_the_example_in_the_refusal_of_an_unknown_parameter_is_accepted(task: Task) -> None:
    assert task.parameters is not None
    required = {key: value for key, value in task.parameters.items() if key != "required"}
    for name in ("unknown", *(f"{known}x" for known in task.parameters["properties"])):
        with pytest.raises(Invalid) as refused:
            Task(task.name, task.function, required).check({name: 1})
        assert refused.value.field == f"parameters.{name}"
        assert "is not a parameter of the task" in refused.value.message
        example = json.loads(refused.value.message.partition("; for example ")[2])
        assert example.keys() & task.parameters["properties"].keys()
        Task(task.name, task.function, required).check(example)
