"""The jobs table. The contracts of the methods are in ``punctual.ports.jobs``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.dependant_item import (
    dependant_items,
    dependant_key,
    dependants_in,
    dependants_listing,
)
from punctual.aws.dynamodb.execution_item import dependencies_of_text
from punctual.aws.dynamodb.items import Item, from_json, instant_text, to_json
from punctual.aws.dynamodb.job_item import (
    QUEUE_JOBS,
    item_to_job,
    job_to_item,
    listing_attributes,
    listing_key,
    marker_key,
)
from punctual.aws.dynamodb.table import Table, WriteResult, recognise_own, transact
from punctual.domain.forecasts.run_history import KEPT_PARTITION_RUNS, KEPT_RUNS, append_run_times
from punctual.domain.jobs.job import LIVE_STATES, Job, JobState, UniqueField, UniqueKey
from punctual.domain.jobs.listing import Listing

OWNERS_KEY = {"job_id": "#owners"}
"""The key of a single item in the jobs table with the set of all owners, so that listing all owners needs no scan."""

LIVE_KEYS = ("named", "name_key", "queue_jobs")
"""The keys of the indexes that have only live jobs: of names, and of queue jobs."""
IDS_PER_PAGE = 200
BEYOND_ALL_NAMES = "\U0010ffff"
NAME_RANGE = "#named = :owner AND #name_key BETWEEN :low AND :high"


@dataclass(frozen=True)
class DynamoJobs:
    table: Table
    retention: timedelta
    _known_owners: set[str] = field(default_factory=set)

    def add(self, jobs: Iterable[Job]) -> None:
        jobs = list(jobs)
        self._prepare(jobs)
        if len(jobs) == 1:
            self.table.put(job_to_item(jobs[0]))
        else:
            self.table.put_many(job_to_item(job) for job in jobs)

    def add_missing(self, jobs: Iterable[Job]) -> None:
        jobs = list(jobs)
        self._prepare(jobs)
        for job in jobs:
            self.table.put_new(job_to_item(job), key="job_id")

    def add_unique(self, jobs: Sequence[Job]) -> dict[UniqueKey, Job]:
        left, seen = list(jobs), dict[UniqueKey, str]()
        self._prepare(jobs)
        while left and not self._try_add(left, seen):
            seen = self.holders(key for job in left for key in job.unique_keys)
            own = {job.job_id for job in left} & set(seen.values())  # stored, and only the response was lost
            left = [job for job in left if job.job_id not in own]
            if taken := self.live({key: holder for key, holder in seen.items() if holder not in own}):
                return taken
        return {}

    def find_live(self, keys: Iterable[UniqueKey]) -> dict[UniqueKey, Job]:
        return self.live(self.holders(keys))

    def holders(self, keys: Iterable[UniqueKey]) -> dict[UniqueKey, str]:
        """Return the ids of the jobs that hold the keys, also of ended jobs."""
        by_id = {marker_key(key)["job_id"]: key for key in keys}
        markers = self.table.get_many(({"job_id": one} for one in by_id), consistent=True)
        return {by_id[marker["job_id"]]: marker["holder"] for marker in markers}

    def live(self, holders: Mapping[UniqueKey, str]) -> dict[UniqueKey, Job]:
        """Return those of the ``holders`` that are live, by key."""
        jobs = self.get_many(set(holders.values()))
        found = {key: jobs.get(job_id) for key, job_id in holders.items()}
        return {key: job for key, job in found.items() if job is not None and job.is_live}

    def put_marker(self, key: UniqueKey, job_id: str, ended: str | None) -> dict[str, Any]:
        """Build the put of a marker that does not exist yet, or belongs to the job ``ended``."""
        marker = {**marker_key(key), "holder": job_id}
        if ended is None:
            return self.table.put_request(marker, "attribute_not_exists(#job_id)")
        return self.table.put_request(marker, "attribute_not_exists(#job_id) OR #holder = :ended", {"ended": ended})

    def get(self, job_id: str) -> Job | None:
        item = self.table.get({"job_id": job_id}, consistent=True)
        return None if item is None else item_to_job(item)

    def get_many(self, job_ids: Iterable[str]) -> dict[str, Job]:
        items = self.table.get_many(({"job_id": job_id} for job_id in job_ids), consistent=True)
        return {item["job_id"]: item_to_job(item) for item in items}

    def change_state(self, job: Job, state: JobState, now: datetime, paused_by: str | None = None) -> bool:
        moved = job.with_state(state, now, paused_by)
        changes = {
            "state": str(state),
            "updated_at": instant_text(now),
            "paused_at": instant_text(moved.paused_at),
            "paused_by": moved.paused_by,
            "resumed_at": instant_text(moved.resumed_at),
            "expires_at": None if state in LIVE_STATES else self._expiry(now),
            **listing_attributes(moved),
        }
        # compare the revision as well: the action must apply to the same revision as its dry run
        condition, values = (
            "#state = :state AND #revision = :revision",
            {"state": str(job.state), "revision": job.revision},
        )
        if job.paused_by is not None:
            condition, values = f"{condition} AND #paused_by = :paused_by", {**values, "paused_by": job.paused_by}
        if moved.live_since is not None and moved.live_since != job.live_since:
            since = changes["live_since"] = instant_text(moved.live_since)
            condition += " AND (attribute_not_exists(#live_since) OR #live_since >= :since)"
            values |= {"since": since}
        removed = [*(() if state in LIVE_STATES else LIVE_KEYS), *(() if moved.paused_by else ("paused_by",))]
        written = self.table.update(
            {"job_id": job.job_id}, set=changes, remove=removed, condition=condition, values=values
        )
        return self._expire_markers_with(recognise_own(written, changes))

    def record_run_times(self, job_id: str, execution_id: str, run_times: Mapping[str, Iterable[int]]) -> None:
        from punctual.domain.long_lane.part import PARTITION  # used only here: cold starts of the planner count

        item = self.table.get({"job_id": job_id}, consistent=True)
        if item is None or item.get("last_run") == execution_id:
            return
        known: dict[str, Iterable[int]] = from_json(item.get("run_times"), {})
        for kind, seconds in run_times.items():
            kept = KEPT_PARTITION_RUNS if kind == PARTITION else KEPT_RUNS
            known[kind] = append_run_times(tuple(known.get(kind, ())), *seconds, kept=kept)
        self.table.update(
            {"job_id": job_id},
            set={"run_times": to_json(known), "last_run": execution_id},
            # of two executions that end at the same time only one is recorded, which is harmless
            condition="attribute_not_exists(#last_run) OR #last_run = :last_run",
            values={"last_run": item.get("last_run", "")},
        )

    def extend_live_since(self, job_id: str, since: datetime) -> None:
        self.table.update(
            {"job_id": job_id},
            set={"live_since": instant_text(since)},
            condition="attribute_exists(#job_id) AND (attribute_not_exists(#live_since) OR #live_since > :since)",
            values={"since": instant_text(since)},
        )

    def mark_as_upstream(self, job_id: str) -> bool:
        states = {"active": str(JobState.ACTIVE), "paused": str(JobState.PAUSED), "done": str(JobState.DONE)}
        condition = "#state IN (:active, :paused, :done)"
        return self.table.update(
            {"job_id": job_id}, set={"is_upstream": True}, condition=condition, values=states
        ).applied

    def finish(self, job: Job, now: datetime) -> bool:
        done = {"state": str(JobState.DONE), "updated_at": instant_text(now), "expires_at": self._expiry(now)}
        written = self.table.update(
            {"job_id": job.job_id},
            set={**done, "listing": listing_key(job.owner, Listing.ENDED)},
            remove=LIVE_KEYS,
            condition="#state = :active AND #revision = :revision",
            values={"active": str(JobState.ACTIVE), "revision": job.revision},
        )
        return self._expire_markers_with(written)

    def register_owner(self, owner: str) -> None:
        if owner in self._known_owners:
            return
        self.table.client.update_item(
            TableName=self.table.name,
            Key={"job_id": {"S": OWNERS_KEY["job_id"]}},
            UpdateExpression="ADD owners :owner",
            ExpressionAttributeValues={":owner": {"SS": [owner]}},
        )
        self._known_owners.add(owner)

    def owners(self) -> list[str]:
        item = self.table.get(OWNERS_KEY) or {}
        return sorted(item.get("owners", ()))

    def listed(
        self, owner: str, listing: Listing, after: str | None, *, descending: bool
    ) -> Iterator[list[tuple[str, str]]]:
        condition, values = "#listing = :listing", {"listing": listing_key(owner, listing)}
        if after is not None:
            condition += f" AND #job_id {'<' if descending else '>'} :after"
            values["after"] = after
        for page in self.table.query(
            condition, values, index="by_listing", descending=descending, page_size=IDS_PER_PAGE
        ):
            yield [(item["job_id"], item["job_id"]) for item in page]

    def named(self, owner: str, prefix: str, after: str | None) -> Iterator[list[tuple[str, str]]]:
        values = _name_range(owner, prefix, after or "")
        if values["low"] > values["high"]:  # DynamoDB refuses an empty range: the position is of another prefix
            return
        for page in self.table.query(NAME_RANGE, values, index="by_name", page_size=IDS_PER_PAGE):
            yield [(item["name_key"], item["job_id"]) for item in page if item["name_key"] != after]

    def count_listed(self, owner: str, listing: Listing, at_most: int) -> int:
        values = {"listing": listing_key(owner, listing)}
        return self.table.count("#listing = :listing", values, index="by_listing", at_most=at_most)

    def count_named(self, owner: str, prefix: str, at_most: int) -> int:
        return self.table.count(NAME_RANGE, _name_range(owner, prefix), index="by_name", at_most=at_most)

    def dependants(self, upstream: str, at_most: int) -> list[str]:
        values = {"listing": dependants_listing(upstream)}
        pages = self.table.query("#listing = :listing", values, index="by_listing", descending=True, page_size=at_most)
        return dependants_in(next(pages))

    def queue_job_ids(self, at_most: int) -> list[str]:
        pages = self.table.query("#queue_jobs = :live", {"live": QUEUE_JOBS}, index="queue_jobs", page_size=at_most)
        return [item["job_id"] for page in pages for item in page][:at_most]

    def fetch(self, job_ids: Iterable[str]) -> dict[str, Job]:
        items = self.table.get_many({"job_id": job_id} for job_id in job_ids)
        return {item["job_id"]: item_to_job(item) for item in items}

    def _try_add(self, jobs: Sequence[Job], seen: Mapping[UniqueKey, str]) -> bool:
        """Store all jobs with their markers in one transaction, or none. ``seen``: ended jobs by unique key."""
        puts = []
        for job in jobs:
            puts.append(self.table.put_request(job_to_item(job), "attribute_not_exists(#job_id)"))
            puts += [self.put_marker(key, job.job_id, seen.get(key)) for key in job.unique_keys]
        return all(transact(self.table.client, [{"Put": put} for put in puts]))

    def _prepare(self, jobs: Iterable[Job]) -> None:
        """Record the owners and the dependencies of new jobs, before the jobs are stored: so none is ever missing."""
        for owner in {job.owner for job in jobs}:
            self.register_owner(owner)
        self.table.put_many(item for job in jobs for item in dependant_items(job))

    def _expire_markers_with(self, written: WriteResult) -> bool:
        """Let the markers of an ended job expire together with it. A marker that a crash leaves behind is harmless."""
        if written.applied and JobState(written.item["state"]) not in LIVE_STATES:
            for one in dependencies_of_text(written.item.get("depends_on")):
                key = dependant_key(written.item["job_id"], one.job)
                expiry = {"expires_at": written.item["expires_at"]}
                self.table.update(key, set=expiry, condition="attribute_exists(#job_id)", values={})
            for field in UniqueField:
                if field in written.item:
                    self._expire_marker(UniqueKey(written.item["owner"], field, written.item[field]), written.item)
        return written.applied

    def _expire_marker(self, key: UniqueKey, ended: Item) -> None:
        with suppress(self.table.client.exceptions.TransactionConflictException):  # a new job is taking over the key
            self.table.update(
                marker_key(key),
                set={"expires_at": ended["expires_at"]},
                condition="#holder = :holder",
                values={"holder": ended["job_id"]},
            )

    def _expiry(self, now: datetime) -> int:
        return int((now + self.retention).timestamp())


def _name_range(owner: str, prefix: str, after: str = "") -> Item:
    low = max(prefix.lower(), after)
    return {"owner": owner, "low": low or "\x01", "high": f"{prefix.lower()}{BEYOND_ALL_NAMES}"}


if TYPE_CHECKING:
    from punctual.ports.jobs import JobIndex, Jobs
    from punctual.ports.queue_jobs import QueueJobs

    _jobs: type[Jobs] = DynamoJobs
    _job_index: type[JobIndex] = DynamoJobs
    _queue_jobs: type[QueueJobs] = DynamoJobs
