"""Response models of what a single execution shows in addition to lists."""

from __future__ import annotations

from pydantic import BaseModel, Field

from punctual.domain.executions.execution import Outcome
from punctual.domain.executions.timeline import EventKind
from punctual.domain.status import Status


class TimelineEvent(BaseModel):
    """Something that happened to an execution."""

    kind: EventKind
    at: str | None = Field(description="When it happened or began; null if that is not recorded.")
    until: str | None = Field(
        description="The end of a wait or an attempt, null while it lasts; of `stopping`, the end of the grace period."
    )
    reason: str | None
    part: str | None = Field(description="In the long lane: the part that it happened to.")
    attempt: int | None
    outcome: Outcome | None = Field(description="How the attempt ended.")
    worker_id: str | None


class Cost(BaseModel):
    """An estimate at the list prices of us-east-1, without free tiers."""

    dollars: float
    compute_dollars: float = Field(description="Lambda or Fargate.")
    requests_dollars: float = Field(
        description="All else: requests, logs, storage, and the compute of Punctual itself."
    )


class Dependant(BaseModel):
    execution_id: str
    job_id: str
    job_name: str | None
    status: Status
