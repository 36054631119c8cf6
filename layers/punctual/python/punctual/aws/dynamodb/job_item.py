"""Mapping between jobs and items of the jobs table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from punctual.aws.dynamodb.execution_item import batch_text, dependencies_of_text, dependencies_text
from punctual.aws.dynamodb.items import Item, from_json, instant_of, instant_text, to_json
from punctual.domain.errors import Unreadable
from punctual.domain.jobs.job import Job, JobState, UniqueKey
from punctual.domain.jobs.listing import Listing, listing_of, name_key
from punctual.domain.jobs.misfire import default_misfire, parse_misfire
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.data_window import WindowUnit
from punctual.domain.schedules.schedule import from_stored

OPTIONAL_RULES = ("deadline", "concurrency", "backlog", "notify", "batch")

QUEUE_JOBS = "live"
"""The partition key of the index of live queue jobs: a single partition, because they are few and rarely change."""


def marker_key(key: UniqueKey) -> Item:
    """The key of the marker item that records which job holds a unique key.

    The marker has neither ``owner`` nor ``state``: it appears in no index of jobs, and its stream records are ignored.
    """
    return {"job_id": f"#{key.field}#{_without_hash(key.owner)}#{key.value}"}


def _without_hash(owner: str) -> str:
    return owner.replace("%", "%25").replace("#", "%23")


def listing_attributes(job: Job) -> Item:
    """The keys of a job in the indexes: by list of its owner; if it is live, by name, and among the queue jobs."""
    listing = listing_of(job.state)
    name = job.name if listing is Listing.LIVE else None
    takes_messages = listing is Listing.LIVE and job.schedule.kind == "queue"
    return {
        "listing": listing_key(job.owner, listing),
        "named": job.owner if name else None,
        "name_key": name_key(name, job.job_id) if name else None,
        "queue_jobs": QUEUE_JOBS if takes_messages else None,
    }


def listing_key(owner: str, listing: Listing) -> str:
    return f"{owner}#{listing}"


def job_to_item(job: Job) -> Item:
    return {
        **listing_attributes(job),
        "job_id": job.job_id,
        "name": job.name,
        "owner": job.owner,
        "created_by": job.created_by,
        "task": job.task,
        "parameters": to_json(job.parameters),
        "tags": to_json(job.tags) if job.tags else None,
        "schedule": to_json(job.schedule.to_stored()),
        "lane": str(job.lane),
        "priority": str(job.priority),
        "timeout_seconds": job.timeout_seconds,
        "retry": to_json(asdict(job.retry)),
        "deadline": to_json(job.deadline.to_spec()) if job.deadline else None,
        "expected_seconds": job.expected_seconds,
        "overlap": str(job.overlap) if job.overlap is not Overlap.ALLOW else None,
        "misfire": None if job.misfire == default_misfire(job.schedule) else to_json(job.misfire.to_spec()),
        "concurrency": to_json(job.concurrency.to_spec()) if job.concurrency else None,
        "backlog": to_json(job.backlog.to_spec()) if job.backlog else None,
        "paused_at": instant_text(job.paused_at),
        "paused_by": job.paused_by,
        "resumed_at": instant_text(job.resumed_at),
        "revised_at": instant_text(job.revised_at),
        "rescheduled_at": instant_text(job.rescheduled_at),
        "schedule_revision": job.schedule_revision if job.schedule_revision > 1 else None,
        "notify": to_json(job.notify.to_stored()) if job.notify else None,
        "window": str(job.window) if job.window else None,
        "batch": batch_text(job.batch),
        "depends_on": dependencies_text(job.depends_on),
        "is_upstream": job.is_upstream or None,
        "run_times": to_json(dict(job.run_times)) if job.run_times else None,
        "live_since": instant_text(job.live_since),
        "dedupe_key": job.dedupe_key,
        "state": str(job.state),
        "revision": job.revision,
        "created_at": instant_text(job.created_at),
        "updated_at": instant_text(job.updated_at),
    }


def item_to_job(item: Item) -> Job:
    """Raises ``Unreadable`` if the item is not a job."""
    try:
        created_at, updated_at = instant_of(item["created_at"]), instant_of(item["updated_at"])
        assert created_at is not None
        assert updated_at is not None
        schedule = from_stored(from_json(item["schedule"]))
        return Job(
            job_id=item["job_id"],
            name=item.get("name"),
            owner=item["owner"],
            created_by=item["created_by"],
            task=item["task"],
            parameters=from_json(item["parameters"]),
            tags=from_json(item.get("tags"), {}),
            schedule=schedule,
            lane=Lane(item["lane"]),
            priority=Priority(item["priority"]),
            timeout_seconds=item["timeout_seconds"],
            retry=RetryPolicy(**from_json(item["retry"])),
            expected_seconds=item.get("expected_seconds"),
            overlap=Overlap(item.get("overlap", Overlap.ALLOW)),
            misfire=parse_misfire(from_json(item.get("misfire")), schedule),
            paused_at=instant_of(item.get("paused_at")),
            paused_by=item.get("paused_by"),
            resumed_at=instant_of(item.get("resumed_at")),
            revised_at=instant_of(item.get("revised_at")),
            rescheduled_at=instant_of(item.get("rescheduled_at")),
            schedule_revision=item.get("schedule_revision", 1),
            window=WindowUnit(item["window"]) if "window" in item else None,
            depends_on=dependencies_of_text(item.get("depends_on")),
            is_upstream=item.get("is_upstream", False),
            run_times={kind: tuple(times) for kind, times in from_json(item.get("run_times"), {}).items()},
            live_since=instant_of(item.get("live_since")),
            dedupe_key=item.get("dedupe_key"),
            state=JobState(item["state"]),
            revision=item["revision"],
            created_at=created_at,
            updated_at=updated_at,
            **_optional_rules_of(item),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unreadable(f"not a job: {type(error).__name__}: {error}") from error


def _optional_rules_of(item: Item) -> dict[str, Any]:
    if item.keys().isdisjoint(OPTIONAL_RULES):
        return {}
    from punctual.aws.dynamodb.optional_rules import rules_of  # most jobs have none of these rules

    return rules_of(item)
