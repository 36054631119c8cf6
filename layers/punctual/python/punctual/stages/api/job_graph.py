"""Job graph: the direct upstreams and dependants of a job, with their current state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.jobs.dependency import Condition
from punctual.domain.jobs.job import REMOVED_STATES, Job

if TYPE_CHECKING:
    from punctual.ports.jobs import JobIndex
    from punctual.stages.api.read_statistics import JobPulse, StatisticsReading

MAX_DEPENDANTS_READ = 100
"""How many dependants are read, the latest ones. Deleted and cancelled jobs are among them."""
MAX_NEIGHBOURS = 50
"""How many upstreams, and how many dependants, are returned."""


@dataclass(frozen=True)
class Neighbour:
    job: Job
    condition: Condition
    pulse: JobPulse


@dataclass(frozen=True)
class Neighbours:
    upstreams: list[Neighbour]
    dependants: list[Neighbour]


@dataclass(frozen=True)
class JobGraphReader:
    jobs: JobIndex
    statistics: StatisticsReading

    def neighbours(self, job: Job) -> Neighbours:
        """The direct upstreams and dependants of a job. A job that was never an upstream is not searched for."""
        conditions = {one.job: one.condition for one in job.depends_on}
        found = self.jobs.fetch(conditions)
        upstreams = [(found[name], condition) for name, condition in conditions.items() if name in found]
        dependants = list(islice(self._dependants(job), MAX_NEIGHBOURS)) if job.is_upstream else []
        shown = upstreams[:MAX_NEIGHBOURS]
        pulses = self.statistics.pulses(one for one, _ in chain(shown, dependants))
        all_found = [
            Neighbour(one, condition, pulse)
            for (one, condition), pulse in zip(chain(shown, dependants), pulses, strict=True)
        ]
        return Neighbours(all_found[: len(shown)], all_found[len(shown) :])

    def _dependants(self, job: Job) -> Iterator[tuple[Job, Condition]]:
        found = self.jobs.fetch(self.jobs.dependants(job.job_id, MAX_DEPENDANTS_READ))
        for other in sorted(found.values(), key=lambda one: one.job_id, reverse=True):
            if other.state not in REMOVED_STATES:
                yield from ((other, one.condition) for one in other.depends_on if one.job == job.job_id)
