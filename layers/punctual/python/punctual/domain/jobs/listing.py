"""The lists that jobs are kept in: those of an owner that are live, that have ended, and that were deleted."""

from __future__ import annotations

from enum import StrEnum

from punctual.domain.jobs.job import LIVE_STATES, JobState


class Listing(StrEnum):
    """A list of an owner's jobs, in order of creation. A change of state may move a job to another list."""

    LIVE = "live"
    ENDED = "ended"
    DELETED = "deleted"
    """Shown on request only."""


def listing_of(state: JobState) -> Listing:
    if state in LIVE_STATES:
        return Listing.LIVE
    return Listing.DELETED if state is JobState.DELETED else Listing.ENDED


def name_key(name: str, job_id: str) -> str:
    """The sort key of a live job in the list of names. It ignores case, and is unique."""
    return f"{name.lower()}\t{job_id}"  # a tab sorts before every character of a name
