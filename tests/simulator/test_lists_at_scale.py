"""Lists over 10,000 jobs and 100,000 executions: here and not in tests/integration, as moto reads whole tables.

The items are written to the tables directly. The model has no scan, so a list that scanned would fail.
"""

from __future__ import annotations

import json
from collections import Counter

from tests.simulator.stored_lists import Api, job_of, stored

JOB = job_of(3).job_id
NOVEMBER, DECEMBER = "from=2026-11-01T00:00:00Z", "to=2026-12-01T00:00:00Z"
LISTS = [
    "/jobs",
    "/jobs?sort=oldest",
    "/jobs?sort=name",
    "/jobs?name=JOB",
    "/jobs?sort=name&owner=finance",
    "/jobs?state=active&tag=dataset:orders",
    "/jobs?state=active,paused&task=echo&priority=normal",
    "/jobs?owner=finance",
    "/executions",
    "/executions?owner=finance",
    "/executions?status=succeeded&task=echo",
    "/executions?status=succeeded,failed&tag=dataset:orders",
    "/executions?from=2026-11-01T00:00:00Z&to=2026-11-01T00:10:00Z",
    f"/executions?job_id={JOB}",
    "/executions?status=running",
    "/executions?origin=schedule&job_name=JOB",
    "/executions?worker_id=worker-1",
    "/executions?deadline=met",
    f"/jobs/{JOB}/executions",
    f"/jobs/{JOB}/executions?{NOVEMBER}&{DECEMBER}",
    f"/jobs/{JOB}/executions?status=succeeded&tag=dataset:orders&origin=schedule&worker_id=worker-1&deadline=met",
    "/deadlines",
    f"/deadlines?state=on_track&owner=finance&{NOVEMBER}&to=2028-01-01T00:00:00Z",
    "/deadlines?task=echo&job_name=job&tag=dataset:live",
    "/operations",
    f"/calendar?{NOVEMBER}&to=2026-11-15T00:00:00Z",
    f"/calendar?{NOVEMBER}&to=2026-11-15T00:00:00Z&state=active&priority=normal&task=echo&owner=finance&tag=dataset:orders",
    f"/calendar?{NOVEMBER}&to=2026-11-15T00:00:00Z&name=job",
    "/queues?history=true",
    "/tasks",
]
"""The lists and their filters, each with at least four items."""
SHORT_LISTS = [
    f"/jobs/{JOB}/revisions",
    "/executions/summary?bucket=day&by=queue&owner=finance&" + NOVEMBER,
    "/calendars",
]
PAGED = ["/jobs", "/executions", f"/jobs/{JOB}/executions", "/deadlines", "/operations"]
"""Of them, the second page is compared, too."""
BOUNDED = {
    "long_lane": "adds what GET /lane reads",
    "total": "counts up to 10,000 entries of an index",
    "usage": "reads up to 500 jobs",
    "to of /executions/summary": "is now by default",
}
"""Parameters that are not compared, and why."""


def parameters_of(api: Api) -> set[str]:
    """Each list with each of its query parameters, as the OpenAPI document has them."""
    document, _ = api.get("/openapi.json")
    schemas, found = document["components"]["schemas"], set()
    for path, methods in document["paths"].items():
        schema = methods.get("get", {}).get("responses", {}).get("200", {})
        name = json.dumps(schema.get("content", {}).get("application/json", {}).get("schema", {})).rpartition("/")[2]
        if {"items", "cursor"} <= schemas.get(name.rstrip('"}'), {}).get("properties", {}).keys():
            names = {one["name"] for one in methods["get"].get("parameters", ()) if one["in"] == "query"}
            found |= {f"{one} of {path}" for one in names - {"limit", "cursor"}} | {path}
    return found


def compared() -> set[str]:
    """Each list with the parameters that ``LISTS`` and ``SHORT_LISTS`` have for it."""
    found = set()
    for one in LISTS + SHORT_LISTS:
        path, _, query = one.replace(JOB, "{job_id}", one.startswith("/jobs/")).partition("?")
        found |= {path} | {f"{parameter.partition('=')[0]} of {path}" for parameter in query.split("&") if parameter}
    return found


def test_a_page_needs_as_many_requests_over_100000_executions_as_over_ten_items() -> None:
    def requests_of(api: Api) -> dict[str, Counter[str]]:
        found = {}
        for path in LISTS + SHORT_LISTS:
            sized = f"{path}{'&' if '?' in path else '?'}limit=4"
            page, reads = api.get(sized if takes_limit(path) else path)
            assert path in SHORT_LISTS or len(page["items"]) >= 4, path
            found[path] = reads.requests
            if path in PAGED:
                page, reads = api.get(f"{sized}&cursor={page['cursor']}")
                assert len(page["items"]) == 4, path
                found[f"{path}, second page"] = reads.requests
        return found

    def takes_limit(path: str) -> bool:
        return not path.startswith(("/tasks", "/calendars", "/executions/summary"))

    with stored(10) as few:
        expected = requests_of(few)
        documented = parameters_of(few)
        assert {"/jobs", "/queues", "tag of /deadlines"} <= documented
        left_out = documented - compared()
        assert {one for one in left_out if one not in BOUNDED and one.partition(" ")[0] not in BOUNDED} == set()
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
