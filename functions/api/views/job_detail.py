"""Convert a job and what ``include`` asks for to the response models of the API."""

from __future__ import annotations

from collections.abc import Iterable

from answers.job_detail import JobGraph, RelatedJob

from punctual.stages.api.job_graph import Neighbour, Neighbours


def graph_view(found: Neighbours) -> JobGraph:
    return JobGraph(upstreams=_views(found.upstreams), dependants=_views(found.dependants))


def _views(neighbours: Iterable[Neighbour]) -> list[RelatedJob]:
    return [
        RelatedJob(
            job_id=one.job.job_id,
            name=one.job.name,
            owner=one.job.owner,
            state=one.job.state,
            condition=one.condition,
            running=one.pulse.running,
            last_status=one.pulse.record.last[-1].status if one.pulse.record.last else None,
            deadline_state=one.pulse.deadline_state,
        )
        for one in neighbours
    ]
