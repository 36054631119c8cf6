"""The states of a job."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from punctual.domain.jobs.job import LIVE_STATES, Job, JobState
from punctual.domain.schedules.schedule import Now

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
JOB = Job(
    job_id="01m7j3myg0ab16wzvq72dx3zvq",
    name="n",
    owner="quality",
    created_by="ann",
    task="echo",
    schedule=Now(NOW),
    created_at=NOW,
    updated_at=NOW,
)


def test_a_job_is_live_until_it_is_done_deleted_or_cancelled():
    assert set(JobState) - LIVE_STATES == {"done", "deleted", "cancelled"}
    for state in JobState:
        assert replace(JOB, state=state).is_live is (state in LIVE_STATES)
    assert JOB.is_live
