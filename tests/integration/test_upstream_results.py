"""``context.upstream``: what a task reads about the upstream executions that it waited for."""

from __future__ import annotations

import io
import json
import logging
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError

from punctual import Context
from punctual.aws.reporter_client import ReporterClient
from punctual.domain.long_lane.assignment import read_assignment
from punctual.runtime.container.main import ContainerRunner
from punctual.runtime.tasks.registry import Catalog
from tests.integration.dependants import after, batch, only_execution
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.long_lane import LongLane
from tests.integration.test_dependencies_retried import failed_upstream, retry
from tests.integration.world import World
from tests.recipes import ROOT, recipes_of

LARGE = 40_000
"""Bytes of a result that is stored in S3."""


def sees(world: World, body: Callable[[Context], Any], **submission: Any) -> dict[str, Any]:
    """Submit a dependant whose task runs ``body``. Returns its execution."""
    TASK_BODIES.append(body)
    job = world.submit(task="test.scripted", retry={"max_attempts": 1}, **submission)
    world.run_until_idle()
    return only_execution(world, job)


def summary(context: Context) -> dict[str, Any]:
    return {name: [one.status, one.result] for name, one in context.upstream.items()}


# fan-in


def test_a_task_reads_the_results_of_all_its_upstreams_by_name_and_by_job_id(world: World) -> None:
    jobs = batch(
        world,
        {"name": "orders", "parameters": {"rows": 3}},
        {"name": "payments", "parameters": {"rows": 4}},
        {
            "name": "report",
            "task": "test.scripted",
            "depends_on": [{"job": "orders"}, {"job": "payments"}],
        },
    )

    def total(context: Context) -> dict[str, Any]:
        orders, payments = context.upstream["orders"], context.upstream[jobs[1]["job_id"]]
        assert len(context.upstream) == 2
        return {
            "rows": orders.result["rows"] + payments.result["rows"],
            "from": {one.name: [one.job_id, one.execution_id] for one in context.upstream.values()},
        }

    TASK_BODIES.append(total)
    world.run_until_idle()
    result = only_execution(world, jobs[2])["result"]["value"]
    ids = {job["name"]: [job["job_id"], only_execution(world, job)["execution_id"]] for job in jobs[:2]}
    assert result == {"rows": 7, "from": ids}


def test_the_recipe_gathers_the_results_of_two_jobs(world: World) -> None:
    """The batch of ``docs/recipes/dependencies.md``."""
    [recipe] = [one for one in recipes_of(ROOT / "docs/recipes/dependencies.md") if one.name == "results"]
    submission = json.loads(recipe.code.partition("-d '")[2].partition("'")[0])
    status, answer = world.request("POST", "/jobs/batch", submission)
    assert status == 201, answer
    world.run_until_idle()
    [report] = world.executions(answer["items"][2]["job_id"])
    assert recipe.matches(json.dumps({"result.value": report["result"]["value"]}))


def test_a_large_result_is_read_from_s3(world: World) -> None:
    load = world.submit(name="load", task="test.large", parameters={"bytes": LARGE})
    report = sees(world, lambda context: len(context.upstream["load"].result), depends_on=after(load))
    assert report["result"]["value"] == LARGE


def test_a_task_without_upstreams_gets_an_error_that_says_so(world: World) -> None:
    ended = sees(world, lambda context: [len(context.upstream), context.upstream["load"]])
    assert ended["status"] == "failed"
    assert "there is no upstream 'load', only: none" in ended["error"]["message"]


def test_two_upstreams_of_one_name_are_read_by_job_id(world: World) -> None:
    first = world.submit(name="load", parameters={"n": 1})
    world.run_until_idle()  # once it has ended, another job may have its name
    second = world.submit(name="load", parameters={"n": 2})
    ended = sees(
        world,
        lambda context: [context.upstream[name].result["n"] for name in context.upstream],
        depends_on=after(first, second),
    )
    assert ended["result"]["value"] == [1, 2]
    refused = sees(world, lambda context: context.upstream["load"], depends_on=after(first, second))
    assert "2 upstream jobs are named 'load': use a job id" in refused["error"]["message"]


def test_an_execution_that_reads_no_upstream_pays_nothing(world: World) -> None:
    """Neither a request nor an import."""
    load = world.submit(name="load")
    world.run_until_idle()
    world.submit(depends_on=after(load))
    world.deliver_streams()
    sys.modules.pop("punctual.runtime.tasks.upstreams", None)
    reads: list[str] = []
    client = world.function("worker").executions.table.client
    event = "provide-client-params.dynamodb.BatchGetItem"
    client.meta.events.register(event, lambda params, **_: reads.extend(params["RequestItems"]))
    world.run_until_idle()
    assert "executions" not in reads
    assert "punctual.runtime.tasks.upstreams" not in sys.modules


# which execution counts


def test_an_upstream_that_failed_has_its_status_and_no_result(world: World) -> None:
    first, _ = failed_upstream(world)
    ended = sees(world, summary, depends_on=after(first, condition="finished"))
    assert ended["result"]["value"] == {"first": ["failed", None]}


def test_the_retry_that_met_the_condition_counts_also_after_a_later_retry(world: World) -> None:
    first, execution_id = failed_upstream(world)
    good = retry(world, execution_id, times=0)
    world.run_until_idle()
    TASK_BODIES.append(lambda context: context.upstream["first"].execution_id)
    second = world.submit(task="test.scripted", depends_on=after(first))
    world.deliver_streams()
    world.deliver_streams()  # the dependant may start
    assert retry(world, good, times=9) != good
    world.run_until_idle()
    assert only_execution(world, second)["result"]["value"] == good


def test_a_recurring_dependant_reads_the_execution_of_its_window(world: World) -> None:
    schedule = {"cron": "0 * * * *"}
    first = world.submit(name="load", task="test.show_context", schedule=schedule)
    second = world.submit(task="test.scripted", schedule=schedule, depends_on=after(first))

    def compare(context: Context) -> list[bool]:
        load = context.upstream["load"]
        return [load.window == context.window, load.result["due"] == context.due.isoformat()]

    TASK_BODIES.extend([compare] * 3)
    span = {"from": "2026-11-16T10:00:00Z", "to": "2026-11-16T11:30:00Z"}
    for job in (first, second):
        assert world.request("POST", f"/jobs/{job['job_id']}/backfill", span)[0] == 201
    world.run_until_idle()
    results = [one["result"]["value"] for one in world.executions(second["job_id"]) if one["status"] == "succeeded"]
    assert results == [[True, True]] * 3  # 10:00, 11:00, and 12:00 by the schedule


def test_a_manual_retry_reads_the_same_executions_as_the_execution_that_it_retries(world: World) -> None:
    load = world.submit(name="load", parameters={"rows": 1})

    def fail(_context: Context) -> None:
        raise ValueError("bad luck")

    ended = sees(world, fail, depends_on=after(load))
    assert ended["status"] == "failed"
    TASK_BODIES.append(summary)
    again = retry(world, ended["execution_id"])
    world.run_until_idle()
    assert world.execution(again)["result"]["value"] == {"load": ["succeeded", {"rows": 1}]}


def test_a_manual_execution_reads_the_upstreams_that_exist_when_it_is_requested(world: World) -> None:
    first, _ = failed_upstream(world)
    second = world.submit(task="test.scripted", depends_on=after(first))
    world.run_until_idle()
    assert only_execution(world, second)["status"] == "skipped"
    TASK_BODIES.append(summary)
    again = retry(world, only_execution(world, second)["execution_id"])
    world.run_until_idle()
    assert world.execution(again)["result"]["value"] == {"first": ["failed", None]}


# expiry


def test_an_upstream_that_has_expired_fails_the_task_for_good(world: World) -> None:
    load = world.submit(name="load")
    world.run_until_idle()

    def read(context: Context) -> Any:
        name = context.upstream["load"].execution_id
        world.dynamodb.delete_item(
            TableName="executions", Key={"job_id": {"S": load["job_id"]}, "execution_id": {"S": name}}
        )
        return context.upstream["load"].result

    ended = sees(world, read, depends_on=after(load))
    assert ended["error"]["type"] == "Fatal"
    message = ended["error"]["message"]
    assert message.startswith("upstream load: execution 20261116T")
    assert message.endswith("has expired")


def test_a_large_result_that_has_expired_fails_the_task_for_good(world: World) -> None:
    load = world.submit(name="load", task="test.large", parameters={"bytes": LARGE})
    world.run_until_idle()
    [stored] = world.s3.list_objects_v2(Bucket="results")["Contents"]
    world.s3.delete_object(Bucket="results", Key=stored["Key"])
    ended = sees(
        world,
        lambda context: [context.upstream["load"].status, context.upstream["load"].result],
        depends_on=after(load),
    )
    assert (ended["status"], ended["error"]["message"]) == ("failed", "upstream load: its result has expired")


# the long lane


@dataclass
class Reporter:
    """The Lambda client of a container: it calls the reporter."""

    world: World

    def invoke(self, *, Payload: bytes, **_: Any) -> dict[str, Any]:
        answer = self.world.call("reporter", json.loads(Payload))
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


@pytest.fixture
def links(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Serve pre-signed links from the results bucket. Returns the keys that were requested."""
    requested: list[str] = []

    def urlopen(link: str, **_: Any) -> Any:
        key = urlsplit(link).path.lstrip("/")
        requested.append(key)
        try:
            return world.s3.get_object(Bucket="results", Key=key)["Body"]
        except ClientError:
            raise HTTPError(link, 403, "Forbidden", SimpleNamespace(), None) from None  # type: ignore[arg-type]

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return requested


def run_in_container(world: World, lane: LongLane, job: dict[str, Any], body: Callable[[Context], Any]) -> Any:
    """Run the only part of ``job`` with the real runner of the containers. Returns the execution."""
    assert lane.next_parts(job)["parts"] == ["all"]
    container = lane.container(job)
    client = ReporterClient("reporter", read_assignment(container.grant["assignment"]), Reporter(world))
    TASK_BODIES.append(body)
    assert ContainerRunner(client, Catalog(), logging.getLogger()).run(container.token, container.task_arn)
    lane.next_parts(job)
    world.run_until_idle()
    return lane.execution(job)


def test_a_container_reads_its_upstreams_through_the_reporter(world: World, lane: LongLane, links: list[str]) -> None:
    small = world.submit(name="small", parameters={"rows": 5})
    large = world.submit(name="large", task="test.large", parameters={"bytes": LARGE})
    world.run_until_idle()
    job = lane.submit(task="test.scripted", depends_on=after(small, large))
    world.run_until_idle()

    def read(context: Context) -> list[Any]:
        upstream = context.upstream
        found = [upstream["small"].result, upstream["large"].status, upstream["small"].window]
        assert links == []
        return [*found, len(upstream["large"].result), len(upstream["large"].result)]

    ended = run_in_container(world, lane, job, read)
    assert ended["result"]["value"] == [{"rows": 5}, "succeeded", None, LARGE, LARGE]
    assert len(links) == 1


def test_a_result_that_has_expired_fails_the_task_of_a_container(
    world: World, lane: LongLane, links: list[str]
) -> None:
    large = world.submit(name="large", task="test.large", parameters={"bytes": LARGE})
    world.run_until_idle()
    [stored] = world.s3.list_objects_v2(Bucket="results")["Contents"]
    world.s3.delete_object(Bucket="results", Key=stored["Key"])
    job = lane.submit(task="test.scripted", depends_on=after(large))
    world.run_until_idle()
    ended = run_in_container(world, lane, job, lambda context: context.upstream["large"].result)
    assert ended["error"]["message"] == "upstream large: its result has expired"
    assert len(links) == 1


def test_a_dependant_of_the_long_lane_and_its_dependant_pass_results_on(world: World, lane: LongLane) -> None:
    job = lane.submit(name="train", task="test.scripted")
    run_in_container(world, lane, job, lambda _context: {"accuracy": 0.9})
    ended = sees(world, summary, depends_on=after(job))
    assert ended["result"]["value"] == {"train": ["succeeded", {"accuracy": 0.9}]}


def test_a_container_reads_only_the_upstreams_of_its_own_execution(world: World, lane: LongLane) -> None:
    other, load = world.submit(name="other"), world.submit(name="load")
    world.run_until_idle()
    job = lane.submit(depends_on=after(load))
    world.run_until_idle()
    lane.next_parts(job)
    container = lane.container(job)
    assert container.claim()["upstreams"] == [["load", only_execution(world, load)["execution_id"]]]
    other_id = only_execution(world, other)["execution_id"]
    assert container.report("upstreams", only=other_id) == {"ok": True, "items": []}
    [item] = container.report("upstreams", only=None)["items"]
    assert item["execution_id"] == only_execution(world, load)["execution_id"]
    forged = {**container.assignment, "key": "guessed"}
    answer = world.call("reporter", {"do": "upstreams", "assignment": forged, "only": None})
    assert answer == {"ok": False, "items": []}
