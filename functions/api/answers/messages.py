"""The response to a request that sends messages."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SentMessage(BaseModel):
    message_id: str = Field(description="The id in the request, or else a new one.")
    execution_id: str = Field(description="The execution that the message becomes.")
    reason: str | None = Field(description="Why it was not sent: send it again. Null if it was sent.")


class SentMessages(BaseModel):
    items: list[SentMessage] = Field(description="In the order of the request.")
    failed: int = Field(description="How many were not sent.")
