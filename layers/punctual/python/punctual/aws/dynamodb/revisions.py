"""The revisions table: one item for each revision of a job after the first. It is written with the job, or not at all.

The contracts of the methods are in ``punctual.ports.revisions``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.dependant_item import dependant_items, obsolete_keys
from punctual.aws.dynamodb.items import Item, from_json, instant_text, to_json
from punctual.aws.dynamodb.job_item import job_to_item, marker_key
from punctual.aws.dynamodb.table import Table, transact
from punctual.domain.instant import from_text
from punctual.domain.jobs.revision import FieldChange, Revision

if TYPE_CHECKING:
    from punctual.aws.dynamodb.jobs import DynamoJobs
    from punctual.domain.jobs.job import Job

DIGITS = 10
"""Of the number of a revision in the sort key."""

MAX_DELETED = 90
"""Per transaction, which has up to 100 writes. The other items of former dependencies stay: readers skip them."""


@dataclass(frozen=True)
class DynamoRevisions:
    table: Table
    jobs: DynamoJobs

    def replace(self, job: Job, former: Job, revision: Revision) -> bool:
        jobs = self.jobs.table
        jobs.put_many(dependant_items(job, former))
        keys = self._unique_keys(job, former)
        if keys is None:
            return False
        obsolete = [{"Delete": jobs.delete_request(key)} for key in obsolete_keys(job, former)[:MAX_DELETED]]
        writes = [{"Put": self._put_job(job)}, {"Put": self.table.put_request(_to_item(revision))}, *keys, *obsolete]
        return all(transact(jobs.client, writes))

    def newest_first(self, job_id: str, before: int | None, page_size: int) -> Iterator[list[Revision]]:
        condition, values = "#job_id = :job_id", {"job_id": job_id}
        if before is not None:
            condition, values = f"{condition} AND #revision < :before", {**values, "before": _sort_key(before)}
        for page in self.table.query(condition, values, descending=True, page_size=page_size, consistent=True):
            yield [_to_revision(item) for item in page]

    def expire(self, job_id: str, expires_at: int) -> None:
        for page in self.table.query("#job_id = :job_id", {"job_id": job_id}, consistent=True):
            self.table.put_many({**item, "expires_at": expires_at} for item in page)

    def _unique_keys(self, job: Job, former: Job) -> list[dict[str, Any]] | None:
        """Build the writes that move the markers; ``None`` if another live job has one of the keys."""
        added = [key for key in job.unique_keys if key not in former.unique_keys]
        removed = [key for key in former.unique_keys if key not in job.unique_keys]
        holders = self.jobs.holders(added)
        if self.jobs.live(holders):
            return None
        condition, values = "#holder = :holder", {"holder": job.job_id}
        return [
            *({"Put": self.jobs.put_marker(key, job.job_id, holders.get(key))} for key in added),
            *({"Delete": self.jobs.table.delete_request(marker_key(key), condition, values)} for key in removed),
        ]

    def _put_job(self, job: Job) -> dict[str, Any]:
        # fail if, since the job was read, it became an upstream or `live_since` moved back: the put would undo that
        unmarked = "" if job.is_upstream else " AND attribute_not_exists(#is_upstream)"
        since = {"since": instant_text(job.live_since)} if job.live_since else {}
        as_old = (
            "(attribute_not_exists(#live_since) OR #live_since >= :since)"
            if since
            else "attribute_not_exists(#live_since)"
        )
        condition = f"#revision = :before AND #state = :state AND {as_old}{unmarked}"
        values = {"before": job.revision - 1, "state": str(job.state), **since}
        return self.jobs.table.put_request(job_to_item(job), condition, values)


def _sort_key(number: int) -> str:
    return f"{number:0{DIGITS}}"


def _to_item(revision: Revision) -> Item:
    return {
        "job_id": revision.job_id,
        "revision": _sort_key(revision.number),
        "by": revision.by,
        "at": instant_text(revision.at),
        "changes": to_json([[one.field, one.old, one.new] for one in revision.changes]),
    }


def _to_revision(item: Item) -> Revision:
    changes = tuple(FieldChange(*one) for one in from_json(item["changes"]))
    return Revision(item["job_id"], int(item["revision"]), item["by"], from_text(item["at"]), changes)


if TYPE_CHECKING:
    from punctual.ports.revisions import RevisionExpiry, Revisions

    _revisions: type[Revisions] = DynamoRevisions
    _expiry: type[RevisionExpiry] = DynamoRevisions
