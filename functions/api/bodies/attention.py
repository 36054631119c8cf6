"""Request models of ``/attention``."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from bodies import StrictModel
from punctual.domain.attention.acknowledgement import MAX_NOTE_LENGTH, AttentionState


class AttentionRequest(StrictModel):
    """What an operator decides about an attention item."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"state": "acknowledged", "note": "the source is late; informed the team"}]}
    )

    state: Literal[AttentionState.ACKNOWLEDGED, AttentionState.SNOOZED] = Field(
        description="`acknowledged`: open again if the subject needs attention anew, or its deadline state changes."
        " `snoozed`: not open again before `until`. Delete the acknowledgement to open it at once.",
    )
    until: str | None = Field(
        None, description="When it is open again, at most 30 days ahead, which is the default for `acknowledged`."
    )
    note: str | None = Field(None, min_length=1, max_length=MAX_NOTE_LENGTH)
