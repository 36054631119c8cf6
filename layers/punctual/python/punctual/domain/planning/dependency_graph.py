"""The dependency graph of jobs: cycle detection and topological order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from punctual.domain.jobs.job import Job

MAX_SHOWN_NODES = 20


@dataclass(frozen=True)
class CheckedJobs:
    """Jobs whose dependencies were resolved and validated."""

    jobs: Sequence[Job]
    upstreams_to_mark: Sequence[Job] = ()
    """Upstream jobs that are not marked as ``is_upstream`` yet, so their ends would not wake dependants."""


def find_cycle(upstreams: Mapping[str, Iterable[str]]) -> list[str] | None:
    """Return a cycle, each node followed by one of its upstreams, first node repeated at the end; else ``None``."""
    try:
        TopologicalSorter(upstreams).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle[::-1]
    return None


def dependency_graph_of(jobs: Iterable[Job]) -> dict[str, list[str]]:
    """Map each job id to its upstreams among ``jobs``. Upstreams outside ``jobs`` are left out."""
    jobs = list(jobs)
    known = {job.job_id for job in jobs}
    return {job.job_id: [upstream.job for upstream in job.depends_on if upstream.job in known] for job in jobs}


def upstreams_first(jobs: Sequence[Job]) -> list[Job]:
    """Sort topologically: each job after its upstreams, so that planning a job finds them. Needs an acyclic graph."""
    if not any(job.depends_on for job in jobs):
        return list(jobs)
    known = {job.job_id: job for job in jobs}
    return [known[job_id] for job_id in TopologicalSorter(dependency_graph_of(jobs)).static_order()]


def format_cycle(cycle: list[str]) -> str:
    """Format as ``a → b → a``. The middle of a long cycle is left out."""
    if len(cycle) > MAX_SHOWN_NODES:
        left_out = len(cycle) - MAX_SHOWN_NODES
        cycle = [*cycle[: MAX_SHOWN_NODES // 2], f"… {left_out} more …", *cycle[-MAX_SHOWN_NODES // 2 :]]
    return " → ".join(cycle)
