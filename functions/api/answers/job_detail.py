"""Response models of ``GET /jobs/{id}?include=…``."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers import Instant, Job
from answers.statistics import JobStatistics
from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.jobs.dependency import Condition
from punctual.domain.jobs.job import JobState
from punctual.domain.status import Status


class RelatedJob(BaseModel):
    """A job that this one waits for, or that waits for this one."""

    job_id: str
    name: str | None
    owner: str
    state: JobState
    condition: Condition
    running: int
    last_status: Status | None = Field(description="The status of the execution that ended last.")
    deadline_state: DeadlineState | None


class JobGraph(BaseModel):
    upstreams: list[RelatedJob]
    dependants: list[RelatedJob] = Field(description="The latest 50, of any team, without deleted and cancelled jobs.")


class JobDetail(Job):
    """A job with what `include` asks for. The rest is null."""

    statistics: JobStatistics | None = Field(None, description="By day, for 53 weeks.")
    next: list[Instant] | None = Field(None, description="The next ten due instants, and skipped ones between them.")
    graph: JobGraph | None = None
