"""Runs steps of given durations: demonstrates how forecasts follow the pace of a task."""

import time
from itertools import accumulate
from typing import Any

from punctual import Context, task


@task(
    "steps",
    parameters={
        "type": "object",
        "properties": {
            "seconds": {
                "type": "array",
                "items": {"type": "number", "minimum": 0, "maximum": 86_400},
                "minItems": 1,
                "maxItems": 1000,
            }
        },
        "required": ["seconds"],
        "additionalProperties": False,
    },
)
def steps(context: Context, parameters: dict[str, Any]) -> dict[str, Any]:
    """``seconds`` lists the duration of each step."""
    began, times = time.monotonic(), parameters["seconds"]
    for number, until in enumerate(accumulate(times), start=1):
        while (left := began + until - time.monotonic()) > 0 and not context.cancelled:
            time.sleep(min(left, 0.5))
        context.progress(done=number, total=len(times), message=f"step {number} of {len(times)}")
        context.logger.info(f"step {number} of {len(times)}")
    return {"steps": len(times)}
