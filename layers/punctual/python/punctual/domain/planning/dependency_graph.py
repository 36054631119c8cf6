"""Who waits for whom, as a graph: whether it goes round in a circle, and who comes first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from punctual.domain.jobs.job import Job

MOST_SHOWN = 20


@dataclass(frozen=True)
class Tied:
    """Jobs whose upstreams were found and checked."""

    jobs: Sequence[Job]
    unheard: Sequence[Job] = ()
    """Those of the upstreams whose ends nobody listens for yet."""


def cycle_in(upstreams: Mapping[str, Iterable[str]]) -> list[str] | None:
    """A circle, from one node to the next that it waits for and back to itself; ``None`` when there is none."""
    try:
        TopologicalSorter(upstreams).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle[::-1]
    return None


def graph_of(jobs: Iterable[Job]) -> dict[str, list[str]]:
    """Who of these jobs waits for whom of them."""
    jobs = list(jobs)
    known = {job.job_id for job in jobs}
    return {job.job_id: [one.job for one in job.depends_on if one.job in known] for job in jobs}


def upstreams_first(jobs: Sequence[Job]) -> list[Job]:
    """Each after all that it waits for, so that whoever is planned finds them. They have no circle."""
    if not any(job.depends_on for job in jobs):
        return list(jobs)
    known = {job.job_id: job for job in jobs}
    return [known[one] for one in TopologicalSorter(graph_of(jobs)).static_order()]


def shown(circle: list[str]) -> str:
    """Such as ``a → b → a``; a long one without its middle."""
    if len(circle) > MOST_SHOWN:
        left_out = len(circle) - MOST_SHOWN
        circle = [*circle[: MOST_SHOWN // 2], f"… {left_out} more …", *circle[-MOST_SHOWN // 2 :]]
    return " → ".join(circle)
