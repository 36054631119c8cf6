"""The definition of a job: the fields that its users set, in the form of a submission."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from punctual.domain.jobs.job import Job
from punctual.domain.jobs.misfire import default_misfire


def to_submission(job: Job) -> dict[str, Any]:
    """Return the submission that would create this job, with its secrets. Defaults may be ``None``."""
    batch = job.batch
    submission: dict[str, Any] = {
        "task": job.task,
        "name": job.name,
        "parameters": job.parameters,
        "tags": dict(job.tags),
        "schedule": job.schedule.to_spec(),
        "lane": job.lane,
        "priority": job.priority,
        "timeout_seconds": job.timeout_seconds,
        "retry": asdict(job.retry),
        "deadline": job.deadline.to_spec() if job.deadline else None,
        "expected_seconds": job.expected_seconds,
        "overlap": job.overlap,
        "misfire": None if job.misfire == default_misfire(job.schedule) else job.misfire.to_spec(),
        "concurrency": job.concurrency.to_spec() if job.concurrency else None,
        "backlog": job.backlog.to_spec() if job.backlog else None,
        "notify": job.notify.to_stored() if job.notify else None,
        "window": job.window,
        "depends_on": [one.to_spec() for one in job.depends_on],
    }
    if batch is not None:
        submission |= {
            "resources": batch.resources.to_spec(),
            "container": {"image": batch.image, "command": list(batch.command)} if batch.image else None,
            "partitions": batch.partitions.to_spec() if batch.partitions else None,
            "preemptible": batch.preemptible,
        }
    return submission
