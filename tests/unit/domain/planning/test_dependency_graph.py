"""Circles in who waits for whom, and the order without them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job
from punctual.domain.planning.dependency_graph import cycle_in, graph_of, shown, upstreams_first
from punctual.domain.schedules.schedule import Now

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
nodes = st.sampled_from("abcdefg")
graphs = st.dictionaries(nodes, st.lists(nodes, unique=True, max_size=4), max_size=7)


def reaches(graph: dict[str, list[str]], start: str, goal: str) -> bool:
    """By trying every way of up to as many steps as there are nodes."""
    there = {start}
    for _ in range(8):
        there = {upstream for node in there for upstream in graph.get(node, ())}
        if goal in there:
            return True
    return False


@given(graphs)
def test_a_circle_is_found_exactly_where_a_node_reaches_itself(graph: dict[str, list[str]]) -> None:
    circle = cycle_in(graph)
    assert (circle is not None) == any(reaches(graph, node, node) for node in graph)
    if circle is not None:
        assert circle[0] == circle[-1]
        assert all(upstream in graph[node] for node, upstream in pairwise(circle))


@given(graphs)
def test_without_a_circle_each_comes_after_all_that_it_waits_for(graph: dict[str, list[str]]) -> None:
    if cycle_in(graph) is not None:
        return
    jobs = [job(name, *graph[name]) for name in graph]
    order = [one.job_id for one in upstreams_first(jobs)]
    assert sorted(order) == sorted(graph)
    for name in graph:
        for upstream in set(graph[name]) & graph.keys():
            assert order.index(upstream) < order.index(name)


def test_a_chain_of_a_thousand_is_walked_without_recursion() -> None:
    chain = {str(n): [str(n + 1)] for n in range(1000)}
    assert cycle_in(chain) is None
    circle = cycle_in(chain | {"1000": ["0"]})
    assert circle is not None
    assert len(circle) == 1002


def test_a_graph_has_only_the_jobs_that_it_is_made_of() -> None:
    assert graph_of([job("a", "b", "elsewhere"), job("b")]) == {"a": ["b"], "b": []}


def test_jobs_that_wait_for_nothing_stay_as_they_are() -> None:
    jobs = [job("b"), job("a")]
    assert upstreams_first(jobs) == jobs


def test_a_circle_is_shown_with_arrows_and_a_long_one_without_its_middle() -> None:
    assert shown(["a", "b", "a"]) == "a → b → a"
    long = shown([str(n) for n in range(100)])
    assert long.startswith("0 → 1 → ")
    assert "→ … 80 more … →" in long
    assert long.endswith(" → 98 → 99")


def job(job_id: str, *upstreams: str) -> Job:
    return Job(
        job_id=job_id,
        name=job_id,
        owner="team",
        created_by="somebody",
        task="echo",
        schedule=Now(NOW),
        created_at=NOW,
        updated_at=NOW,
        depends_on=tuple(Dependency(one) for one in upstreams),
    )
