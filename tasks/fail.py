"""Fails a given number of times, then succeeds: demonstrates retries.

In a partitioned job, only the partition given in ``partition`` fails, or all of them if it is not given.
"""

from typing import Any

from punctual import Context, Fatal, task


@task(
    "fail",
    parameters={
        "type": "object",
        "properties": {
            "times": {"type": "integer", "minimum": 0},
            "fatal": {"type": "boolean"},
            "partition": {"type": "integer", "minimum": 0},
        },
        "additionalProperties": False,
    },
)
def fail(context: Context, parameters: dict[str, Any]) -> dict[str, Any]:
    times = parameters.get("times", 1)
    spared = context.partition is not None and context.partition.number != parameters.get(
        "partition", context.partition.number
    )
    if context.attempt <= times and not spared:
        message = f"attempt {context.attempt} fails as configured (failing attempts: {times})"
        raise Fatal(message) if parameters.get("fatal") else RuntimeError(message)
    return {"succeeded_on_attempt": context.attempt}
