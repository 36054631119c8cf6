"""``make bench``: run all benchmarks, or those named on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from bench import cost, dashboard, graph, imports, lateness, logs, partitions, reads, sweep, week
from bench.report import Report, console
from bench.stack import deployed
from tests.e2e.punctual import Punctual

WITHOUT_STACK: dict[str, Callable[[], Report]] = {
    "imports": imports.measure,
    "reads": reads.measure,
    "week": week.measure,
}
# cost runs first: work orders of jobs that another benchmark has deleted would be counted.
ON_STACK: dict[str, Callable[[Punctual], Report]] = {
    "cost": cost.measure,
    "lateness": lateness.measure,
    "logs": logs.measure,
    "sweep": sweep.measure,
    "partitions": partitions.measure,
    "graph": graph.measure,
    "dashboard": dashboard.measure,
}


def main(wanted: list[str]) -> int:
    """Return the exit code: 1 if a limit is exceeded, otherwise 0."""
    reports = [_run(name, measure) for name, measure in WITHOUT_STACK.items() if not wanted or name in wanted]
    if on_stack := {name: measure for name, measure in ON_STACK.items() if not wanted or name in wanted}:
        console.print("Deploying a separate stack …")
        with deployed() as punctual:
            reports += [_run(name, partial(measure, punctual)) for name, measure in on_stack.items()]
    exceeded = [report.title for report in reports if not report.kept]
    console.print(f"[red]Limits exceeded: {'; '.join(exceeded)}" if exceeded else "[green]All limits are kept")
    return 1 if exceeded else 0


def _run(name: str, measure: Callable[[], Report]) -> Report:
    with console.status(f"measuring {name}"):
        report = measure()
    report.print()
    return report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
