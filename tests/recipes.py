"""The commands in ``docs/recipes``, and the output that the pages show for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "recipes").glob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "# recipe: "
OUTPUT_LANGUAGES = ("json", "text")


@dataclass(frozen=True)
class Recipe:
    name: str
    code: str
    expected: str
    """The output that the page shows; ``…`` stands for any text."""

    def matches(self, output: str) -> bool:
        """Whether ``output`` is the expected one, apart from whitespace."""
        parts = map(re.escape, "".join(self.expected.split()).split("…"))
        return re.fullmatch(".*?".join(parts), "".join(output.split())) is not None


def blocks_of(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


def recipes_of(page: Path) -> list[Recipe]:
    """The recipes in the order of the page. A recipe can use variables that earlier ones set."""
    found = []
    for (kind, code), (next_kind, text) in pairwise([*blocks_of(page), ("", "")]):
        if kind == "sh" and code.startswith(MARK):
            name = code.splitlines()[0].removeprefix(MARK)
            found.append(Recipe(name, code, text if next_kind in OUTPUT_LANGUAGES else ""))
    return found


def script_of(page: Path) -> str:
    """A script with all recipes of a page. Each prints a heading with its name first."""
    parts = [f'echo "{_heading(recipe)}"\n{recipe.code}' for recipe in recipes_of(page)]
    return "\n".join(["set -euo pipefail", "source docs/recipes/setup.sh", *parts])


def split_output(page: Path, output: str) -> dict[str, str]:
    """Split the output of a page's script by recipe."""
    outputs: dict[str, str] = {}
    for recipe in recipes_of(page):
        _, _, output = output.partition(f"{_heading(recipe)}\n")
        outputs[recipe.name] = output.partition(MARK)[0]
    return outputs


def _heading(recipe: Recipe) -> str:
    return f"{MARK}{recipe.name}"
