"""The tasks that there are: every function marked with ``@task`` in a module of the ``tasks`` package.

And the calendars: every call of ``calendar`` there.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from punctual.domain.errors import Invalid
from punctual.runtime.tasks.context import Context

TaskFunction = Callable[[Context, dict[str, Any]], Any]
Collector = Callable[[Context, dict[str, Any], list[Any]], Any]


@dataclass(frozen=True)
class Task:
    """Code with a name, and the JSON Schema that its parameters must fit, if it has one."""

    name: str
    function: TaskFunction
    parameters: Mapping[str, Any] | None = None

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises ``Invalid``, naming the field that does not fit."""
        if self.parameters is None:
            return
        from fastjsonschema import JsonSchemaValueException

        try:
            self._validate(parameters)
        except JsonSchemaValueException as error:
            path = ".".join(["parameters", *(str(part) for part in error.path[1:])])
            raise Invalid(path, f"does not fit task {self.name!r}: {_words(error.message)}") from error

    @cached_property
    def _validate(self) -> Callable[[Any], Any]:
        import fastjsonschema

        compiled: Callable[[Any], Any] = fastjsonschema.compile(dict(self.parameters or {}), use_default=False)
        return compiled


_tasks: dict[str, Task] = {}
_collectors: dict[str, Collector] = {}
_calendars: dict[str, frozenset[date]] = {}


def task(name: str, *, parameters: Mapping[str, Any] | None = None) -> Callable[[TaskFunction], TaskFunction]:
    """Register a function under ``name``. ``parameters`` is a JSON Schema that submissions are checked against."""

    def register(function: TaskFunction) -> TaskFunction:
        known = _tasks.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ValueError(f"two tasks are named {name!r}: in {known.function.__module__} and {function.__module__}")
        _tasks[name] = Task(name, function, parameters)
        return function

    return register


def collect(name: str) -> Callable[[Collector], Collector]:
    """Register the last step of the task ``name``: it gets what each partition returned, in their order."""

    def register(function: Collector) -> Collector:
        _collectors[name] = function
        return function

    return register


def calendar(name: str, dates: Iterable[str]) -> None:
    """Register dates, such as ``2026-12-25``, under a name that schedules can give in ``skip``."""
    from punctual.domain.schedules.calendar import check_calendar  # whoever only runs tasks has no use for dates

    days = check_calendar(name, list(dates))
    if _calendars.setdefault(name, days) != days:
        raise ValueError(f"two calendars are named {name!r}, with different dates")


class Catalog:
    """The registered tasks, found by importing every module of ``package`` when first asked."""

    def __init__(self, package: str = "tasks") -> None:
        self._package = package

    def find(self, name: str) -> Task:
        """Raises ``Invalid``, naming what there is."""
        try:
            return self._all[name]
        except KeyError:
            raise Invalid("task", f"there is no task {name!r}; there are: {', '.join(self.names)}") from None

    def check_name(self, name: str) -> None:
        self.find(name)

    def check(self, name: str, parameters: Mapping[str, Any]) -> None:
        self.find(name).check(parameters)

    def collects(self, name: str) -> bool:
        self.find(name)
        return name in _collectors

    def collector(self, name: str) -> Collector:
        """Raises ``Invalid`` for a task that has none."""
        if not self.collects(name):
            raise Invalid("task", f"task {name!r} has no step marked with @collect")
        return _collectors[name]

    def calendars(self) -> Mapping[str, frozenset[date]]:
        """The dates of each registered calendar."""
        _ = self._all  # reading the modules registers them
        return _calendars

    @property
    def names(self) -> list[str]:
        return sorted(self._all)

    @cached_property
    def _all(self) -> dict[str, Task]:
        package = importlib.import_module(self._package)
        for module in pkgutil.walk_packages(package.__path__, f"{self._package}."):
            importlib.import_module(module.name)
        return _tasks


def _words(message: str) -> str:
    """fastjsonschema calls the whole value ``data``; the field's path is named beside the message already."""
    return message.removeprefix("data").removeprefix(".").strip()
