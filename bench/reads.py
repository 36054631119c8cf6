"""Read units per request of the API, over 10,000 jobs and 100,000 executions.

Counted on the model of AWS, from the sizes of what DynamoDB returns: the emulator reports too little for queries. The
limits are stated in docs/api.md, for records below one kilobyte.
"""

from __future__ import annotations

from datetime import timedelta

from bench.report import Report
from punctual.domain.identity import execution_id
from tests.simulator.stored_lists import EXECUTIONS_PER_JOB, START, job_of, stored

JOBS = 10_000
JOB = job_of(JOBS // 2).job_id
EXECUTION = execution_id(JOB, START + timedelta(minutes=JOBS // 2))
LIMITS = {
    "/jobs?owner=finance": 80,
    "/jobs": 83,
    "/jobs?sort=name": 83,
    "/jobs?name=job-0": 83,
    "/jobs?tag=dataset:rare&sort=newest": 530,
    f"/jobs/{JOB}": 3,
    "/executions?owner=finance": 29,
    "/executions": 32,
    "/executions?tag=dataset:rare": 530,
    f"/jobs/{JOB}/executions": 50,
    f"/executions/{EXECUTION}": 1,
    "/calendar?from=2026-11-01T00:00:00Z&to=2026-11-15T00:00:00Z": 130,
    "/lane": 3,
}
"""By path."""


def measure() -> Report:
    report = Report(f"Read units of one request, over {JOBS:,} jobs and {JOBS * EXECUTIONS_PER_JOB:,} executions")
    with stored(JOBS) as api:
        for path, most in LIMITS.items():
            _, reads = api.get(path)
            report.limit(path.replace(EXECUTION, "…").replace(JOB, "…"), reads.units, most)
    return report
