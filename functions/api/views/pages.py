"""The fields that all lists have: the cursor and the total."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from punctual.domain.requests.page import Page, Total


def page_fields(page: Page[Any], cursor: str | None, count: Callable[[], Total | None] | None = None) -> dict[str, Any]:
    """The cursor and the total of a page. A list that fits on its first page is counted for free."""
    if cursor is None and page.cursor is None:
        total: Total | None = Total(len(page.items), is_exact=True)
    else:
        total = count() if count else None
    counted = {"total": total.count, "total_is_exact": total.is_exact} if total else {}
    return {"cursor": page.cursor, **counted}


def only_page(items: Sequence[Any]) -> dict[str, Any]:
    """The page fields of a list that always fits on one page."""
    return page_fields(Page([*items], None), None)
