"""Lateness of starts: a minute after the deployment, many executions due at one instant, and one every second.

None may start early.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from bench.picture import histogram
from bench.report import Report, percentile
from bench.stack import all_executions
from punctual.domain.instant import from_text, to_text
from tests.e2e.punctual import Punctual, soon, wait_for

RUNS = 5
FEW = 20
MANY = 200
EVERY_SECOND_FOR = 60
SETTLE_SECONDS = 60
"""After the deployment."""
MOST_SECONDS_NOW, MOST_SECONDS_FEW = 1, 2
"""Limits of the worst run, on an idle machine: from the client's request, and from the due instant, to the start."""


def measure(punctual: Punctual) -> Report:
    report = Report("Lateness of starts")
    _measure_first_starts(report, punctual)
    many = _due_together(punctual, MANY)
    steady = _every_second(punctual)
    for name, late in ((f"{MANY} due at one instant", many), (f"every second for {EVERY_SECOND_FOR} s", steady)):
        report.limit(f"{name}: started early", sum(one < 0 for one in late), 0)
        shown = [f"p{percent} {percentile(late, percent):.2f} s" for percent in (50, 99)]
        report.show(name, ", ".join([*shown, f"max {max(late):.2f} s"]))
    histogram("lateness", {f"{MANY} due at one instant": many, "one every second": steady})
    return report


def _measure_first_starts(report: Report, punctual: Punctual) -> None:
    """The first executions of a stack, a minute after its deployment: a newcomer's first impression."""
    time.sleep(max(SETTLE_SECONDS - (time.monotonic() - punctual.stack["ready_at"]), 0))
    answered, now = list[float](), list[float]()
    for _ in range(RUNS):
        submitted = datetime.now(UTC)
        job = punctual.submit(task="echo")
        answered.append((datetime.now(UTC) - submitted).total_seconds())
        now += [_seconds_to_start(submitted, one) for one in punctual.wait_for_end(job)]
    few = [max(_due_together(punctual, FEW)) for _ in range(RUNS)]
    first = (("submitted now", now, MOST_SECONDS_NOW), (f"{FEW} due at one instant, the latest", few, MOST_SECONDS_FEW))
    report.show(f"fresh stack, {RUNS} submissions, answered after", ", ".join(f"{one:.2f}" for one in answered) + " s")
    for name, late, most in first:
        report.show(f"fresh stack, {name}, {RUNS} runs", ", ".join(f"{one:.2f}" for one in late) + " s")
        report.limit(f"fresh stack, {name}, the worst run", max(late), most, " s")


def _due_together(punctual: Punctual, count: int) -> list[float]:
    due = to_text(soon(20))
    jobs = [{"task": "echo", "name": f"together-{due}-{n}", "schedule": {"at": due}} for n in range(count)]
    made = punctual.request("POST", "/jobs/batch", {"jobs": jobs}).json()["items"]
    ids = {job["job_id"] for job in made}

    def all_succeeded() -> list[dict[str, Any]] | None:
        found = [one for one in all_executions(punctual, f"status=succeeded&from={due}") if one["job_id"] in ids]
        return found if len(found) == count else None

    return [_late(one) for one in wait_for(all_succeeded, 240, f"{count} executions")]


def _every_second(punctual: Punctual) -> list[float]:
    job = punctual.submit(name="steady", schedule={"every_seconds": 1}, overlap="allow")
    ended = punctual.wait_for_end(job, count=EVERY_SECOND_FOR, seconds=3 * EVERY_SECOND_FOR)
    punctual.request("DELETE", f"/jobs/{job['job_id']}")
    return [_late(one) for one in ended]


def _late(execution: dict[str, Any]) -> float:
    return _seconds_to_start(from_text(execution["scheduled_at"]), execution)


def _seconds_to_start(since: datetime, execution: dict[str, Any]) -> float:
    return (from_text(execution["started_at"]) - since).total_seconds()
