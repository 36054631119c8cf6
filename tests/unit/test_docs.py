"""The generated parts of the documentation are up to date, and the architecture page names existing modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import DOCS, EDGES, PACKAGE, START, up_to_date
from punctual.domain.status import TRANSITIONS

ARCHITECTURE = (DOCS / "architecture.md").read_text()
STAGES = PACKAGE / "stages"


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


def test_the_architecture_page_lists_every_stage() -> None:
    stages = {str(path.relative_to(STAGES)) for path in STAGES.rglob("*.py") if path.name != "__init__.py"}
    rows = re.findall(r"^\| (`\w+/\w+\.py`.*?) \|", ARCHITECTURE, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w/]+\.py)`", row)} == stages
