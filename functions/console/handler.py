"""Serves the web console: static files from the folder ``dist`` beside this module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from punctual.runtime.lambdas.console_files import ConsoleFiles
from punctual.runtime.lambdas.function import function
from punctual.runtime.lambdas.settings import ConsoleSettings

settings = ConsoleSettings.from_env()
files = ConsoleFiles(Path(__file__).parent / "dist", root=settings.console_path, sign_in=settings.sign_in_url)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    return files.answer(event["rawPath"], event.get("headers", {}))
