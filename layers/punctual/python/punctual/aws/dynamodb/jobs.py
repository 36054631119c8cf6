"""The jobs table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from punctual.aws.dynamodb.items import Item, dumped, instant_text, loaded
from punctual.aws.dynamodb.job_item import item_to_job, job_to_item, marker_key
from punctual.aws.dynamodb.table import Table, Written
from punctual.domain.forecasts.run_history import noted
from punctual.domain.jobs.job import LIVE, Job, JobState

OWNERS_KEY = {"job_id": "#owners"}
"""A single item beside the jobs: the set of all owners, so that lists over all of them need no scan."""


@dataclass(frozen=True)
class DynamoJobs:
    table: Table
    retention: timedelta
    _noted: set[str] = field(default_factory=set)

    def add(self, jobs: Iterable[Job]) -> None:
        items = [job_to_item(job) for job in jobs]
        if len(items) == 1:
            self.table.put(items[0])
        else:
            self.table.put_many(items)

    def add_unique(self, jobs: Sequence[Job]) -> dict[str, Job]:
        own, seen = {job.job_id for job in jobs}, dict[str, str]()
        while not self._added(jobs, seen):
            markers = self._markers(jobs)
            seen = {key: marker["holder"] for key, marker in markers.items()}
            if own & set(seen.values()):  # it was done after all, and only the answer was lost
                return {}
            if taken := self._live(seen):
                return taken
        return {}

    def holding(self, jobs: Sequence[Job]) -> dict[str, Job]:
        return self._live({key: marker["holder"] for key, marker in self._markers(jobs).items()})

    def get(self, job_id: str) -> Job | None:
        item = self.table.get({"job_id": job_id}, consistent=True)
        return None if item is None else item_to_job(item)

    def get_many(self, job_ids: Iterable[str]) -> dict[str, Job]:
        items = self.table.get_many(({"job_id": job_id} for job_id in job_ids), consistent=True)
        return {item["job_id"]: item_to_job(item) for item in items}

    def move(self, job: Job, state: JobState, now: datetime) -> bool:
        moved = job.moved(state, now)
        changes = {
            "state": str(state),
            "updated_at": instant_text(now),
            "paused_at": instant_text(moved.paused_at),
            "resumed_at": instant_text(moved.resumed_at),
            "expires_at": None if state in LIVE else self._expiry(now),
        }
        # by its revision too: what was tried out as a dry run must not be another thing when it is done
        written = self.table.update(
            {"job_id": job.job_id},
            set=changes,
            condition="#state = :state AND #revision = :revision",
            values={"state": str(job.state), "revision": job.revision},
        )
        return self._with_its_marker(written)

    def replace(self, job: Job) -> bool:
        # whoever comes to depend on it meanwhile must not be forgotten, nor anything old that is to run
        unfed = "" if job.feeds else " AND attribute_not_exists(#feeds)"
        since = {"since": instant_text(job.live_since)} if job.live_since else {}
        as_old = (
            "(attribute_not_exists(#live_since) OR #live_since >= :since)"
            if since
            else "attribute_not_exists(#live_since)"
        )
        return self.table.put_if(
            job_to_item(job),
            f"#revision = :before AND #state = :state AND {as_old}{unfed}",
            {"before": job.revision - 1, "state": str(job.state), **since},
        )

    def note_run(self, job_id: str, execution_id: str, run_times: Mapping[str, Iterable[int]]) -> None:
        item = self.table.get({"job_id": job_id}, consistent=True)
        if item is None or item.get("last_run") == execution_id:
            return
        known: dict[str, Iterable[int]] = loaded(item.get("run_times"), {})
        for kind, seconds in run_times.items():
            known[kind] = noted(tuple(known.get(kind, ())), *seconds)
        self.table.update(
            {"job_id": job_id},
            set={"run_times": dumped(known), "last_run": execution_id},
            # two that end at once: one of them is not remembered, which does no harm
            condition="attribute_not_exists(#last_run) OR #last_run = :last_run",
            values={"last_run": item.get("last_run", "")},
        )

    def note_old(self, job_id: str, since: datetime) -> None:
        self.table.update(
            {"job_id": job_id},
            set={"live_since": instant_text(since)},
            condition="attribute_exists(#job_id) AND (attribute_not_exists(#live_since) OR #live_since > :since)",
            values={"since": instant_text(since)},
        )

    def note_dependant(self, job_id: str) -> bool:
        states = {"active": str(JobState.ACTIVE), "paused": str(JobState.PAUSED), "done": str(JobState.DONE)}
        condition = "#state IN (:active, :paused, :done)"
        return self.table.update({"job_id": job_id}, set={"feeds": True}, condition=condition, values=states).won

    def finish(self, job: Job, now: datetime) -> bool:
        written = self.table.update(
            {"job_id": job.job_id},
            set={"state": str(JobState.DONE), "updated_at": instant_text(now), "expires_at": self._expiry(now)},
            condition="#state = :active AND #revision = :revision",
            values={"active": str(JobState.ACTIVE), "revision": job.revision},
        )
        return self._with_its_marker(written)

    def note_owner(self, owner: str) -> None:
        if owner in self._noted:
            return
        self.table.client.update_item(
            TableName=self.table.name,
            Key={"job_id": {"S": OWNERS_KEY["job_id"]}},
            UpdateExpression="ADD owners :owner",
            ExpressionAttributeValues={":owner": {"SS": [owner]}},
        )
        self._noted.add(owner)

    def owners(self) -> list[str]:
        item = self.table.get(OWNERS_KEY) or {}
        return sorted(item.get("owners", ()))

    def newest_first(self, owner: str, before: str | None) -> Iterator[list[Job]]:
        """An owner's jobs, created before the job id ``before``."""
        condition, values = "#owner = :owner", {"owner": owner}
        if before is not None:
            condition, values = f"{condition} AND #job_id < :before", {**values, "before": before}
        for page in self.table.query(condition, values, index="by_owner", descending=True, page_size=100):
            yield [item_to_job(item) for item in page]

    def _added(self, jobs: Sequence[Job], seen: Mapping[str, str]) -> bool:
        """Whether all were stored, each with its marker. ``seen`` are the ended jobs that have some of the keys."""
        puts = []
        for job in jobs:
            key = job.dedupe_key or ""
            free, before = "attribute_not_exists(#job_id)", {"before": seen[key]} if key in seen else {}
            marker = {**marker_key(job.owner, key), "dedupe_key": key, "holder": job.job_id}
            puts.append(self.table.placing(job_to_item(job), free))
            puts.append(self.table.placing(marker, f"{free} OR #holder = :before" if before else free, before))
        return all(self.table.put_all(puts))

    def _markers(self, jobs: Sequence[Job]) -> dict[str, Item]:
        keys = (marker_key(job.owner, job.dedupe_key or "") for job in jobs)
        return {item["dedupe_key"]: item for item in self.table.get_many(keys, consistent=True)}

    def _live(self, holders: Mapping[str, str]) -> dict[str, Job]:
        """Of jobs by key, those that live."""
        jobs = self.get_many(set(holders.values()))
        found = {key: jobs.get(job_id) for key, job_id in holders.items()}
        return {key: job for key, job in found.items() if job is not None and job.live}

    def _with_its_marker(self, written: Written) -> bool:
        if written.won and "dedupe_key" in written.item and JobState(written.item["state"]) not in LIVE:
            self._let_go(written.item, written.item["expires_at"])
        return written.won

    def _let_go(self, ended: Item, expires_at: int) -> None:
        """Have the marker of a job that has ended expire with it. One that stays, after a crash, does no harm."""
        with suppress(self.table.client.exceptions.TransactionConflictException):  # another takes it over just now
            self.table.update(
                marker_key(ended["owner"], ended["dedupe_key"]),
                set={"expires_at": expires_at},
                condition="#holder = :holder",
                values={"holder": ended["job_id"]},
            )

    def _expiry(self, now: datetime) -> int:
        return int((now + self.retention).timestamp())
