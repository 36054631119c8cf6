"""Fan-in: returns the results of the upstream executions."""

from typing import Any

from punctual import Context, task


@task("gather")
def gather(context: Context, _parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: upstream.result for name, upstream in context.upstream.items()}
