"""Response models of ``/deadlines``."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers import ExecutionPage


class DeadlineCounts(BaseModel):
    """Executions with a deadline, by state: live ones, and those that have ended since midnight in UTC.

    10,000 live ones mean at least 10,000: counting stops there.
    """

    met: int | None = Field(description="Ended today in time. Null if `from` or `to` is given: those have no index.")
    missed: int = Field(description="Live ones past their deadline and, unless `met` is null, those that ended today.")
    missed_live: int = Field(description="The live ones among them.")
    will_miss: int
    at_risk: int
    on_track: int


class DeadlinePage(ExecutionPage):
    counts: DeadlineCounts | None = Field(
        None, description="Only on the first page. Of all states, in the requested time range; regards no other filter."
    )
