"""Query parameters and headers that several routes take."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Header, Query

TagsQuery = Annotated[
    list[str] | None,
    Query(
        description="`key:value`; several, separated by commas or repeated, must all match.",
        examples=[["dataset:orders"]],
    ),
]
NameQuery = Annotated[str | None, Query(min_length=1, max_length=200)]
JobNameQuery = Annotated[
    str | None, Query(min_length=1, max_length=200, description="The beginning of the name of the job, in any case.")
]
TotalQuery = Annotated[bool, Query(description="Count the items of all pages, if an index serves all filters.")]
LimitQuery = Annotated[int, Query(ge=1, le=100, description="Maximum number of items per page.")]
CursorQuery = Annotated[
    str | None, Query(min_length=1, max_length=2000, description="The `cursor` of the previous page.")
]
DryRunQuery = Annotated[bool, Query(description="Return what the request would do, without doing it.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="Up to 200 characters, such as a UUID. The same request with the same key has one effect for a day."
    ),
]
