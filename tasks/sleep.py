"""Sleeps for a given time and reports progress."""

import time
from typing import Any

from punctual import Context, task

STEP = 0.5


@task(
    "sleep",
    parameters={
        "type": "object",
        "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": 840}},
        "required": ["seconds"],
        "additionalProperties": False,
    },
)
def sleep(context: Context, parameters: dict[str, Any]) -> dict[str, Any]:
    seconds = float(parameters["seconds"])
    started = time.monotonic()
    while (slept := time.monotonic() - started) < seconds and not context.cancelled:
        context.progress(100 * slept / seconds, f"slept {slept:.0f} of {seconds:g} s")
        time.sleep(min(STEP, seconds - slept))
    return {"slept": round(time.monotonic() - started, 3)}
