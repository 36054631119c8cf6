"""Cycle detection and topological order of dependent jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job
from punctual.domain.planning.dependency_graph import dependency_graph_of, find_cycle, format_cycle, upstreams_first
from punctual.domain.schedules.schedule import Now

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
nodes = st.sampled_from("abcdefg")
graphs = st.dictionaries(nodes, st.lists(nodes, unique=True, max_size=4), max_size=7)


def reaches(graph: dict[str, list[str]], start: str, goal: str) -> bool:
    """Follow all paths of up to as many steps as there are nodes."""
    reached = {start}
    for _ in range(8):
        reached = {upstream for node in reached for upstream in graph.get(node, ())}
        if goal in reached:
            return True
    return False


@given(graphs)
def test_a_cycle_is_found_exactly_if_a_node_reaches_itself(graph: dict[str, list[str]]) -> None:
    cycle = find_cycle(graph)
    assert (cycle is not None) == any(reaches(graph, node, node) for node in graph)
    if cycle is not None:
        assert cycle[0] == cycle[-1]
        assert all(upstream in graph[node] for node, upstream in pairwise(cycle))


@given(graphs)
def test_in_an_acyclic_graph_each_job_comes_after_its_upstreams(graph: dict[str, list[str]]) -> None:
    if find_cycle(graph) is not None:
        return
    jobs = [job(name, *graph[name]) for name in graph]
    order = [job.job_id for job in upstreams_first(jobs)]
    assert sorted(order) == sorted(graph)
    for name in graph:
        for upstream in set(graph[name]) & graph.keys():
            assert order.index(upstream) < order.index(name)


def test_a_chain_of_a_thousand_jobs_does_not_exceed_the_recursion_limit() -> None:
    chain = {str(n): [str(n + 1)] for n in range(1000)}
    assert find_cycle(chain) is None
    cycle = find_cycle(chain | {"1000": ["0"]})
    assert cycle is not None
    assert len(cycle) == 1002


def test_upstreams_outside_the_given_jobs_are_left_out_of_the_graph() -> None:
    assert dependency_graph_of([job("a", "b", "elsewhere"), job("b")]) == {"a": ["b"], "b": []}


def test_jobs_without_upstreams_keep_their_order() -> None:
    jobs = [job("b"), job("a")]
    assert upstreams_first(jobs) == jobs


def test_a_cycle_is_formatted_with_arrows_and_a_long_one_is_shortened() -> None:
    assert format_cycle(["a", "b", "a"]) == "a → b → a"
    long = format_cycle([str(n) for n in range(100)])
    assert long.startswith("0 → 1 → ")
    assert "→ … 80 more … →" in long
    assert long.endswith(" → 98 → 99")


def job(job_id: str, *upstreams: str) -> Job:
    return Job(
        job_id=job_id,
        name=job_id,
        owner="team",
        created_by="ann",
        task="echo",
        schedule=Now(NOW),
        created_at=NOW,
        updated_at=NOW,
        depends_on=tuple(Dependency(one) for one in upstreams),
    )
