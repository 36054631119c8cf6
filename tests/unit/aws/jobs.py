"""A job with many fields, and random JSON for its parameters."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from punctual.domain.identity import new_job_id
from punctual.domain.jobs.deadline import Deadline
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Priority
from punctual.domain.schedules.every import Every

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
JOB = Job(
    job_id=new_job_id(NOW),
    name="n",
    owner="quality",
    created_by="ann",
    task="echo",
    schedule=Every(60, NOW),
    created_at=NOW,
    updated_at=NOW,
    deadline=Deadline(within_seconds=30),
    retry=RetryPolicy(5, 1.5, 2.5, 600),
    priority=Priority.LOW,
    dedupe_key="orders",
    tags={"dataset": "orders"},
)
