"""Response models of ``GET /jobs/{id}?include=…``."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers import Instant, Job
from answers.statistics import JobStatistics
from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.jobs.dependency import Condition
from punctual.domain.jobs.job import JobState
from punctual.domain.status import Status


class GraphJob(BaseModel):
    """A job that this one waits for, or that waits for this one, directly or not."""

    job_id: str
    job_name: str | None
    owner: str
    state: JobState
    running: int
    last_status: Status | None = Field(description="The status of the execution that ended last.")
    deadline_state: DeadlineState | None


class RelatedJob(GraphJob):
    """A job that this one waits for, or that waits for this one."""

    condition: Condition


class GraphEdge(BaseModel):
    """An execution of `dependant` waits for the one of `upstream`."""

    upstream: str
    dependant: str
    condition: Condition


class JobGraph(BaseModel):
    upstreams: list[RelatedJob]
    dependants: list[RelatedJob] = Field(description="The latest 50, of any team, without deleted and cancelled jobs.")
    indirect: list[GraphJob] = Field(
        description="Upstreams of upstreams and dependants of dependants, those with the fewest steps first."
    )
    edges: list[GraphEdge] = Field(description="Between all these jobs and this one, by job id.")
    is_complete: bool = Field(description="False if there are more jobs than shown: 100 with this one.")


class JobDetail(Job):
    """A job with what `include` asks for. The rest is null."""

    statistics: JobStatistics | None = Field(None, description="By day, for 53 weeks.")
    next: list[Instant] | None = Field(None, description="The next ten due instants, and skipped ones between them.")
    graph: JobGraph | None = None
