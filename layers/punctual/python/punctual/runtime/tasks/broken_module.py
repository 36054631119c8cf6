"""A module of ``tasks/`` that cannot be imported: where it fails, why, and how to fix it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from traceback import walk_tb

_TASK = re.compile(r"""^@(?:\w+\.)?task\(\s*["']([^"'\n]+)["']""", re.MULTILINE)


@dataclass(frozen=True)
class BrokenModule:
    name: str
    file: str
    line: int | None
    reason: str
    tasks: tuple[str, ...] = ()
    """The tasks that its source names, as far as they can be recognized without running it."""

    def __str__(self) -> str:
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.reason}"


def broken_module(name: str, error: BaseException) -> BrokenModule:
    """Describe the failed import of ``name``. The line is the last one in the package that the module belongs to."""
    package = find_spec(name.partition(".")[0])
    folders = package.submodule_search_locations or () if package else ()
    inside: list[tuple[str, int | None]] = [
        (str(Path(file).relative_to(folder.parent)), line)
        for file, line in _lines(error)
        for folder in map(Path, folders)
        if Path(file).is_relative_to(folder)
    ]
    file, line = inside[-1] if inside else (f"{name.replace('.', '/')}.py", None)
    return BrokenModule(name, file, line, _reason(error), _tasks_of(name))


def _tasks_of(module: str) -> tuple[str, ...]:
    """The names in decorators ``@task("…")``. Reads text, not syntax: the module may have a syntax error."""
    try:
        spec = find_spec(module)
        source = Path(spec.origin).read_text(errors="replace") if spec and spec.origin else ""
    except (ImportError, OSError, ValueError):
        return ()
    return tuple(_TASK.findall(source))


def _lines(error: BaseException) -> Iterable[tuple[str, int | None]]:
    yield from ((frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__))
    if isinstance(error, SyntaxError) and error.filename:
        yield error.filename, error.lineno


def _reason(error: BaseException) -> str:
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    reason = f"{type(error).__name__}: {message}"
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is None or "." in missing or missing in sys.stdlib_module_names:
        return reason
    return f"{reason}: add {missing} to layers/vendor/requirements.txt, or the package that provides it"
