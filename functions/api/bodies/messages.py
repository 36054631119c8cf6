"""The body of a request that sends messages."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from bodies import StrictModel, _example
from punctual.domain.executions.intake_message import MAX_MESSAGE_ID_LENGTH

MAX_MESSAGES = 100


class Message(StrictModel):
    payload: dict[str, Any] = Field(
        default_factory=dict, description="The parameters of the execution; those of the job are defaults."
    )
    message_id: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_MESSAGE_ID_LENGTH,
        description="Repeated within a day, it gives one execution.",
        examples=["order-4711"],
    )


class MessagesRequest(StrictModel):
    """Messages of a queue job. If one is invalid, none is sent."""

    model_config = _example({"messages": [{"payload": {"n": 1}, "message_id": "order-4711"}, {"payload": {"n": 2}}]})

    messages: list[Message] = Field(min_length=1, max_length=MAX_MESSAGES)
