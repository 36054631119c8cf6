"""The log of an execution: paged in both directions, filtered, followed while it runs, in both lanes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from punctual.aws import clients as aws
from punctual.domain.instant import from_text
from punctual.runtime.tasks.execution_log import MAX_CHUNK_BYTES
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.long_lane import NO_BACKOFF, Container, LongLane, start_part
from tests.integration.world import World

CHUNK = {"padding": "x" * 20_000}
"""Fields so large that ten lines fill a chunk."""


def log(world: World, execution_id: str, query: str = "") -> dict[str, Any]:
    status, page = world.request("GET", f"/executions/{execution_id}/logs?{query}")
    assert status == 200, page
    return dict(page)


def messages(page: dict[str, Any]) -> list[str]:
    return [line["message"] for line in page["items"]]


def run(world: World, body: Callable[[Any], Any], **submission: Any) -> str:
    """Run a job whose task is ``body``, and return its execution's id."""
    TASK_BODIES.append(body)
    job = world.submit(task="test.scripted", **submission)
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    return str(execution["execution_id"])


def numbered(count: int, first: int = 0) -> Callable[[Any], None]:
    """A task that writes ``count`` lines. A second passes after each."""

    def body(context: Any) -> None:
        for number in range(first, first + count):
            context.logger.info(f"line {number}", extra={"n": number})

    return body


def test_a_line_has_its_own_time_level_attempt_and_fields(world: World) -> None:
    written: list[datetime] = []

    def body(context: Any) -> None:
        for level in (logging.INFO, logging.ERROR):
            written.append(world.now)
            context.logger.log(level, "row %d", level, extra={"table": "orders"})
            world.pass_time(5)

    page = log(world, run(world, body))
    first, second = page["items"]
    assert {**first, "at": ""} == {
        **{"at": "", "level": "INFO", "attempt": 1, "part": None},
        **{"message": "row 20", "fields": {"table": "orders"}},
    }
    assert (second["level"], second["message"]) == ("ERROR", "row 40")
    for line, at in zip(page["items"], written, strict=True):
        assert abs(from_text(line["at"]) - at) < timedelta(seconds=1)
    assert (page["total"], page["complete"], page["before"]) == (2, True, None)


def test_more_than_a_thousand_lines_can_be_read_forward_page_by_page(world: World) -> None:
    execution_id = run(world, numbered(2500))
    page = log(world, execution_id)
    found = messages(page)
    assert len(found) == 1000
    while not page["complete"]:
        page = log(world, execution_id, f"after={page['after']}")
        assert page["total"] == 2500
        found += messages(page)
    assert found == [f"line {number}" for number in range(2500)]


def test_the_last_lines_can_be_read_and_then_the_lines_before_them(world: World) -> None:
    execution_id = run(world, numbered(250))
    page = log(world, execution_id, "tail=100")
    assert messages(page) == [f"line {number}" for number in range(150, 250)]
    assert page["complete"]
    found = messages(page)
    while page["before"]:
        page = log(world, execution_id, f"before={page['before']}&limit=60")
        found = messages(page) + found
    assert found == [f"line {number}" for number in range(250)]


def test_a_page_can_be_left_in_both_directions(world: World) -> None:
    execution_id = run(world, numbered(30))
    first = log(world, execution_id, "limit=10")
    second = log(world, execution_id, f"limit=10&after={first['after']}")
    assert messages(second) == [f"line {number}" for number in range(10, 20)]
    assert messages(log(world, execution_id, f"limit=10&before={second['before']}")) == messages(first)
    third = log(world, execution_id, f"limit=10&after={second['after']}")
    back = log(world, execution_id, f"limit=10&before={third['before']}")
    assert messages(back) == messages(second)
    assert messages(log(world, execution_id, f"limit=10&after={back['after']}")) == messages(third)


def test_lines_can_be_filtered_by_level_and_text(world: World) -> None:
    def body(context: Any) -> None:
        for number in range(100):
            context.logger.info(f"line {number}")
        context.logger.warning("slow", extra={"host": "Db-7"})
        context.logger.error("broken")

    execution_id = run(world, body)
    severe = log(world, execution_id, "level=WARNING")
    assert (messages(severe), severe["total"]) == (["slow", "broken"], 2)
    assert messages(log(world, execution_id, "level=WARNING&tail=1")) == ["broken"]
    assert messages(log(world, execution_id, "search=LINE%207")) == ["line 7", *(f"line 7{n}" for n in range(10))]
    assert messages(log(world, execution_id, "search=db-7")) == ["slow"]
    page = log(world, execution_id, "search=line&tail=2")
    assert (messages(page), page["total"]) == (["line 98", "line 99"], 102)


def test_a_running_execution_can_be_followed(world: World) -> None:
    followed: list[str] = []
    cursors: list[str] = []

    def read(context: Any) -> None:
        page = log(world, context.execution_id, f"after={cursors[-1]}" if cursors else "")
        assert not page["complete"]
        cursors.append(page["after"])
        followed.extend(messages(page))

    def body(context: Any) -> None:
        read(context)
        for number in range(MAX_CHUNK_BYTES // 20_000 * 2 + 2):
            context.logger.info(f"line {number}", extra=CHUNK)
            read(context)
        assert followed == [f"line {number}" for number in range(len(followed))]
        assert len(followed) >= 20

    execution_id = run(world, body)
    assert world.execution(execution_id)["status"] == "succeeded"
    last = log(world, execution_id, f"after={cursors[-1]}")
    assert last["complete"]
    assert [*followed, *messages(last)] == [f"line {number}" for number in range(last["total"])]


def test_the_lines_of_all_attempts_are_in_order(world: World) -> None:
    def fail(context: Any) -> None:
        context.logger.info(f"attempt {context.attempt}")
        if context.attempt < 3:
            raise RuntimeError("again")

    TASK_BODIES.extend([fail, fail])
    execution_id = run(world, fail, retry={"backoff_seconds": 0})
    world.run_for(60)
    page = log(world, execution_id)
    assert [(line["attempt"], line["message"]) for line in page["items"]] == [
        (1, "attempt 1"),
        (1, "the task raised an exception"),
        (2, "attempt 2"),
        (2, "the task raised an exception"),
        (3, "attempt 3"),
    ]
    assert "RuntimeError: again" in page["items"][1]["fields"]["exception"]
    assert page["total"] == 5


@pytest.mark.parametrize(("lines", "requests"), [(0, 0), (100, 1)])
def test_a_short_task_stores_its_lines_with_one_request_and_none_without_lines(
    world: World, lines: int, requests: int
) -> None:
    made: list[str] = []
    aws.dynamodb().meta.events.register(
        "before-call.dynamodb.BatchWriteItem", lambda model, **_: made.append(model.name)
    )
    execution_id = run(world, numbered(lines))
    assert len(made) == requests
    page = log(world, execution_id)
    assert (len(messages(page)), page["total"], page["complete"], page["before"]) == (lines, lines, True, None)


def test_a_log_that_cannot_be_stored_does_not_fail_the_task(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "InternalServerError", "Message": "no"}}, "BatchWriteItem")

    monkeypatch.setattr(aws.dynamodb(), "batch_write_item", refuse)
    execution_id = run(world, numbered(3))
    assert world.execution(execution_id)["status"] == "succeeded"
    assert log(world, execution_id)["total"] == 0


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("tail=1&after=x", "after"),
        ("after=x&before=x", "before"),
        ("after=nonsense", "after"),
        ("before=eyJiZWZvcmUiOiJ4In0", "before"),
        ("tail=0", "tail"),
        ("limit=1001", "limit"),
        ("level=LOUD", "level"),
    ],
)
def test_an_invalid_query_is_rejected_by_field(world: World, query: str, field: str) -> None:
    execution_id = run(world, numbered(1))
    status, problem = world.request("GET", f"/executions/{execution_id}/logs?{query}")
    assert status == 422
    assert [error["field"] for error in problem["errors"]] == [field]


# the long lane


def send(container: Container, number: int, *texts: str, **more: Any) -> dict[str, Any]:
    """Send a chunk as a container does."""
    now = container.world.now
    lines = [{"at_ms": round(now.timestamp() * 1000), "level": "INFO", "message": text, "fields": {}} for text in texts]
    chunk = {"part": "all", "attempt": 1, "number": number, "stored_at": now.isoformat(), "lines": lines}
    return container.report("log", chunk={**chunk, "totals": {"INFO": len(lines)}, **more})


def test_a_running_container_can_be_followed(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    execution_id = lane.execution(job)["execution_id"]
    assert send(container, 1, "first", "second")["ok"]
    page = log(world, execution_id)
    assert [(line["part"], line["message"]) for line in page["items"]] == [("all", "first"), ("all", "second")]
    assert not page["complete"]
    world.pass_time(1)
    assert send(container, 2, "third", totals={"INFO": 3})["ok"]
    page = log(world, execution_id, f"after={page['after']}")
    assert (messages(page), page["total"]) == (["third"], 3)


def test_a_chunk_that_a_container_sends_twice_is_stored_once(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    send(container, 1, "once")
    send(container, 1, "once")
    page = log(world, lane.execution(job)["execution_id"])
    assert (messages(page), page["total"]) == (["once"], 1)


def test_a_container_cannot_write_to_the_log_of_another_execution_part_or_attempt(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, retry=NO_BACKOFF)
    other = lane.execution(lane.submit())["execution_id"]
    forged = json.dumps({"execution_id": other, "message": "forged"})
    assert send(container, 1, forged, part="other", attempt=7, execution_id=other)["ok"]
    [line] = log(world, lane.execution(job)["execution_id"])["items"]
    assert (line["part"], line["attempt"], line["message"]) == ("all", 1, forged)
    assert log(world, other)["items"] == []
    world.pass_time(31)
    lane.tick()
    lane.conclude_attempt(job, container.grant, Error="Punctual.Lost", Cause="no heartbeat")
    lane.container(job).claim()
    assert not send(container, 2, "late")["ok"]


def two_partitions(lane: LongLane) -> tuple[str, list[Container]]:
    """The id of an execution, and the containers of its two partitions, which run."""
    job = lane.submit(partitions={"count": 2})
    containers = [lane.container(job, part) for part in lane.next_parts(job)["parts"]]
    for container in containers:
        assert container.claim()["ok"]
    return str(lane.execution(job)["execution_id"]), containers


def follow(world: World, execution_id: str, page: dict[str, Any]) -> dict[str, Any]:
    return log(world, execution_id, f"after={page['after']}")


@pytest.mark.parametrize("query", ["", "tail=1", "tail=100", "limit=1"])
def test_a_follower_gets_a_chunk_that_was_stored_late_or_by_a_slow_clock(
    world: World, lane: LongLane, query: str
) -> None:
    execution_id, (first, second) = two_partitions(lane)
    send(second, 1, "early")
    world.pass_time(2)
    stamp = world.now
    world.pass_time(2)
    send(first, 1, "newer")
    page = log(world, execution_id, query)
    found = messages(page)
    while len(page["items"]) == 1 and query == "limit=1":
        page = log(world, execution_id, f"limit=1&after={page['after']}")
        found += messages(page)
    assert found[-1] == "newer"  # no line has to settle before it can be read
    world.pass_time(4)
    send(second, 2, "late", stored_at=stamp.isoformat(), totals={"INFO": 2})
    page = follow(world, execution_id, page)
    assert (messages(page), page["total"]) == (["late"], 3)
    assert messages(follow(world, execution_id, page)) == []
    page = log(world, execution_id)
    assert messages(page) == ["early", "late", "newer"]
    assert [line["part"] for line in page["items"]] == ["0001", "0001", "0000"]


def test_a_chunk_that_was_stored_twice_with_two_stamps_is_returned_once(world: World, lane: LongLane) -> None:
    execution_id, (first, second) = two_partitions(lane)
    send(first, 1, "once", "more")
    page = log(world, execution_id)
    assert messages(page) == ["once", "more"]
    send(second, 1, "between")
    world.pass_time(25)
    send(first, 1, "once", "more")  # the response to the first one was lost
    page = follow(world, execution_id, page)
    assert (messages(page), page["total"]) == (["between"], 3)
    assert sorted(messages(log(world, execution_id))) == ["between", "more", "once"]
    tail = log(world, execution_id, "tail=100")
    assert sorted(messages(tail)) == ["between", "more", "once"]
    assert messages(follow(world, execution_id, tail)) == []


def test_pages_cut_a_chunk_between_two_lines_while_others_write(world: World, lane: LongLane) -> None:
    execution_id, containers = two_partitions(lane)
    found: list[str] = []
    page = log(world, execution_id)
    for number in range(1, 6):
        for part, container in enumerate(containers):
            texts = [f"{part}.{number}.{n}" for n in range(3)]
            send(container, number, *texts, totals={"INFO": 3 * number})
            page = log(world, execution_id, f"after={page['after']}&limit=2")
            assert not page["complete"]
            found += messages(page)
            world.pass_time(0.3)
    while page["items"]:
        page = log(world, execution_id, f"after={page['after']}&limit=2")
        found += messages(page)
    assert len(found) == len(set(found)) == 30


def test_a_log_is_complete_only_with_its_last_line(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    send(container, 1, "first", "last")
    container.conclude()
    lane.next_parts(job)
    assert lane.execution(job)["status"] == "succeeded"
    execution_id = lane.execution(job)["execution_id"]
    pages = [log(world, execution_id, "limit=1")]
    while not pages[-1]["complete"]:
        pages.append(log(world, execution_id, f"limit=1&after={pages[-1]['after']}"))
    assert [line for page in pages for line in messages(page)] == ["first", "last"]
    assert log(world, execution_id)["complete"]


@pytest.mark.parametrize(("seconds", "consistent"), [(0, True), (60, False)])
def test_a_log_that_has_just_ended_is_read_consistently(
    world: World, monkeypatch: pytest.MonkeyPatch, seconds: int, *, consistent: bool
) -> None:
    execution_id = run(world, numbered(3))
    world.pass_time(seconds)
    reads: list[bool] = []
    real = aws.dynamodb().query

    def note(**request: Any) -> Any:
        if request["TableName"] == "logs" and "BETWEEN" in request["KeyConditionExpression"]:
            reads.append(request["ConsistentRead"])
        return real(**request)

    monkeypatch.setattr(aws.dynamodb(), "query", note)
    assert log(world, execution_id)["complete"]
    assert reads == [consistent]


def test_a_lookup_reads_only_items_of_its_own_execution(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    execution_id = run(world, numbered(5))
    run(world, numbered(500, first=100))
    queries: list[dict[str, Any]] = []
    real = aws.dynamodb().query

    def count(**request: Any) -> Any:
        answer = real(**request)
        if request["TableName"] == "logs":
            queries.append(answer)
        return answer

    monkeypatch.setattr(aws.dynamodb(), "query", count)
    assert len(messages(log(world, execution_id))) == 5
    assert sum(answer["ScannedCount"] for answer in queries) == 2  # one chunk, and the totals of the attempt
