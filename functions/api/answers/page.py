"""The fields of every list."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Page(BaseModel):
    items: list[Any]
    cursor: str | None = Field(description="Pass it as `cursor` to get the next page; null on the last page.")


class CountedPage(Page):
    total: int | None = Field(
        None,
        description="The number of items on all pages, if it is known: lists of jobs and executions count them with"
        " `total=true`, if an index serves all filters.",
    )
    total_is_exact: bool | None = Field(None, description="False if there are more: counting stops at 10,000.")
