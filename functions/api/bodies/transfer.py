"""The request model of a transfer."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from bodies import StrictModel
from punctual.domain.requests.caller import TEAM


class TransferRequest(StrictModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"owner": "billing"}]})

    owner: str = Field(
        min_length=1,
        max_length=64,
        pattern=f"^{TEAM}$",
        description="The team that gets the job, as in its group `team:<name>`.",
    )
