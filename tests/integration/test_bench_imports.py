"""The benchmark of import times imports every handler with settings that it derives itself."""

from __future__ import annotations

import pytest

from bench import imports


@pytest.mark.parametrize("function", imports.functions())
def test_the_benchmark_of_import_times_can_import_every_handler(function: str) -> None:
    assert imports.run_python(function, "import handler; print(callable(handler.handler))") == "True\n"


@pytest.mark.parametrize("function", imports.functions())
def test_the_garbage_collector_runs_after_the_import(function: str) -> None:
    assert imports.run_python(function, "import handler, gc; print(gc.isenabled())") == "True\n"
