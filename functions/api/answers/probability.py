"""The type of every probability in an answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

DECIMAL_PLACES = 4
FORMAT = "probability"


def _rounded(value: float) -> float:
    return round(value, DECIMAL_PLACES)


Probability = Annotated[float, AfterValidator(_rounded), Field(json_schema_extra={"format": FORMAT})]
"""From 0 to 1, rounded to four decimal places."""
