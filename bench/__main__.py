"""``make bench``: all of it, or the parts named on the command line."""

from __future__ import annotations

import sys

from bench import cost, dashboard, graph, imports, lateness, partitions, sweep, week
from bench.report import Report, console
from bench.stack import deployed

ALONE = {"imports": imports.measure, "week": week.measure}
# cost first: orders of jobs that another part has deleted would be counted
ON_A_STACK = {
    "cost": cost.measure,
    "lateness": lateness.measure,
    "sweep": sweep.measure,
    "partitions": partitions.measure,
    "graph": graph.measure,
    "dashboard": dashboard.measure,
}


def main(wanted: list[str]) -> int:
    reports: list[Report] = []
    for name, part in ALONE.items():
        if not wanted or name in wanted:
            reports.append(_shown(name, part))
    if parts := {name: part for name, part in ON_A_STACK.items() if not wanted or name in wanted}:
        console.print("deploying a stack of its own …")
        with deployed() as punctual:
            for name, part in parts.items():
                reports.append(_shown(name, lambda part=part: part(punctual)))  # type: ignore[misc]
    over = [report.title for report in reports if not report.kept]
    console.print(f"[red]over a limit: {'; '.join(over)}" if over else "[green]every limit is kept")
    return 1 if over else 0


def _shown(name: str, measure: object) -> Report:
    with console.status(f"measuring {name}"):
        report: Report = measure()  # type: ignore[operator]
    report.print()
    return report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
