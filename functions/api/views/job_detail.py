"""Convert a job and what ``include`` asks for to the response models of the API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from answers.job_detail import GraphEdge, GraphJob, JobGraph, RelatedJob

from punctual.domain.jobs.job import Job
from punctual.stages.api.job_graph import GraphNode
from punctual.stages.api.job_graph import JobGraph as FoundGraph


def graph_view(job: Job, found: FoundGraph) -> JobGraph:
    conditions = {(one.upstream, one.dependant): one.condition for one in found.edges}

    def related(nodes: Iterable[GraphNode], pair: Any) -> list[RelatedJob]:
        return [RelatedJob(**_fields(one), condition=conditions[pair(one.job.job_id)]) for one in nodes]

    return JobGraph(
        upstreams=related(found.upstreams, lambda name: (name, job.job_id)),
        dependants=related(found.dependants, lambda name: (job.job_id, name)),
        indirect=[GraphJob(**_fields(one)) for one in found.indirect],
        edges=[
            GraphEdge(upstream=one.upstream, dependant=one.dependant, condition=one.condition) for one in found.edges
        ],
        is_complete=found.is_complete,
    )


def _fields(node: GraphNode) -> dict[str, Any]:
    return {
        "job_id": node.job.job_id,
        "job_name": node.job.name,
        "owner": node.job.owner,
        "state": node.job.state,
        "running": node.pulse.running,
        "last_status": node.pulse.record.last[-1].status if node.pulse.record.last else None,
        "deadline_state": node.pulse.deadline_state,
    }
