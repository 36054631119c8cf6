"""Read units per request of the API, over 10,000 jobs, 100,000 ended executions and 10,000 that run.

Counted on the model of AWS, from the sizes of what DynamoDB returns: the emulator reports too little for queries. The
limits are stated in docs/api.md, for records below one kilobyte.
"""

from __future__ import annotations

from datetime import timedelta

from bench.report import Report
from punctual.domain.identity import execution_id
from punctual.domain.requests.page import encode_cursor
from punctual.stages.api.browse import HOLDING
from tests.simulator.stored_lists import EXECUTIONS_PER_JOB, START, Api, job_of, stored
from tests.simulator.stored_live import live_id

JOBS = 10_000
JOB = job_of(JOBS // 2).job_id
EXECUTION = execution_id(JOB, START + timedelta(minutes=JOBS // 2))
FIRST_JOB = job_of(0)
"""It has dependants, a month of statistics, and an execution with log lines and a result."""
LOGGED, LIVE = execution_id(FIRST_JOB.job_id, START), live_id(FIRST_JOB, START)
HOLDING_CURSOR = encode_cursor(HOLDING + live_id(job_of(JOBS // 2 + 1), START))
"""Of the running executions, those that hold the gate of their job."""
NAMES = {HOLDING_CURSOR: "…", EXECUTION: "…", LOGGED: "…", LIVE: "… (live)", JOB: "…", FIRST_JOB.job_id: "…"}
LIMITS = {
    "/jobs?owner=finance": 150,
    "/jobs": 150,
    "/jobs?sort=name": 152,
    "/jobs?name=job-0": 150,
    "/jobs?total=true": 220,
    "/jobs?tag=dataset:rare&sort=newest": 530,
    f"/jobs/{JOB}": 75,
    f"/jobs/{FIRST_JOB.job_id}?include=statistics,next,graph": 160,
    f"/jobs/{FIRST_JOB.job_id}/statistics?from=2026-11-01": 3,
    f"/jobs/{JOB}/executions": 10,
    "/executions?owner=finance": 29,
    "/executions": 32,
    "/executions?status=running": 30,
    f"/executions?status=running&cursor={HOLDING_CURSOR}": 50,
    "/executions?total=true": 165,
    "/executions?tag=dataset:rare": 530,
    "/executions/summary": 5,
    f"/executions/{EXECUTION}": 1,
    f"/executions/{LIVE}": 4,
    f"/executions/{LOGGED}/logs": 3,
    f"/executions/{LOGGED}/result": 1,
    "/deadlines": 260,
    "/overview": 430,
    "/queues": 2,
    "/queues?history=true": 18,
    "/queues/normal": 17,
    "/lane": 35,
    "/calendar?from=2026-11-01T00:00:00Z&to=2026-11-15T00:00:00Z": 135,
    "/operations": 1,
    "/operations/01m7j3myg0ab16wzvq72d00000": 1,
    f"/jobs/{FIRST_JOB.job_id}/revisions": 2,
    "/tasks": 0,
    "/tasks?usage=true": 510,
    "/calendars": 0,
    "/config": 0,
    "/me": 0,
}
"""By path."""


def measure() -> Report:
    ended = JOBS * EXECUTIONS_PER_JOB
    report = Report(f"Read units of one request, over {JOBS:,} jobs, {ended:,} ended and {JOBS:,} running executions")
    with stored(JOBS) as api:
        _measure_queues(api)
        for path, most in LIMITS.items():
            _, reads = api.get(path)
            report.limit(_anonymous(path), reads.units, most)
    return report


def _measure_queues(api: Api) -> None:
    """Have the monitor store a sample with rates, the forecast of the lane, and history."""
    for _ in range(2):
        api.deployment.kernel.now += timedelta(minutes=1)
        api.deployment.call("monitor", {"do": "tick"})


def _anonymous(path: str) -> str:
    for name, shown in NAMES.items():
        path = path.replace(name, shown)
    return path
