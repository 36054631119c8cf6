"""Query parameters and headers that several routes take."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Header, Query

from punctual.domain.errors import Invalid

MAX_REVISION_DIGITS = 18

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
IfMatch = Annotated[
    str | None, Header(description="The revision that the change is based on; 412 if the job has another one.")
]
DryRunQuery = Annotated[bool, Query(description="Return what the request would do, without doing it.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="Up to 200 characters, such as a UUID. The same request with the same key has one effect for a day."
    ),
]


def revision_in(if_match: str | None) -> int | None:
    """Return the revision in an ``If-Match`` header; ``None`` for any. Raises ``Invalid``."""
    if if_match is None or if_match.strip() == "*":
        return None
    number = if_match.strip().removeprefix("W/").strip('"')
    if not number.isdecimal() or len(number) > MAX_REVISION_DIGITS:
        raise Invalid("If-Match", "must be the number of a revision, as in the job's `revision` field")
    return int(number)
