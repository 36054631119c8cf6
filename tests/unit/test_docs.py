"""The generated parts of the documentation are up to date, and the architecture page names existing modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import DOCS, EDGES, PACKAGE, START, up_to_date
from punctual.domain.status import TRANSITIONS

ARCHITECTURE = (DOCS / "architecture.md").read_text()
STAGES = PACKAGE / "stages"
TESTS = DOCS.parent / "tests"
PAGES = (*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md"))


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_the_generated_blocks_of_a_page_are_up_to_date(page: Path) -> None:
    assert page.read_text() == up_to_date(page.read_text()), "run: make docs"


def test_the_lifecycle_diagram_labels_exactly_the_allowed_transitions() -> None:
    allowed = {(str(source), str(target)) for source, targets in TRANSITIONS.items() for target in targets}
    assert {edge for edge in EDGES if edge[0] != START} == allowed


def test_every_module_that_the_architecture_page_names_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", ARCHITECTURE))
    roots = (DOCS.parent, PACKAGE, PACKAGE / "domain", STAGES)
    assert [name for name in sorted(named) if not any((root / name).exists() for root in roots)] == []


def test_every_test_that_a_page_names_exists() -> None:
    tests = {path: path.read_text() for path in TESTS.rglob("test_*.py")}
    names = {path.name for path in tests} | {path.stem for path in tests}
    names |= {name for text in tests.values() for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    quoted = [(page.name, text) for page in PAGES for text in re.findall(r"`([^`\n]+)`", page.read_text())]
    named = {(page, name) for page, text in quoted for name in re.findall(r"\btest_\w+(?:\.py)?", text)}
    assert len(named) > 20
    assert [one for one in sorted(named) if one[1] not in names] == []


def test_every_finding_has_a_test_and_names_only_defects_of_the_simulator() -> None:
    table = (DOCS / "reliability.md").read_text().partition("| finding | tests | defect |\n|---|---|---|\n")[2]
    rows = [row.split("|")[1:4] for row in table.partition("\n\n")[0].splitlines()]
    numbers = [int(number) for finding, *_ in rows for number in re.findall(r"^ (\d+)\. ", finding)]
    assert numbers == list(range(1, 15))
    assert all(re.search(r"`test_\w+`", tests) for _, tests, _ in rows)
    sources = [path.read_text() for path in (TESTS / "simulator").glob("defects*.py")]
    defects = re.findall(r"^def (\w+)\(\) -> Patches", "\n".join(sources), re.MULTILINE)
    assert {name for *_, named in rows for name in re.findall(r"`(\w+)`", named)} <= set(defects)


def test_the_architecture_page_lists_every_stage() -> None:
    stages = {str(path.relative_to(STAGES)) for path in STAGES.rglob("*.py") if path.name != "__init__.py"}
    rows = re.findall(r"^\| (`\w+/\w+\.py`.*?) \|", ARCHITECTURE, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w/]+\.py)`", row)} == stages


def test_the_terms_of_the_glossary_are_sorted_and_unique() -> None:
    rows = (DOCS / "glossary.md").read_text().partition("|---|---|\n")[2].splitlines()
    terms = [row.split("|")[1].strip().casefold() for row in rows]
    assert terms == sorted(set(terms))


def test_every_difference_to_aws_names_what_covers_it_or_that_nothing_does() -> None:
    page = (DOCS / "aws-differences.md").read_text()
    rows = [row.split(" | ") for row in re.findall(r"^\| (?!AWS \|)(.+) \|$", page, re.MULTILINE)]
    assert len(rows) > 40
    assert all(len(row) == 3 for row in rows), [row for row in rows if len(row) != 3]
    uncovered = [row[0] for row in rows if not re.search(r"`test_\w+|\*\*none\*\*|`make bench", row[2])]
    assert uncovered == []
