"""How soon the log of a running execution can be read, in both lanes.

A follower reads page after page. At each page, the age of the newest line shows how far it is behind: a line waits for
its chunk, for the emulator, and for the next line.
"""

from __future__ import annotations

from typing import Any

from bench.report import Report, percentile
from punctual.domain.instant import from_text, now
from tests.e2e.punctual import Punctual, wait_for

SECONDS_PER_LINE = 0.25
LINES = 100
MOST_SECONDS = 2
LANES: dict[str, dict[str, Any]] = {
    "short lane": {"lane": "short"},
    "long lane": {"lane": "long", "resources": {"vcpu": 0.5}},
}


def measure(punctual: Punctual) -> Report:
    report = Report("Age of the newest line of a log that is followed")
    for name, lane in LANES.items():
        ages = _ages(punctual, lane)
        report.show(f"{name}: p50 of {len(ages)} pages", f"{percentile(ages, 50):.2f} s")
        report.limit(f"{name}: p95", percentile(ages, 95), MOST_SECONDS, " s")
    return report


def _ages(punctual: Punctual, lane: dict[str, Any]) -> list[float]:
    """The seconds between the newest line and each read of a page, while the execution writes lines."""
    job = punctual.submit(task="steps", parameters={"seconds": [SECONDS_PER_LINE] * LINES}, **lane)
    [execution] = wait_for(lambda: punctual.executions(job), 60, "its execution")
    path, ages, query, newest = f"/executions/{execution['execution_id']}/logs", list[float](), "", None

    def is_complete() -> bool:
        nonlocal query, newest
        page = punctual.get(f"{path}{query}")
        query = f"?after={page['after']}"
        newest = from_text(page["items"][-1]["at"]) if page["items"] else newest
        if newest is not None and not page["complete"]:
            ages.append((now() - newest).total_seconds())
        return bool(page["complete"])

    wait_for(is_complete, 240, "the end of the log")
    return ages
