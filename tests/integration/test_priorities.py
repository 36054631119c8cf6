"""Who goes first, and that nobody starves."""

from __future__ import annotations

import json

from tests.integration.keyed import status
from tests.integration.world import World


def test_what_is_tried_again_or_comes_late_goes_by_a_higher_priority(world: World) -> None:
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


def test_owners_share_a_queue_fairly_as_each_has_a_message_group(world: World) -> None:
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
