"""Which jobs a list, or a request for many jobs, includes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from punctual.domain.jobs.job import Job, JobState
from punctual.domain.jobs.listing import Listing, listing_of
from punctual.domain.jobs.tags import parse_tag
from punctual.domain.lane import Priority


class JobSort(StrEnum):
    """The order of a list of jobs."""

    NEWEST = "newest"
    """Live jobs before ended ones, each by creation, the latest first."""
    OLDEST = "oldest"
    """Live jobs before ended ones, each by creation, the earliest first."""
    NAME = "name"
    """Live jobs that have a name, by name."""


@dataclass(frozen=True, kw_only=True)
class JobFilter:
    """A job matches if it matches all fields. An empty field matches every job, except that deleted jobs are hidden."""

    owner: str | None = None
    states: frozenset[JobState] = frozenset()
    priorities: frozenset[Priority] = frozenset()
    task: str | None = None
    name: str | None = None
    """The beginning of the name, in any case."""
    tags: tuple[tuple[str, str], ...] = ()
    """All of these."""

    @property
    def listings(self) -> list[Listing]:
        """The lists that contain all matches, live jobs first."""
        wanted = {listing_of(state) for state in self.states} or {Listing.LIVE, Listing.ENDED}
        return [listing for listing in Listing if listing in wanted]

    @property
    def is_whole_listing(self) -> bool:
        """Whether it matches every job of its lists."""
        listed = frozenset(state for state in JobState if listing_of(state) in self.listings)
        return self.states in (frozenset(), listed) and not (self.priorities or self.task or self.name or self.tags)

    def matches(self, job: Job) -> bool:
        return (
            self.owner in (None, job.owner)
            and (job.state in self.states or (not self.states and job.state is not JobState.DELETED))
            and (not self.priorities or job.priority in self.priorities)
            and self.task in (None, job.task)
            and starts_with(job.name, self.name)
            and has_tags(job.tags, self.tags)
        )

    def to_spec(self) -> dict[str, Any]:
        """The fields as JSON types, by the names of the query parameters; the inverse of ``job_filter_of``."""
        fields = {
            "owner": self.owner,
            "state": sorted(self.states),
            "priority": sorted(self.priorities),
            "task": self.task,
            "name": self.name,
            "tag": tag_texts(self.tags),
        }
        return {name: value for name, value in fields.items() if value}


def job_filter_of(spec: Mapping[str, Any]) -> JobFilter:
    return JobFilter(
        owner=spec.get("owner"),
        states=frozenset(map(JobState, spec.get("state", ()))),
        priorities=frozenset(map(Priority, spec.get("priority", ()))),
        task=spec.get("task"),
        name=spec.get("name"),
        tags=parse_tag_filter(spec.get("tag", ())),
    )


def parse_tag_filter(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse texts such as ``dataset:orders``. Raises ``Invalid``, naming the parameter ``tag``."""
    return tuple(sorted({parse_tag("tag", text) for text in texts}))


def tag_texts(tags: Iterable[tuple[str, str]]) -> list[str]:
    """The inverse of ``parse_tag_filter``."""
    return [f"{key}:{value}" for key, value in tags]


def has_tags(tags: Mapping[str, str], wanted: Iterable[tuple[str, str]]) -> bool:
    return all(tags.get(key) == value for key, value in wanted)


def starts_with(name: str | None, prefix: str | None) -> bool:
    """Whether the name has the prefix, in any case; without a prefix every name has."""
    return prefix is None or (name or "").lower().startswith(prefix.lower())
