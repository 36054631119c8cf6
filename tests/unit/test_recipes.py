"""The pages of ``docs``: their links are valid, their recipes are tested, and their Python code runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from punctual.domain.executions.progress import Progress
from punctual.runtime.tasks import registry
from tests.recipes import MARK, PAGES, ROOT, Recipe, blocks_of, recipes_of, split_output
from tests.unit.contexts import context

DOCS = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
INDEX = ROOT / "docs" / "recipes" / "README.md"


def links(page: Path) -> Iterator[tuple[str, str]]:
    for link in re.findall(r"\]\((?!http)([^)\s]+)\)", page.read_text()):
        path, _, anchor = link.partition("#")
        yield path, anchor


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub creates from the headings, and those that the page names."""
    text = page.read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    named = re.findall(r'<a id="([\w-]+)">', text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(named)


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_is_valid(page: Path) -> None:
    for path, anchor in links(page):
        target = page.parent / path if path else page
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target), f"{path}#{anchor}"


def test_the_index_links_every_page_of_recipes() -> None:
    assert {page.name for page in PAGES} - {INDEX.name} <= {path for path, _ in links(INDEX)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_is_a_recipe_that_the_tests_run(page: Path) -> None:
    commands = [code for kind, code in blocks_of(page) if kind == "sh"]
    unmarked = [code for code in commands if not code.startswith(MARK)]
    assert all("setup.sh" in code for code in unmarked), unmarked
    names = [recipe.name for recipe in recipes_of(page)]
    assert names
    assert len(set(names)) == len(names)


def test_the_output_of_a_recipe_is_compared_without_whitespace_and_with_ellipses_as_wildcards() -> None:
    recipe = Recipe("one", "", '{"id": "20…",\n "status": "done"}\n')
    assert recipe.matches('{"id": "2026", "status": "done"}\n')
    assert not recipe.matches('{"id": "2026", "status": "done"}\nand more\n')
    assert not recipe.matches('{"id": "1999", "status": "done"}\n')
    assert not Recipe("silent", "", "").matches("a word")


def test_the_output_of_a_page_is_split_by_recipe(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("".join(f"```sh\n{MARK}{name}\necho\n```\n" for name in ("one", "two")))
    assert split_output(page, f"{MARK}one\n1\n{MARK}two\n2\n") == {"one": "1\n", "two": "2\n"}
    assert split_output(page, f"{MARK}one\n1\n") == {"one": "1\n", "two": ""}


def test_the_task_of_the_cancel_page_stops_between_two_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = [code for kind, code in blocks_of(INDEX.parent / "cancel.md") if kind == "python"]
    monkeypatch.setattr(registry, "_tasks", {})
    exec(compile(code, "tasks/copy.py", "exec"), {"__name__": "tasks.copy"})
    reports: list[Progress] = []
    cancelled = context(_report=reports.append, _cancelled=lambda: len(reports) == 2)
    assert registry._tasks["orders.copy"].function(cancelled, {"orders": ["a", "b", "c"]}) == {"copied": 2}
