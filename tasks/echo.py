"""The smallest task: returns its parameters."""

from typing import Any

from punctual import Context, task


@task("echo")
def echo(_context: Context, parameters: dict[str, Any]) -> dict[str, Any]:
    return parameters
