"""``GET /jobs/{id}?include=graph``: the upstreams and dependants of a job, direct and indirect."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from punctual.stages.api import job_graph
from tests.integration.test_statistics import YEARLY, a_job, get, run
from tests.integration.world import World


def test_a_job_includes_its_upstreams_and_dependants(world: World) -> None:
    first, second = a_job(world), a_job(world)
    third = a_job(world, depends_on=[{"job": first["job_id"]}, {"job": second["job_id"], "condition": "finished"}])
    run(world, first, 1, succeeds=False)
    graph = get(world, f"/jobs/{third['job_id']}?include=graph")["graph"]
    assert [(one["job_id"], one["condition"]) for one in graph["upstreams"]] == [
        (first["job_id"], "succeeded"),
        (second["job_id"], "finished"),
    ]
    assert {one["job_name"] for one in graph["upstreams"]} == {None}
    assert [(one["last_status"], one["running"]) for one in graph["upstreams"]] == [("failed", 0), (None, 0)]
    assert graph["dependants"] == []
    graph = get(world, f"/jobs/{second['job_id']}?include=graph")["graph"]
    assert [(one["job_id"], one["condition"]) for one in graph["dependants"]] == [(third["job_id"], "finished")]
    assert get(world, f"/jobs/{third['job_id']}?include=next,graph")["graph"]["dependants"] == []


def dependants(world: World, job: dict[str, Any]) -> set[str]:
    return {one["job_id"] for one in get(world, f"/jobs/{job['job_id']}?include=graph")["graph"]["dependants"]}


def test_a_job_includes_dependants_of_other_teams_and_not_only_recent_jobs(world: World) -> None:
    upstream = a_job(world)
    submission = {"task": "echo", "schedule": YEARLY, "depends_on": [{"job": upstream["job_id"]}]}
    both = "operator team:other team:data-quality"
    status, dependant = world.request("POST", "/jobs", {**submission, "owner": "other"}, groups=both)
    assert (status, dependant["owner"]) == (201, "other")
    own = a_job(world, depends_on=submission["depends_on"])
    others = [{"task": "echo", "schedule": YEARLY}] * 501
    assert world.request("POST", "/jobs/batch", {"jobs": others})[0] == 201
    assert dependants(world, upstream) == {own["job_id"], dependant["job_id"]}


def test_the_dependants_of_a_job_follow_edits_and_ends(world: World) -> None:
    first, second = a_job(world), a_job(world)
    ids = [first["job_id"], second["job_id"]]
    edited, deleted = (a_job(world, depends_on=[{"job": one}]) for one in ids)
    assert world.request("PATCH", f"/jobs/{edited['job_id']}", {"depends_on": [{"job": ids[1]}]})[0] == 200
    assert (dependants(world, first), dependants(world, second)) == (set(), {edited["job_id"], deleted["job_id"]})
    assert world.request("DELETE", f"/jobs/{deleted['job_id']}")[0] == 200
    assert dependants(world, second) == {edited["job_id"]}
    left = {one["job_id"]["S"]: "expires_at" in one for one in world.items("jobs")}
    assert {name: expires for name, expires in left.items() if "dependant" in name} == {
        f"#dependant#{ids[1]}#{edited['job_id']}": False,
        f"#dependant#{ids[1]}#{deleted['job_id']}": True,
    }


def graph_of(world: World, job: dict[str, Any]) -> dict[str, Any]:
    graph: dict[str, Any] = get(world, f"/jobs/{job['job_id']}?include=graph")["graph"]
    return graph


def chain_of(world: World, length: int) -> list[dict[str, Any]]:
    jobs = [a_job(world)]
    while len(jobs) < length:
        jobs.append(a_job(world, depends_on=[{"job": jobs[-1]["job_id"], "condition": "finished"}]))
    return jobs


def test_the_graph_has_indirect_jobs_in_both_directions_with_their_edges(world: World) -> None:
    first, second, third, fourth, fifth = chain_of(world, 5)
    side = a_job(world, depends_on=[{"job": first["job_id"]}])
    run(world, first, 1, succeeds=False)
    graph = graph_of(world, third)
    assert [one["job_id"] for one in graph["upstreams"]] == [second["job_id"]]
    assert [one["job_id"] for one in graph["dependants"]] == [fourth["job_id"]]
    assert [(one["job_id"], one["last_status"]) for one in graph["indirect"]] == [
        (first["job_id"], "failed"),
        (fifth["job_id"], None),
    ]
    chain = [first, second, third, fourth, fifth]
    assert {(one["upstream"], one["dependant"]) for one in graph["edges"]} == {
        (one["job_id"], other["job_id"]) for one, other in pairwise(chain)
    }
    assert {one["condition"] for one in graph["edges"]} == {"finished"}
    assert graph["is_complete"]
    assert side["job_id"] not in str(graph)


def test_the_graph_says_when_it_is_not_complete(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = chain_of(world, 5)
    monkeypatch.setattr(job_graph, "MAX_JOBS", 2)
    graph = graph_of(world, jobs[2])
    assert [len(graph[name]) for name in ("upstreams", "dependants", "indirect", "edges")] == [1, 1, 0, 2]
    assert not graph["is_complete"]
    monkeypatch.setattr(job_graph, "MAX_JOBS", 99)
    monkeypatch.setattr(job_graph, "MAX_READ", 1)
    assert [one["job_id"] for one in graph_of(world, jobs[0])["dependants"]] == [jobs[1]["job_id"]]
    assert not graph_of(world, jobs[0])["is_complete"]
    monkeypatch.setattr(job_graph, "MAX_READ", 125)
    monkeypatch.setattr(job_graph, "MAX_SEARCHES", 2)
    graph = graph_of(world, jobs[0])
    assert [one["job_id"] for one in graph["indirect"]] == [jobs[2]["job_id"]]
    assert not graph["is_complete"]
