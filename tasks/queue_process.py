"""Processes the records of one message that a producer sent to the intake queue."""

import time
from typing import Any

from punctual import Context, task


@task(
    "queue.process",
    parameters={
        "type": "object",
        "properties": {
            "records": {"type": "array", "items": {"type": "object"}},
            "required_fields": {"type": "array", "items": {"type": "string"}},
            "seconds_per_record": {"type": "number", "minimum": 0, "maximum": 60},
        },
        "required": ["records"],
    },
)
def process(context: Context, parameters: dict[str, Any]) -> dict[str, Any]:
    """Checks each record for the required fields and counts the missing ones."""
    records = parameters["records"]
    required = parameters.get("required_fields", [])
    missing: dict[str, int] = {}
    for done, record in enumerate(records, start=1):
        for name in required:
            if record.get(name) in (None, ""):
                missing[name] = missing.get(name, 0) + 1
        time.sleep(parameters.get("seconds_per_record", 0))
        context.progress(100 * done / len(records), f"{done} of {len(records)} records")
    context.logger.info("checked a message", extra={"records": len(records), "missing": missing})
    return {"records": len(records), "missing": missing, "complete": not missing}
