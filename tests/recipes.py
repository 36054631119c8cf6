"""The commands in ``docs/recipes``, and what the pages say that they print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "recipes").glob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "# recipe: "
PRINTED = ("json", "text")


@dataclass(frozen=True)
class Recipe:
    name: str
    code: str
    printed: str
    """What it prints; ``…`` stands for anything."""

    def prints(self, seen: str) -> bool:
        parts = map(re.escape, "".join(self.printed.split()).split("…"))
        return re.fullmatch(".*?".join(parts), "".join(seen.split())) is not None


def blocks_of(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


def recipes_of(page: Path) -> list[Recipe]:
    """In the order of the page: one uses what those before it have set."""
    found = []
    for (kind, code), (next_kind, text) in pairwise([*blocks_of(page), ("", "")]):
        if kind == "sh" and code.startswith(MARK):
            name = code.splitlines()[0].removeprefix(MARK)
            found.append(Recipe(name, code, text if next_kind in PRINTED else ""))
    return found


def script_of(page: Path) -> str:
    """All of a page's recipes in one go, each under a line with its name."""
    parts = [f'echo "{_heading(recipe)}"\n{recipe.code}' for recipe in recipes_of(page)]
    return "\n".join(["set -euo pipefail", "source docs/recipes/setup.sh", *parts])


def printed_by(page: Path, output: str) -> dict[str, str]:
    """What each recipe printed."""
    printed: dict[str, str] = {}
    for recipe in recipes_of(page):
        _, _, output = output.partition(f"{_heading(recipe)}\n")
        printed[recipe.name] = output.partition(MARK)[0]
    return printed


def _heading(recipe: Recipe) -> str:
    return f"{MARK}{recipe.name}"
