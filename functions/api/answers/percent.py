"""The type of every percentage in an answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

DECIMAL_PLACES = 1
FORMAT = "percent"


def _rounded(value: float) -> float:
    return round(value, DECIMAL_PLACES)


Percent = Annotated[
    float, AfterValidator(_rounded), Field(json_schema_extra={"format": FORMAT}, description="From 0 to 100.")
]
"""Rounded to one decimal place."""
