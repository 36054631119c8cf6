"""What happens when an execution comes due while another one of its job still runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import from_text
from tests.integration.long_lane import LongLane
from tests.integration.mishaps import dying_at
from tests.integration.odd_tasks import MEANWHILE, Killed
from tests.integration.world import World

MINUTELY = {"every_seconds": 60}


def submit(world: World, overlap: str | None, **more: Any) -> str:
    rule = {"overlap": overlap} if overlap else {}
    return str(world.submit(task="test.meanwhile", schedule=MINUTELY, **rule, **more)["job_id"])


def outcomes(world: World, job_id: str) -> list[tuple[str, str | None]]:
    """Of those whose time has come."""
    now = world.now
    return [(one["status"], one["reason"]) for one in world.executions(job_id) if from_text(one["scheduled_at"]) <= now]


def statuses(world: World, job_id: str) -> list[str]:
    return [status for status, _ in outcomes(world, job_id)]


def through(world: World, minutes: int) -> None:
    """Let that much time go by, with all that comes in it.

    Without the dispatcher, who would take a worker for dead that sleeps through a minute of the test's time.
    """
    for _ in range(minutes):
        world.settle_down()
        world.pass_time(60)
        world.settle_down()


def first_runs_through(world: World, minutes: int, then: Callable[[Context], Any] = lambda _: None) -> None:
    """The first run takes that long."""

    def act(context: Context) -> Any:
        through(world, minutes)
        return then(context)

    MEANWHILE.append(act)


def test_by_default_the_later_one_is_skipped_and_says_what_runs(world: World) -> None:
    job_id = submit(world, None)
    first_runs_through(world, 2)
    through(world, 1)
    [first, *skipped] = outcomes(world, job_id)
    first_id = world.executions(job_id)[0]["execution_id"]
    assert first == ("succeeded", None)
    assert skipped == [("skipped", f"{first_id} still runs")] * 2
    through(world, 1)
    assert statuses(world, job_id) == ["succeeded", "skipped", "skipped", "succeeded"]


def test_allow_runs_them_side_by_side_and_touches_no_gate(world: World) -> None:
    job_id = submit(world, "allow")
    running: list[str] = []
    first_runs_through(world, 2, lambda _: running.extend(statuses(world, job_id)))
    through(world, 1)
    assert running == ["running", "succeeded", "succeeded"]
    assert world.items("gates") == []


def test_queue_one_has_one_wait_and_skips_the_rest(world: World) -> None:
    job_id = submit(world, "queue_one")
    seen: list[tuple[str, str | None]] = []
    first_runs_through(world, 3, lambda _: seen.extend(outcomes(world, job_id)))
    through(world, 1)
    first_id, second_id = (one["execution_id"] for one in world.executions(job_id)[:2])
    assert seen == [
        ("running", None),
        ("waiting", f"waits for {first_id}"),
        ("skipped", f"{second_id} waits already"),
        ("skipped", f"{second_id} waits already"),
    ]
    world.settle_down()
    assert statuses(world, job_id) == ["succeeded", "succeeded", "skipped", "skipped"]
    assert world.executions(job_id)[2]["covered_by"] == second_id


def test_queue_one_says_so_to_who_would_run_it_while_one_waits(world: World) -> None:
    job_id = submit(world, "queue_one")
    answers: list[dict[str, Any]] = []

    def ask(_: Context) -> None:
        for _ in range(2):
            answers.append(world.request("POST", f"/jobs/{job_id}/run", {})[1])
            world.settle_down()

    MEANWHILE.append(ask)
    through(world, 1)
    first_id = world.executions(job_id)[0]["execution_id"]
    waits, skipped = answers
    waiting_id = waits["execution"]["execution_id"]
    assert waits["outcome"] == f"waits for {first_id}"
    assert skipped["outcome"] == f"skipped: {waiting_id} waits already"
    assert (skipped["execution"]["status"], skipped["execution"]["covered_by"]) == ("skipped", waiting_id)


def test_queue_all_runs_them_one_after_the_other_in_the_order_of_their_instants(world: World) -> None:
    job_id = submit(world, "queue_all")
    order: list[str] = []

    def note(context: Context) -> None:
        assert [status for status in statuses(world, job_id) if status == "running"] == ["running"]
        order.append(context.execution_id)

    first_runs_through(world, 3, note)
    MEANWHILE.extend([note] * 3)
    through(world, 1)
    world.settle_down()
    assert statuses(world, job_id) == ["succeeded"] * 4
    assert order == sorted(order)


def test_cancel_running_stops_the_one_that_runs_and_the_later_one_takes_its_place(world: World) -> None:
    job_id = submit(world, "cancel_running")
    seen: list[Any] = []

    def obey(context: Context) -> str:
        through(world, 1)
        assert world.hears_that_it_is_to_stop(context), "the task was never told"
        seen.extend(statuses(world, job_id))
        return "half of it"

    MEANWHILE.append(obey)
    through(world, 1)
    world.settle_down()
    first, second = world.executions(job_id)[:2]
    assert seen == ["running", "waiting"]
    assert (first["status"], first["result"]["value"]) == ("cancelled", "half of it")
    assert first["reason"] == f"{second['execution_id']} is to run in its place"
    assert second["status"] == "succeeded"


def test_cancel_running_revokes_the_lease_of_one_that_does_not_obey(world: World) -> None:
    job_id = submit(world, "cancel_running")
    seen: list[str] = []

    def ignore(_context: Context) -> str:
        through(world, 1)
        world.pass_time(31)
        world.settle_down()
        seen.extend(statuses(world, job_id))
        return "too late"

    MEANWHILE.append(ignore)
    through(world, 1)
    world.settle_down()
    first = world.executions(job_id)[0]
    assert seen == ["cancelled", "succeeded"]
    assert (first["status"], first["result"]["value"]) == ("cancelled", None)
    assert [one["outcome"] for one in first["attempts"]] == ["cancelled"]


def test_of_those_that_would_take_over_the_latest_does(world: World) -> None:
    ten_seconds = {"every_seconds": 10}
    job_id = world.submit(task="test.meanwhile", schedule=ten_seconds, overlap="cancel_running")["job_id"]

    def ignore(_context: Context) -> None:
        for _ in range(2):
            world.pass_time(11)
            world.settle_down()

    MEANWHILE.append(ignore)
    world.settle_down()
    world.pass_time(10)
    [order] = world.orders()
    world.work(order)
    _, second, third = world.executions(job_id)[:3]
    assert (second["status"], second["covered_by"]) == ("skipped", third["execution_id"])
    world.settle_down()
    assert world.execution(third["execution_id"])["status"] == "succeeded"


def test_one_that_rests_between_attempts_still_counts_as_running(world: World) -> None:
    def fail(_context: Context) -> None:
        raise ValueError("not this time")

    job_id = submit(world, None, retry={"max_attempts": 2, "backoff_seconds": 0, "max_backoff_seconds": 0})
    MEANWHILE.append(fail)
    world.deliver_streams()
    world.deliver_streams()
    world.pass_time(60)
    [order, *_] = world.orders()
    world.work(order)
    assert statuses(world, job_id) == ["retrying"]
    world.pass_time(60)
    world.tick()
    world.deliver_streams()
    orders = world.orders()
    due = [order for order in orders if '"attempt": 1' in order["body"]]
    for order in due:
        world.work(order)
    assert statuses(world, job_id)[1] == "skipped"
    for order in orders:
        world.work(order)
    world.settle_down()
    assert statuses(world, job_id)[:2] == ["succeeded", "skipped"]


def test_a_worker_that_dies_inside_blocks_its_job_for_no_longer_than_its_lease(world: World) -> None:
    def die(_context: Context) -> None:
        raise Killed

    job_id = submit(world, None)
    MEANWHILE.append(die)
    world.settle_down()
    world.pass_time(60)
    [order] = world.orders()
    with pytest.raises(Killed):
        world.work(order)
    world.pass_time(45)
    world.tick()
    world.settle_down()
    assert statuses(world, job_id) == ["succeeded"]
    assert [one["number"] for one in world.executions(job_id)[0]["attempts"]] == [1, 2]
    through(world, 1)
    assert statuses(world, job_id) == ["succeeded", "succeeded"]


def test_one_who_died_between_the_end_and_the_gate_is_cleared_away_within_a_minute(world: World) -> None:
    job_id = submit(world, None)
    world.settle_down()
    world.pass_time(60)
    [order] = world.orders()
    with dying_at("DeleteItem"), pytest.raises(Killed):
        world.work(order)
    assert statuses(world, job_id) == ["succeeded"]
    assert [item["entry"]["S"] for item in world.items("gates")] == [f"job#{job_id}"]
    world.tick()
    assert world.items("gates") == []


@pytest.mark.parametrize("operation", ["UpdateItem", "PutItem", "Query"])
def test_one_who_dies_while_it_gets_in_line_is_made_up_for_when_its_order_comes_again(
    world: World, operation: str
) -> None:
    job_id = submit(world, "queue_all")

    def act(_context: Context) -> None:
        world.pass_time(60)
        world.deliver_streams()
        [order] = world.orders()
        for number in range(4):
            with dying_at(operation, after=number):
                try:
                    world.work(order)
                except Killed:
                    continue
        world.work(order)
        assert statuses(world, job_id) == ["running", "waiting"]

    MEANWHILE.append(act)
    world.settle_down()
    world.pass_time(60)
    [order] = world.orders()
    world.work(order)
    world.settle_down()
    assert statuses(world, job_id) == ["succeeded", "succeeded"]


def let_in_and_no_further(world: World, order: dict[str, Any]) -> None:
    """Its worker enters the gate, and stands still there before its claim is refused."""
    with dying_at("UpdateItem", table="executions"), pytest.raises(Killed):
        world.work(order)


def run(world: World, job_id: str) -> dict[str, Any]:
    status, answer = world.request("POST", f"/jobs/{job_id}/run", {})
    assert status == 201, answer
    return answer


@pytest.mark.parametrize("overlap", ["skip", "queue_one", "cancel_running"])
@pytest.mark.parametrize("how", ["forgotten", "cancelled"])
def test_one_that_is_gone_and_whose_order_got_in_keeps_nobody_out(world: World, overlap: str, how: str) -> None:
    job_id = submit(world, overlap)
    world.deliver_streams()
    world.deliver_streams()
    gone_id = world.executions(job_id)[0]["execution_id"]
    if how == "forgotten":
        assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    else:
        assert world.request("PUT", f"/executions/{gone_id}/cancel")[0] == 200
    world.deliver_streams()
    assert world.request("GET", f"/executions/{gone_id}")[0] == (404 if how == "forgotten" else 200)
    world.pass_time(60)
    [order] = [one for one in world.orders() if gone_id in one["body"]]
    let_in_and_no_further(world, order)
    assert [item["entry"]["S"] for item in world.items("gates")] == [f"job#{job_id}"]
    answer = run(world, job_id)
    assert answer["outcome"] == "starts now"
    world.settle_down()
    assert world.execution(answer["execution"]["execution_id"])["status"] == "succeeded"
    world.work(order)
    assert world.items("gates") == []


def test_one_that_has_ended_makes_room_for_who_waits_before_who_comes(world: World) -> None:
    job_id = submit(world, "queue_one")
    answers: list[dict[str, Any]] = []

    def act(_context: Context) -> None:
        answers.append(run(world, job_id))
        world.settle_down()

    MEANWHILE.append(act)
    world.settle_down()
    world.pass_time(60)
    [order] = world.orders()
    with dying_at("Query", after=1), pytest.raises(Killed):  # the first is that of the one who waits
        world.work(order)
    waits = answers[0]["execution"]["execution_id"]
    assert (statuses(world, job_id)[0], world.execution(waits)["status"]) == ("succeeded", "waiting")
    comes = run(world, job_id)
    assert comes["outcome"] == f"waits for {waits}"
    world.deliver_streams()
    [order] = world.orders()
    world.work(order)
    assert (world.execution(waits)["status"], reason_of(world, comes)) == ("queued", f"waits for {waits}")
    world.settle_down()
    assert (world.execution(waits)["status"], world.execution(comes_id(comes))["status"]) == ("succeeded", "succeeded")
    assert world.items("gates") == []


def comes_id(answer: dict[str, Any]) -> str:
    return str(answer["execution"]["execution_id"])


def reason_of(world: World, answer: dict[str, Any]) -> str:
    return str(world.execution(comes_id(answer))["reason"])


def test_run_now_obeys_the_rule_and_says_what_it_did(world: World) -> None:
    job_id = submit(world, None)
    answers: list[dict[str, Any]] = []

    def act(_context: Context) -> None:
        status, answer = world.request("POST", f"/jobs/{job_id}/run", {})
        assert status == 201, answer
        answers.append(answer)

    MEANWHILE.append(act)
    through(world, 1)
    status, answer = world.request("POST", f"/jobs/{job_id}/run", {"parameters": {"customer": 7}})
    assert (status, answer["outcome"]) == (201, "starts now")
    first_id = world.executions(job_id)[0]["execution_id"]
    assert answers[0]["outcome"] == f"skipped: {first_id} still runs"
    assert answers[0]["execution"]["status"] == "skipped"
    world.settle_down()
    ran = world.execution(answer["execution"]["execution_id"])
    assert (ran["status"], ran["origin"], ran["parameters"]) == ("succeeded", "run", {"customer": 7})


def test_an_edit_of_the_rule_counts_for_what_has_not_started(world: World) -> None:
    job_id = submit(world, None)

    def act(_context: Context) -> None:
        status, answer = world.request("PATCH", f"/jobs/{job_id}", {"overlap": "queue_all"})
        assert status == 200, answer
        through(world, 2)

    MEANWHILE.append(act)
    through(world, 1)
    world.settle_down()
    assert statuses(world, job_id) == ["succeeded"] * 3


def test_one_that_nobody_can_wait_for_leaves_without_a_look_at_the_line(world: World) -> None:
    job_id = submit(world, None)
    with dying_at("Query"):
        through(world, 2)
    assert statuses(world, job_id) == ["succeeded"] * 2
    assert world.items("gates") == []


def test_in_the_long_lane_the_later_one_is_skipped_when_its_time_comes(lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 600})
    [first] = lane.world.executions(job["job_id"])
    lane.world.pass_time(600)
    assert lane.world.call(
        "conductor",
        {"do": "next", "job_id": job["job_id"], "execution_id": first["execution_id"], "conductor": "run-1"},
    )["parts"] == ["all"]
    lane.world.deliver_streams()
    second = lane.world.executions(job["job_id"])[1]
    question = {"do": "next", "job_id": job["job_id"], "execution_id": second["execution_id"], "conductor": "run-2"}
    early = lane.world.call("conductor", question)
    assert (early["next"], early["parts"], early["not_before"]) == ("run", [], second["scheduled_at"])
    lane.world.pass_time(600)
    assert lane.world.call("conductor", question)["next"] == "end"
    skipped = lane.world.execution(second["execution_id"])
    assert (skipped["status"], skipped["reason"]) == ("skipped", f"{first['execution_id']} still runs")


@pytest.mark.parametrize("body", [None, {}, {"parameters": None}])
@pytest.mark.parametrize("key", [{}, {"idempotency-key": "once"}])
def test_run_now_and_retry_need_no_body(world: World, body: Any, key: dict[str, str]) -> None:
    job_id = str(world.submit(task="fail", parameters={"times": 9, "fatal": True})["job_id"])
    world.settle_down()
    assert statuses(world, job_id) == ["failed"]
    status, answer = world.request("POST", f"/jobs/{job_id}/run", body, headers=key)
    assert (status, answer["execution"]["parameters"]) == (201, {"times": 9, "fatal": True})
    failed_id = world.executions(job_id)[0]["execution_id"]
    status, answer = world.request("POST", f"/executions/{failed_id}/retry", body, headers=key)
    assert (status, answer["execution"]["retry_of"]) == (201, failed_id)


def test_what_runs_inside_a_gate_is_among_what_runs_now(world: World) -> None:
    world.submit(task="test.meanwhile", schedule={"every_seconds": 60})
    seen: list[Any] = []

    def look(context: Context) -> None:
        _, page = world.request("GET", "/executions?status=running")
        _, overview = world.request("GET", "/overview")
        seen.append(([one["execution_id"] for one in page["items"]] == [context.execution_id], overview["running"]))

    MEANWHILE.append(look)
    world.settle_down()
    world.pass_time(60)
    world.settle_down()
    assert seen == [(True, 1)]
