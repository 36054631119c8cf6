"""The benchmark of import times imports every handler with settings that it derives itself."""

from __future__ import annotations

import pytest

from bench import imports


@pytest.mark.parametrize("function", imports.functions())
def test_each_handler_is_imported_and_leaves_the_garbage_collector_running(function: str) -> None:
    code = "import handler, gc; print(callable(handler.handler), gc.isenabled())"
    assert imports.run_python(function, code) == "True True\n"
