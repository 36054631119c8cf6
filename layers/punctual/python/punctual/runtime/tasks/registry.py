"""The registry of tasks and calendars.

A task is a function decorated with ``@task`` in any module of the ``tasks`` package; a calendar is a call of
``calendar`` there.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Invalid, TaskUnavailable
from punctual.runtime.tasks.context import Context

if TYPE_CHECKING:
    from punctual.domain.schedules.named_calendars import Calendars
    from punctual.runtime.tasks.broken_module import BrokenModule

TaskFunction = Callable[[Context, dict[str, Any]], Any]
Collector = Callable[[Context, dict[str, Any], list[Any]], Any]


@dataclass(frozen=True)
class Task:
    """A named function, and the JSON Schema of its parameters if it has one."""

    name: str
    function: TaskFunction
    parameters: Mapping[str, Any] | None = None

    @property
    def description(self) -> str | None:
        """The first paragraph of the function's docstring, on one line."""
        from inspect import getdoc

        text = getdoc(self.function)
        return " ".join(text.split("\n\n")[0].split()) if text else None

    @property
    def file(self) -> str:
        """The path of the module below the repository."""
        return file_of(self.function.__module__)

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises ``Invalid`` with the field that does not match the schema."""
        if self.parameters is None:
            return
        from fastjsonschema import JsonSchemaValueException

        try:
            self._validate(parameters)
        except JsonSchemaValueException as error:
            from punctual.runtime.tasks.schema_message import explain

            raise Invalid(*explain(error, self.name)) from error

    @cached_property
    def _validate(self) -> Callable[[Any], Any]:
        import fastjsonschema

        compiled: Callable[[Any], Any] = fastjsonschema.compile(dict(self.parameters or {}), use_default=False)
        return compiled


@dataclass(frozen=True)
class Calendar:
    """Dates that schedules can skip by its name."""

    name: str
    dates: frozenset[date]
    file: str
    """The path of the module below the repository."""


_tasks: dict[str, Task] = {}
_collectors: dict[str, Collector] = {}
_calendars: dict[str, Calendar] = {}


def task(name: str, *, parameters: Mapping[str, Any] | None = None) -> Callable[[TaskFunction], TaskFunction]:
    """Register the decorated function as the task ``name``.

    ``parameters`` is a JSON Schema that submitted parameters are validated against. Raises ``ValueError`` if another
    module has registered the same name.
    """

    def register(function: TaskFunction) -> TaskFunction:
        known = _tasks.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ValueError(f"two tasks are named {name!r}: in {known.function.__module__} and {function.__module__}")
        _tasks[name] = Task(name, function, parameters)
        return function

    return register


def collect(name: str) -> Callable[[Collector], Collector]:
    """Register the decorated function as the collect step of the task ``name``.

    It receives the results of all partitions, in the order of their numbers.
    """

    def register(function: Collector) -> Collector:
        _collectors[name] = function
        return function

    return register


def calendar(name: str, dates: Iterable[str]) -> None:
    """Register dates, such as ``2026-12-25``, under a name that schedules can list in ``skip``.

    Idempotent. Raises ``ValueError`` for an invalid date, or if the name is registered with other dates.
    """
    from punctual.domain.schedules.named_calendars import (
        check_calendar,  # imported here: a process that only runs tasks needs no dates
    )

    declared = Calendar(name, check_calendar(name, list(dates)), file_of(sys._getframe(1).f_globals["__name__"]))
    if _calendars.setdefault(name, declared).dates != declared.dates:
        raise ValueError(f"two calendars are named {name!r}, with different dates")


class Catalog:
    """The registered tasks. The first access imports every module of ``package``.

    A module that cannot be imported makes only its own tasks and calendars unavailable. ``alarm`` is called with the
    number of such modules when they are imported, when a task is requested that is not registered, and when the
    calendars are requested.
    """

    def __init__(self, package: str = "tasks", alarm: Callable[[float], None] = lambda _count: None) -> None:
        self._package, self._alarm = package, alarm

    def find(self, name: str) -> Task:
        """Raises ``Invalid``, listing the registered tasks, if there is no such task.

        Raises ``TaskUnavailable``, listing the modules that cannot be imported, if one of them may define the task.
        """
        if name in self._all:
            return self._all[name]
        if self.broken:
            self._alarm(len(self.broken))
            raise TaskUnavailable(name, "; ".join(map(str, self.broken)))
        from punctual.domain.suggestion import one_of  # rarely needed

        raise Invalid("task", f"there is no task {name[:64]!r}; registered tasks: {one_of(self.names, name)}")

    def check_name(self, name: str) -> None:
        self.find(name)

    def check(self, name: str, parameters: Mapping[str, Any]) -> None:
        self.find(name).check(parameters)

    def collects(self, name: str) -> bool:
        self.find(name)
        return name in _collectors

    def collector(self, name: str) -> Collector:
        """Raises ``Invalid`` if the task has no collect step."""
        if not self.collects(name):
            raise Invalid("task", f"task {name!r} has no collect step: decorate a function with @collect({name!r})")
        return _collectors[name]

    def calendars(self) -> Calendars:
        """The dates of each registered calendar, and the modules that cannot be imported."""
        from punctual.domain.schedules.named_calendars import Calendars

        if self.broken:
            self._alarm(len(self.broken))
        dates = {one.name: one.dates for one in self.declared_calendars}
        return Calendars(dates, "; ".join(map(str, self.broken)))

    @property
    def declared_calendars(self) -> list[Calendar]:
        """All registered calendars, in the order of their names."""
        _ = self._all  # importing the modules registers the calendars
        return [_calendars[name] for name in sorted(_calendars)]

    @property
    def names(self) -> list[str]:
        return sorted(self._all)

    @property
    def tasks(self) -> list[Task]:
        """All registered tasks, in the order of their names."""
        return [self._all[name] for name in self.names]

    @property
    def _all(self) -> dict[str, Task]:
        _ = self.broken  # importing the modules registers the tasks
        return _tasks

    @cached_property
    def broken(self) -> list[BrokenModule]:
        """The modules that cannot be imported."""
        broken = list(_import_all(self._package))
        for module in broken:
            logging.getLogger("punctual").error(f"cannot import {module}")
        if broken:
            self._alarm(len(broken))
        return broken


def _import_all(name: str) -> Iterator[BrokenModule]:
    """Import a module, and those of a package, each on its own."""
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        from punctual.runtime.tasks.broken_module import broken_module  # rarely needed

        _unregister(name)
        yield broken_module(name, error)
        return
    for inner in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}."):
        yield from _import_all(inner.name)


def file_of(module: str) -> str:
    """The path of a module below the repository."""
    return module.replace(".", "/") + ".py"


def _unregister(module: str) -> None:
    """Remove what a module registered before its import failed."""
    for name in [name for name, task in _tasks.items() if task.function.__module__ == module]:
        del _tasks[name]
    for name in [name for name, collector in _collectors.items() if collector.__module__ == module]:
        del _collectors[name]
    for name in [name for name, declared in _calendars.items() if declared.file == file_of(module)]:
        del _calendars[name]


if TYPE_CHECKING:
    from punctual.ports.jobs import Tasks

    _catalog: type[Tasks] = Catalog
