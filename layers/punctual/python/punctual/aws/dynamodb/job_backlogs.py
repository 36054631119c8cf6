"""The backlogs of queue jobs in the signals table.

::

    queue_jobs          the latest measurement of all queue jobs (compressed), and its version
    arrivals#<job id>   how many messages of a job became executions
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import Item, from_json, instant_of, instant_text, to_json
from punctual.aws.dynamodb.table import Table
from punctual.domain.jobs.backlog_rule import BacklogRule
from punctual.domain.jobs.job import JobState
from punctual.domain.jobs.job_backlog import EndCount, JobBacklog, JobBacklogs

_KEY = {"id": "queue_jobs"}
_PREFIX = "arrivals#"
KEPT = timedelta(days=8)
"""How long after its last message the total of a job is kept."""
_INSTANTS = ("at", "oldest_at", "rated_at", "changed_at")


@dataclass(frozen=True)
class DynamoJobBacklogs:
    table: Table

    def latest(self) -> JobBacklogs:
        """Without jobs if there is no measurement, or if it was stored in another format."""
        item = self.table.get(_KEY, consistent=True)
        if item is None:
            return JobBacklogs()
        try:
            jobs = {fields["job_id"]: _backlog(fields) for fields in from_json(zlib.decompress(item["jobs"]).decode())}
        except (KeyError, TypeError, ValueError, zlib.error):
            jobs = {}
        return JobBacklogs(version=item["version"], jobs=jobs)

    def store(self, jobs: JobBacklogs) -> bool:
        text = to_json([_fields(one) for one in jobs.jobs.values()])
        item = {**_KEY, "version": jobs.version, "jobs": zlib.compress(text.encode())}
        if jobs.version == 1:
            return self.table.put_if(item, "attribute_not_exists(#version)", {})
        return self.table.put_if(item, "#version = :before", {"before": jobs.version - 1})


@dataclass(frozen=True)
class DynamoArrivals:
    table: Table

    def add(self, job_id: str, count: int, now: datetime) -> None:
        expiry = {"expires_at": int((now + KEPT).timestamp())}
        self.table.apply(self.table.update_request(_key(job_id), set=expiry, add={"count": count}))

    def read(self, job_ids: Iterable[str]) -> Mapping[str, int]:
        items = self.table.get_many(map(_key, job_ids))
        return {item["id"].removeprefix(_PREFIX): item["count"] for item in items}


def _key(job_id: str) -> Item:
    return {"id": f"{_PREFIX}{job_id}"}


def _fields(backlog: JobBacklog) -> dict[str, Any]:
    instants = {name: instant_text(getattr(backlog, name)) for name in _INSTANTS}
    fields = {**vars(backlog), **instants, "ended": [backlog.ended.day, backlog.ended.count]}
    fields["limits"] = backlog.limits and asdict(backlog.limits)
    return {name: value for name, value in fields.items() if value is not None}


def _backlog(fields: dict[str, Any]) -> JobBacklog:
    instants = {name: instant_of(fields.get(name)) for name in _INSTANTS}
    limits = BacklogRule(**fields["limits"]) if "limits" in fields else None
    parsed = {"state": JobState(fields["state"]), "ended": EndCount(*fields["ended"]), "limits": limits}
    return JobBacklog(**{"job_name": None, **fields, **instants, **parsed})


if TYPE_CHECKING:
    from punctual.ports.queue_jobs import Arrivals, MeasuredBacklogs

    _arrivals: type[Arrivals] = DynamoArrivals
    _measured_backlogs: type[MeasuredBacklogs] = DynamoJobBacklogs
