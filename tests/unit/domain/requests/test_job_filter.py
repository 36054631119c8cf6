from __future__ import annotations

import json
from dataclasses import replace

import pytest

from punctual.domain.jobs.job import JobState
from punctual.domain.jobs.listing import Listing
from punctual.domain.lane import Priority
from punctual.domain.requests.job_filter import JobFilter, job_filter_of
from tests.unit.aws.jobs import JOB


def test_a_filter_of_jobs_reads_back_from_its_stored_form() -> None:
    where = JobFilter(
        owner="quality",
        states=frozenset({JobState.ACTIVE, JobState.DONE}),
        priorities=frozenset({Priority.LOW}),
        task="echo",
        name="night",
        tags=(("dataset", "orders"), ("tier", "gold")),
    )
    assert job_filter_of(json.loads(json.dumps(where.to_spec()))) == where
    assert job_filter_of({}) == JobFilter()


@pytest.mark.parametrize(
    ("states", "listings", "is_whole"),
    [
        ((), [Listing.LIVE, Listing.ENDED], True),
        (("active", "paused"), [Listing.LIVE], True),
        (("active",), [Listing.LIVE], False),
        (("done", "active"), [Listing.LIVE, Listing.ENDED], False),
        (("deleted",), [Listing.DELETED], True),
    ],
)
def test_a_filter_names_the_lists_that_contain_all_matches(
    states: tuple[str, ...], listings: list[Listing], is_whole: bool
) -> None:
    where = JobFilter(states=frozenset(map(JobState, states)))
    assert (where.listings, where.is_whole_listing) == (listings, is_whole)
    assert not replace(where, task="echo").is_whole_listing


def test_deleted_jobs_match_only_on_request() -> None:
    deleted = replace(JOB, state=JobState.DELETED)
    assert JobFilter().matches(JOB)
    assert not JobFilter().matches(deleted)
    assert JobFilter(states=frozenset({JobState.DELETED})).matches(deleted)
