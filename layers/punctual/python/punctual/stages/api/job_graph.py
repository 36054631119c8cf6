"""Job graph: the upstreams and dependants of a job, direct and indirect, with their current state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from punctual.domain.jobs.dependency import MAX_UPSTREAMS, Condition
from punctual.domain.jobs.job import REMOVED_STATES, Job

if TYPE_CHECKING:
    from punctual.ports.jobs import JobIndex
    from punctual.stages.api.read_statistics import JobPulse, StatisticsReading

MAX_DEPENDANTS_READ = MAX_UPSTREAMS
"""How many dependants of a job are read, the latest ones. Deleted and cancelled jobs are among them."""
MAX_NEIGHBOURS = 50
"""How many direct upstreams, and how many direct dependants, are returned."""
MAX_READ = 125
"""How many jobs are read in each direction, those with the fewest steps to the job first."""
MAX_SEARCHES = 25
"""For how many jobs the dependants are searched."""
MAX_JOBS = 99
"""How many jobs are returned: with the job itself, as many as one request for their state takes."""


@dataclass(frozen=True)
class GraphNode:
    job: Job
    pulse: JobPulse


@dataclass(frozen=True)
class GraphEdge:
    upstream: str
    dependant: str
    condition: Condition


@dataclass(frozen=True)
class JobGraph:
    """What a job waits for and what waits for it. The job itself is not a node."""

    upstreams: list[GraphNode]
    dependants: list[GraphNode]
    indirect: list[GraphNode]
    edges: list[GraphEdge]
    """Between all these jobs."""
    is_complete: bool


@dataclass
class _Search:
    """A search in one direction, breadth first, that stops at its limits."""

    jobs: JobIndex
    level: list[Job]
    """The jobs of the last step: at first the job itself."""
    found: dict[str, Job] = field(default_factory=dict)
    """In the order of the number of steps."""
    is_complete: bool = True
    read: int = 0
    searches: int = 0

    def fetch(self, names: Iterable[str]) -> list[Job]:
        """The jobs that have not been found yet."""
        asked = [name for name in dict.fromkeys(names) if name not in self.found]
        most = MAX_READ - self.read
        self.is_complete &= len(asked) <= most
        self.read += len(asked[:most])
        fetched = self.jobs.fetch(asked[:most])
        return [fetched[name] for name in asked if name in fetched]

    def dependants(self) -> Iterator[str]:
        """The ids of the dependants of the last level, the latest first."""
        for job in self.level:
            if job.is_upstream and self.searches < MAX_SEARCHES:
                self.searches += 1
                names = self.jobs.dependants(job.job_id, MAX_DEPENDANTS_READ)
                self.is_complete &= len(names) < MAX_DEPENDANTS_READ
                yield from names
            else:
                self.is_complete &= not job.is_upstream

    def advance(self, level: Iterable[Job]) -> None:
        self.level = list(level)
        self.found |= {job.job_id: job for job in self.level}


@dataclass(frozen=True)
class JobGraphReader:
    jobs: JobIndex
    statistics: StatisticsReading

    def graph(self, job: Job) -> JobGraph:
        """The graph around a job. The dependants of a job that was never an upstream are not searched for."""
        above, below = self._upstreams_of(job), self._dependants_of(job)
        found = above.found | below.found
        upstreams = [name for name in _upstreams(job) if name in found]
        dependants = [name for name, other in below.found.items() if job.job_id in _upstreams(other)]
        indirect = [name for name in found if name not in {*upstreams, *dependants}]
        shown = [*upstreams[:MAX_NEIGHBOURS], *dependants[:MAX_NEIGHBOURS], *indirect][:MAX_JOBS]
        pulses = self.statistics.pulses(found[name] for name in shown)
        nodes = {name: GraphNode(found[name], pulse) for name, pulse in zip(shown, pulses, strict=True)}
        return JobGraph(
            upstreams=[nodes[name] for name in upstreams if name in nodes],
            dependants=[nodes[name] for name in dependants if name in nodes],
            indirect=[nodes[name] for name in indirect if name in nodes],
            edges=list(_edges([job, *(found[name] for name in shown)])),
            is_complete=above.is_complete and below.is_complete and len(shown) == len(found),
        )

    def _upstreams_of(self, job: Job) -> _Search:
        search = _Search(self.jobs, [job])
        while search.level:
            search.advance(search.fetch(name for one in search.level for name in _upstreams(one)))
        return search

    def _dependants_of(self, job: Job) -> _Search:
        search = _Search(self.jobs, [job])
        while search.level:
            names = {one.job_id for one in search.level}
            candidates = search.fetch(search.dependants())
            search.advance(one for one in candidates if one.state not in REMOVED_STATES and names & {*_upstreams(one)})
        return search


def _upstreams(job: Job) -> list[str]:
    return [one.job for one in job.depends_on]


def _edges(jobs: list[Job]) -> Iterator[GraphEdge]:
    names = {job.job_id for job in jobs}
    for job in jobs:
        yield from (GraphEdge(one.job, job.job_id, one.condition) for one in job.depends_on if one.job in names)
