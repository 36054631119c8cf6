"""Priorities, promotion of retried or late executions, and fairness between owners."""

from __future__ import annotations

import json

from tests.integration.concurrency_keys import status
from tests.integration.world import World


def test_a_retried_execution_is_sent_to_a_higher_priority_queue(world: World) -> None:
    job = world.submit(task="fail", parameters={"times": 1}, priority="low", retry={"backoff_seconds": 0})
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.receive("low")
    world.work(order)
    world.deliver_streams()
    assert world.receive("low") == []
    [again] = world.receive("normal")
    world.work(again)
    assert status(world, job["job_id"]) == "succeeded"


def test_each_owner_has_its_own_message_group_for_fair_queueing(world: World) -> None:
    for team in ("a", "a", "b", "team of Zoë"):
        assert world.request("POST", "/jobs", {"task": "fail", "parameters": {"times": 1}}, team=team)[0] == 201
    for _ in range(2):
        world.deliver_streams()
    orders = world.orders()
    groups = [(json.loads(one["body"])["owner"], one["attributes"]["MessageGroupId"]) for one in orders]
    assert sorted(group for owner, group in groups if owner in ("a", "b")) == ["a", "a", "b"]
    assert len({group for _, group in groups}) == 3
    world.work(orders[0])
    world.pass_time(60)
    world.deliver_streams()
    [again] = world.orders()
    assert again["attributes"]["MessageGroupId"] == orders[0]["attributes"]["MessageGroupId"]
