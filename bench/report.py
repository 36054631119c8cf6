"""Results of a benchmark, and their table on the console."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

console = Console()


@dataclass
class Report:
    """Rows of measurements. A row can have a limit that its value must not exceed."""

    title: str
    rows: list[tuple[str, str, str, bool]] = field(default_factory=list)

    def show(self, name: str, value: str) -> None:
        self.rows.append((name, value, "", True))

    def limit(self, name: str, value: float, most: float, unit: str = "") -> None:
        self.rows.append((name, f"{value:.2f}{unit}", f"≤ {most:g}{unit}", value <= most))

    @property
    def kept(self) -> bool:
        return all(good for *_, good in self.rows)

    def print(self) -> None:
        table = Table(title=self.title, title_justify="left")
        for heading in ("measured", "value", "limit", ""):
            table.add_column(heading, justify="left" if heading in ("measured", "") else "right")
        for name, value, most, good in self.rows:
            table.add_row(name, value, most, ("✓" if good else "✗") if most else "")
        console.print(table)


def percentile(values: list[float], percent: float) -> float:
    """The smallest value that at least ``percent`` of all values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
