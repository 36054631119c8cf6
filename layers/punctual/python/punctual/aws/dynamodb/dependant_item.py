"""Items of the jobs table that record which jobs depend on a job.

They are in the index of lists, under a list per upstream, and have no ``state``: their stream records are ignored.
Readers skip an item whose job does not exist or no longer has the dependency: a crash may leave such an item behind.
"""

from __future__ import annotations

from collections.abc import Iterable

from punctual.aws.dynamodb.items import Item
from punctual.domain.jobs.job import Job


def dependant_items(job: Job, former: Job | None = None) -> list[Item]:
    """The items of the dependencies of a job that its former revision did not have."""
    return [
        {**dependant_key(job.job_id, upstream), "listing": dependants_listing(upstream)}
        for upstream in _upstreams(job) - _upstreams(former)
    ]


def obsolete_keys(job: Job, former: Job) -> list[Item]:
    """The keys of the items of the dependencies that only the former revision had."""
    return [dependant_key(job.job_id, upstream) for upstream in sorted(_upstreams(former) - _upstreams(job))]


def dependant_key(dependant: str, upstream: str) -> Item:
    return {"job_id": f"#dependant#{upstream}#{dependant}"}


def dependants_listing(upstream: str) -> str:
    return f"#upstream#{upstream}"


def dependants_in(page: Iterable[Item]) -> list[str]:
    return [item["job_id"].rpartition("#")[2] for item in page]


def _upstreams(job: Job | None) -> set[str]:
    return {one.job for one in job.depends_on} if job else set()
