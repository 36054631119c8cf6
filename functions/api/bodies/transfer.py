"""The request model of a transfer."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from bodies import StrictModel


class TransferRequest(StrictModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"owner": "billing"}]})

    owner: str = Field(
        min_length=1,
        max_length=128,
        pattern=r"^[^\s,]+$",
        description="The team that gets the job, as in its group `team:<name>`: without spaces and commas.",
    )
