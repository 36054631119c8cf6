"""Lists over 10,000 jobs and 100,000 executions: here and not in tests/integration, as moto reads whole tables.

The items are written to the tables directly. The model has no scan, so a list that scanned would fail.
"""

from __future__ import annotations

from collections import Counter

from tests.simulator.stored_lists import Api, job_of, stored

JOB = job_of(3).job_id
LISTS = [
    "/jobs",
    "/jobs?sort=oldest",
    "/jobs?sort=name",
    "/jobs?name=JOB",
    "/jobs?state=active&tag=dataset:orders",
    "/jobs?owner=finance",
    "/executions",
    "/executions?owner=finance",
    "/executions?status=succeeded&task=echo",
    "/executions?from=2026-11-01T00:00:00Z&to=2026-11-01T00:10:00Z",
    f"/executions?job_id={JOB}",
    f"/jobs/{JOB}/executions",
    "/executions?status=running",
    "/executions?origin=schedule",
    "/executions?worker_id=worker-1",
    "/executions?deadline=met",
    "/deadlines",
    "/deadlines?state=on_track&owner=finance",
    "/operations",
    "/calendar?from=2026-11-01T00:00:00Z&to=2026-11-15T00:00:00Z",
]


def test_a_page_needs_as_many_requests_over_100000_executions_as_over_ten_items() -> None:
    def requests_of(api: Api) -> dict[str, Counter[str]]:
        found = {}
        for path in LISTS:
            page, reads = api.get(f"{path}{'&' if '?' in path else '?'}limit=4")
            assert len(page["items"]) == 4, path
            found[path] = reads.requests
        return found

    with stored(10) as few:
        expected = requests_of(few)
    with stored(10_000) as many:
        assert requests_of(many) == expected
        for query in ("owner=finance", "sort=name&owner=finance", "name=job-&owner=finance"):
            page, reads = many.get(f"/jobs?{query}")
            assert (len(page["items"]), reads.units <= 150) == (50, True), (query, reads)
        page, reads = many.get("/executions?owner=finance")
        assert (len(page["items"]), reads.units <= 30) == (50, True), reads
        for path in ("/jobs?tag=dataset:rare&sort=newest", "/executions?tag=dataset:rare"):
            page, reads = many.get(path)
            assert (page["items"], page["cursor"] is not None, reads.records) == ([], True, 1000), path
            assert reads.units <= 530, (path, reads)
        for path, total in (
            ("/executions", (10_000, False)),
            ("/executions?from=2026-11-01T00:00:00Z&to=2026-11-01T01:00:00Z", (555, True)),
            ("/jobs", (10_000, True)),
            ("/jobs?owner=finance&state=active,paused", (4_000, True)),
            ("/jobs?sort=name&name=job-00", (900, True)),
            ("/jobs?task=echo", (None, None)),
        ):
            page, _ = many.get(f"{path}{'&' if '?' in path else '?'}total=true")
            assert (page["total"], page["total_is_exact"]) == total, path
