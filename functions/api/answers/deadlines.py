"""Response models of ``/deadlines``."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers import ExecutionPage


class LiveDeadlines(BaseModel):
    """Live executions with a deadline, by state. 10,000 means at least 10,000: counting stops there."""

    missed: int
    will_miss: int
    at_risk: int
    on_track: int


class DeadlinePage(ExecutionPage):
    counts: LiveDeadlines | None = Field(
        None, description="Only on the first page. Of all states, in the requested time range; regards no other filter."
    )
