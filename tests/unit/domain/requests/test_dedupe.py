"""Unique jobs: when a key is taken, and how a duplicate is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.jobs.job import Job
from punctual.domain.requests.dedupe import OnDuplicate, check_distinct, duplicate_of, policy_of
from punctual.domain.schedules.schedule import Now

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
JOB = Job(
    job_id="01m7j3myg0ab16wzvq72dx3zvq",
    owner="quality",
    created_by="ann",
    task="echo",
    schedule=Now(NOW),
    created_at=NOW,
    updated_at=NOW,
    dedupe_key="orders",
)


def test_a_duplicate_policy_requires_a_key():
    assert policy_of({}) is OnDuplicate.REFUSE
    assert policy_of({"dedupe_key": "orders", "on_duplicate": "return_existing"}) is OnDuplicate.RETURN_EXISTING
    with pytest.raises(Invalid, match="requires dedupe_key") as refused:
        policy_of({"on_duplicate": "refuse"})
    assert refused.value.field == "on_duplicate"


def test_equal_keys_in_a_batch_are_refused_naming_both_and_jobs_without_a_key_are_distinct():
    plain, other = replace(JOB, dedupe_key=None), replace(JOB, dedupe_key="other")
    check_distinct([plain, JOB, plain, other])
    with pytest.raises(Invalid, match=r"is the same as jobs\.1\.dedupe_key, 'orders'") as refused:
        check_distinct([plain, JOB, other, JOB])
    assert refused.value.field == "jobs.3.dedupe_key"


def test_a_refusal_names_the_existing_job_and_the_remedy():
    refusal = duplicate_of(JOB, JOB.unique_keys[0], "dedupe_key")
    assert (refusal.field, JOB.job_id in refusal.message) == ("dedupe_key", True)
    assert "return_existing" in refusal.message


def test_equal_names_in_a_batch_are_refused_unless_the_teams_differ():
    named = replace(JOB, dedupe_key=None, name="orders")
    check_distinct([named, replace(named, owner="billing"), replace(named, name=None), replace(named, name=None)])
    with pytest.raises(Invalid, match=r"as jobs\.0\.name, 'orders': remove one job, or change its name") as refused:
        check_distinct([named, named])
    assert refused.value.field == "jobs.1.name"
