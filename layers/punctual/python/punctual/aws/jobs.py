"""The jobs table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from punctual.aws.items import dumped, instant_text, loaded
from punctual.aws.job_item import item_to_job, job_to_item
from punctual.aws.table import Table
from punctual.domain.history import noted
from punctual.domain.job import Job, JobState

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

    def get(self, job_id: str) -> Job | None:
        item = self.table.get({"job_id": job_id}, consistent=True)
        return None if item is None else item_to_job(item)

    def get_many(self, job_ids: Iterable[str]) -> dict[str, Job]:
        items = self.table.get_many(({"job_id": job_id} for job_id in job_ids), consistent=True)
        return {item["job_id"]: item_to_job(item) for item in items}

    def delete(self, job: Job, now: datetime) -> bool:
        return self._move(job.job_id, JobState.DELETED, [JobState.ACTIVE, JobState.DONE], now)

    def replace(self, job: Job) -> bool:
        # whoever comes to depend on it meanwhile must not be forgotten
        unfed = "" if job.feeds else " AND attribute_not_exists(#feeds)"
        return self.table.put_if(
            job_to_item(job),
            f"#revision = :before AND #state = :active{unfed}",
            {"before": job.revision - 1, "active": str(JobState.ACTIVE)},
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

    def note_backfill(self, job_id: str, since: datetime) -> None:
        self.table.update(
            {"job_id": job_id},
            set={"backfilled_from": instant_text(since)},
            condition="attribute_exists(#job_id) AND"
            " (attribute_not_exists(#backfilled_from) OR #backfilled_from > :since)",
            values={"since": instant_text(since)},
        )

    def note_dependant(self, job_id: str) -> bool:
        states = {"active": str(JobState.ACTIVE), "paused": str(JobState.PAUSED), "done": str(JobState.DONE)}
        condition = "#state IN (:active, :paused, :done)"
        return self.table.update({"job_id": job_id}, set={"feeds": True}, condition=condition, values=states).won

    def finish(self, job_id: str, now: datetime) -> bool:
        return self._move(job_id, JobState.DONE, [JobState.ACTIVE], now)

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

    def _move(self, job_id: str, state: JobState, sources: list[JobState], now: datetime) -> bool:
        return self.table.update(
            {"job_id": job_id},
            set={
                "state": str(state),
                "updated_at": instant_text(now),
                "expires_at": int((now + self.retention).timestamp()),
            },
            condition=f"#state IN ({', '.join(f':from{n}' for n in range(len(sources)))})",
            values={f"from{n}": str(source) for n, source in enumerate(sources)},
        ).won
