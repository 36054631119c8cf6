"""The settler counts every ended execution exactly once, whatever the stream delivers."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from punctual.domain.statistics.job_record import MAX_IN_RECORD
from tests.integration.faults import crash_at, just_before, on_table
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World
from tests.statistics_truth import Totals, stored_records, stored_totals, true_totals

WRITE, STATISTICS = "TransactWriteItems", on_table("statistics")


def counted(world: World) -> Totals:
    return stored_totals(world.items("statistics"))


def truth(world: World) -> Totals:
    executions = world.function("planner").executions
    keys = [item["execution_id"]["S"] for item in world.items("executions")]
    return true_totals(executions.get_many(keys))


def ended_records(world: World, jobs: int, **submission: Any) -> list[dict[str, Any]]:
    """Run jobs. Returns the records of their ends, which the settler has not received yet."""
    for _ in range(jobs):
        world.submit(**submission)
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    world.call("planner", {"Records": world.stream_records("executions", "planner")})
    while orders := world.orders():
        for order in orders:
            world.work(order)
    return world.stream_records("executions", "settler")


def messages(world: World, count: int) -> list[dict[str, Any]]:
    """Run a queue job with ``count`` messages, ten at a time. Returns the records of their ends."""
    job = world.submit(schedule={"queue": True})
    world.run_until_idle()
    body = json.dumps({"job_id": job["job_id"], "payload": {}})
    for start in range(0, count, 10):
        for _ in range(min(10, count - start)):
            world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)
        world.pass_time(1)
        world.deliver_intake()
        world.call("planner", {"Records": world.stream_records("executions", "planner")})
        for order in world.orders():
            world.work(order)
    return world.stream_records("executions", "settler")


def settle(world: World, records: list[dict[str, Any]]) -> None:
    world.call("settler", {"Records": records})


def test_each_end_is_counted_by_status_for_its_job_and_owner(world: World) -> None:
    done = world.submit(task="echo")
    failed = world.submit(task="fail", parameters={"fatal": True})
    missing = world.submit(schedule={"at": "2026-11-16T13:00:00Z"})
    world.run_until_idle()
    world.request("PUT", f"/jobs/{missing['job_id']}/cancel")
    world.run_until_idle()
    totals = counted(world)
    assert totals == truth(world)
    assert totals[done["job_id"], "2026-11-16"]["s"] == 1
    assert totals[failed["job_id"], "2026-11-16"]["f"] == 1
    assert totals[missing["job_id"], "2026-11-16"] == {"c": 1}
    of_owner = totals["data-quality", "2026-11-16T12:00:00.000Z"]
    assert {name: of_owner[name] for name in ("ns", "nf", "nc")} == {"ns": 1, "nf": 1, "nc": 1}


def in_order(records: list[Any]) -> list[list[Any]]:
    return [[one] for one in records]


def reversed_one_by_one(records: list[Any]) -> list[list[Any]]:
    return [[one] for one in reversed(records)]


def twice(records: list[Any]) -> list[list[Any]]:
    return [records, records]


def bisected_and_repeated(records: list[Any]) -> list[list[Any]]:
    half = len(records) // 2
    return [records[:half], records[half:], records, records[half:], records[:half]]


def shuffled(records: list[Any]) -> list[list[Any]]:
    several = random.Random(17).sample(records * 3, 3 * len(records))
    return [several[start : start + 7] for start in range(0, len(several), 7)]


@pytest.mark.parametrize("deliveries", [in_order, reversed_one_by_one, twice, bisected_and_repeated, shuffled])
def test_the_counters_do_not_depend_on_order_and_repetition(
    world: World, deliveries: Callable[[list[Any]], list[list[Any]]]
) -> None:
    records = messages(world, MAX_IN_RECORD + 28)
    for batch in deliveries(records):
        settle(world, batch)
    assert counted(world) == truth(world)
    [record] = stored_records(world.items("statistics"))
    ends = sorted(item["execution_id"]["S"] for item in world.items("executions"))
    assert [one.execution_id for one in record.last] == ends[-20:]


def test_an_end_of_an_earlier_day_is_counted_for_its_own_day(world: World) -> None:
    monday = messages(world, 1)
    world.pass_time(86_400)
    tuesday = messages(world, 1)
    settle(world, tuesday)
    settle(world, monday)
    settle(world, tuesday)
    assert counted(world) == truth(world)


@pytest.mark.parametrize("passed", [0, 1])
def test_a_settler_that_dies_while_it_counts_is_repeated(world: World, passed: int) -> None:
    records = ended_records(world, 30)  # more than one transaction
    with pytest.raises(Killed), crash_at(WRITE, after=passed, table="statistics"):
        settle(world, records)
    assert counted(world) != truth(world)
    settle(world, records)
    assert counted(world) == truth(world)


def test_two_settlers_with_the_same_records_count_them_once(world: World) -> None:
    records = messages(world, 10)
    with just_before(WRITE, lambda: settle(world, records), containing=STATISTICS):
        settle(world, records)
    assert counted(world) == truth(world)


def test_two_settlers_with_records_of_one_job_count_all_of_them(world: World) -> None:
    records = messages(world, 10)
    with just_before(WRITE, lambda: settle(world, records[3:]), containing=STATISTICS):
        settle(world, records[:5])
    assert counted(world) == truth(world)


def throttle() -> None:
    raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}, WRITE)


def test_a_failure_to_count_repeats_the_batch_after_its_follow_up(world: World) -> None:
    records = ended_records(world, 1)
    with just_before(WRITE, throttle, STATISTICS, once=False), pytest.raises(ClientError):
        settle(world, records)
    [job] = world.request("GET", "/jobs")[1]["items"]
    assert job["state"] == "done"
    settle(world, records)
    assert counted(world) == truth(world)


def test_a_lasting_failure_to_count_does_not_stop_the_stream(world: World) -> None:
    records = ended_records(world, 2)
    world.pass_time(901)
    with just_before(WRITE, throttle, STATISTICS, once=False):
        settle(world, records)
    letters = world.receive("settler-dead")
    assert [letter["messageAttributes"]["reason"]["StringValue"][:11] for letter in letters] == ["ClientError"] * 2
    settle(world, [json.loads(letter["body"]) for letter in letters])  # an operator sends them again
    assert counted(world) == truth(world)


def test_counting_costs_two_writes_per_job_and_one_per_owner(world: World) -> None:
    records = ended_records(world, 5)
    writes: Counter[str] = Counter()
    events = world.function("settler").wiring.dynamodb().meta.events

    def note(params: dict[str, Any], **_: Any) -> None:
        for write in params.get("TransactItems", ()):
            writes[write["Update"]["Key"]["series"]["S"].partition("#")[0]] += 1

    events.register("provide-client-params.dynamodb.TransactWriteItems", note)
    settle(world, records)
    events.unregister("provide-client-params.dynamodb.TransactWriteItems", note)
    assert writes == {"job": 5, "owner": 1}
