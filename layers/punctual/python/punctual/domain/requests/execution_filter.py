"""Which executions a list, or a request for many executions, includes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.instant import from_text, to_text
from punctual.domain.requests.job_filter import has_tags, parse_tag_filter, starts_with, tag_texts
from punctual.domain.status import WITHOUT_OUTCOME, Status


class DeadlineValue(StrEnum):
    """The deadline of an execution: a ``DeadlineState`` while it is live, a ``DeadlineResult`` afterwards."""

    ON_TRACK = "on_track"
    AT_RISK = "at_risk"
    WILL_MISS = "will_miss"
    MISSED = "missed"
    MET = "met"


ONLY_AFTER_DUE = frozenset(Status) - {Status.SCHEDULED, Status.QUEUED, Status.WAITING, *WITHOUT_OUTCOME}
"""Statuses that an execution cannot have before its due instant."""


@dataclass(frozen=True, kw_only=True)
class ExecutionFilter:
    """An execution matches if it matches all fields. An empty field matches every execution."""

    job_id: str | None = None
    owner: str | None = None
    statuses: frozenset[Status] = frozenset()
    task: str | None = None
    job_name: str | None = None
    """The beginning of the name of its job, in any case."""
    tags: tuple[tuple[str, str], ...] = ()
    """All of these."""
    origins: frozenset[Origin] = frozenset()
    worker_id: str | None = None
    deadlines: frozenset[DeadlineValue] = frozenset()
    since: datetime | None = None
    """Due at or after this instant."""
    until: datetime | None = None
    """Due before this instant."""

    @property
    def includes_planned(self) -> bool:
        """Whether executions that are not due yet may match. A list of all jobs has them only on request."""
        if self.statuses:
            return not self.statuses <= ONLY_AFTER_DUE
        return self.job_id is not None or self.until is not None

    @property
    def ends_with_planned(self) -> bool:
        """Whether executions that are not due yet are at the end of the list: of one job, unless they are asked for."""
        return self.job_id is not None and not self.statuses and self.until is None

    @property
    def is_running_only(self) -> bool:
        """Whether it matches only running executions, of all jobs."""
        return self.statuses == {Status.RUNNING} and self.job_id is None

    @property
    def is_range(self) -> bool:
        """Whether it matches every execution of a job, an owner or all owners in a range of time."""
        return not (self.statuses or self._has_record_fields)

    @property
    def _has_record_fields(self) -> bool:
        """Whether a field of the record decides, which no index has."""
        texts = self.task or self.job_name or self.worker_id
        return bool(texts or self.tags or self.origins or self.deadlines)

    def matches(self, execution: Execution) -> bool:
        return (
            self.job_id in (None, execution.job_id)
            and self.owner in (None, execution.owner)
            and (not self.statuses or execution.status in self.statuses)
            and self.task in (None, execution.task)
            and starts_with(execution.job_name, self.job_name)
            and has_tags(execution.tags, self.tags)
            and (not self.origins or execution.origin in self.origins)
            and self.worker_id in (None, execution.worker_id)
            and (not self.deadlines or str(execution.deadline_state) in self.deadlines)
            and (self.since is None or self.since <= execution.scheduled_at)
            and (self.until is None or execution.scheduled_at < self.until)
        )

    def to_spec(self) -> dict[str, Any]:
        """The fields as JSON types, by the names of the query parameters; the inverse of ``execution_filter_of``."""
        fields = {
            "job_id": self.job_id,
            "owner": self.owner,
            "status": sorted(self.statuses),
            "task": self.task,
            "job_name": self.job_name,
            "tag": tag_texts(self.tags),
            "origin": sorted(self.origins),
            "worker_id": self.worker_id,
            "deadline": sorted(self.deadlines),
            "from": to_text(self.since) if self.since else None,
            "to": to_text(self.until) if self.until else None,
        }
        return {name: value for name, value in fields.items() if value}


def execution_filter_of(spec: Mapping[str, Any]) -> ExecutionFilter:
    return ExecutionFilter(
        job_id=spec.get("job_id"),
        owner=spec.get("owner"),
        statuses=frozenset(map(Status, spec.get("status", ()))),
        task=spec.get("task"),
        job_name=spec.get("job_name"),
        tags=parse_tag_filter(spec.get("tag", ())),
        origins=frozenset(map(Origin, spec.get("origin", ()))),
        worker_id=spec.get("worker_id"),
        deadlines=frozenset(map(DeadlineValue, spec.get("deadline", ()))),
        since=from_text(spec["from"]) if "from" in spec else None,
        until=from_text(spec["to"]) if "to" in spec else None,
    )
