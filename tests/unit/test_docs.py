"""The generated parts of the documentation are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generate import DOCS, EDGES, START, up_to_date
from punctual.domain.status import TRANSITIONS


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_the_generated_blocks_of_a_page_are_up_to_date(page: Path) -> None:
    assert page.read_text() == up_to_date(page.read_text()), "run: make docs"


def test_the_lifecycle_diagram_labels_exactly_the_allowed_transitions() -> None:
    allowed = {(str(source), str(target)) for source, targets in TRANSITIONS.items() for target in targets}
    assert {edge for edge in EDGES if edge[0] != START} == allowed
