"""The last 24 hours of each queue, and its usual rates."""

from __future__ import annotations

from typing import Any

from punctual.domain.instant import to_text
from tests.integration.world import World


def queue(world: World, name: str) -> dict[str, Any]:
    status, found = world.request("GET", f"/queues/{name}", role="viewer")
    assert status == 200, found
    assert world.refused == set()
    return found


def measure(world: World, minutes: int) -> None:
    for _ in range(minutes):
        world.pass_time(60)
        world.monitor_tick()


def test_the_history_of_a_queue_has_its_depth_and_rates_every_five_minutes(world: World) -> None:
    world.monitor_tick()
    for _ in range(3):
        world.submit(priority="low")
    world.deliver_streams()
    world.deliver_streams()
    began_at = to_text(world.now)
    measure(world, 4)
    world.run_until_idle()
    measure(world, 6)
    history = queue(world, "low")["history"]
    assert [(one["at"], one["depth"]) for one in history["points"]] == [
        (began_at, 3),
        ("2026-11-16T12:05:00.000Z", 0),
        ("2026-11-16T12:10:00.000Z", 0),
    ]
    assert history["points"][0]["arrival_per_minute"] == 0.75
    assert history["points"][1]["finished_per_minute"] > 0
    assert history["points"][2]["arrival_per_minute"] == 0
    assert history["usual_arrival_per_minute"] == 0


def test_all_queues_are_listed_with_their_history_on_request(world: World) -> None:
    measure(world, 1)
    plain = world.request("GET", "/queues")[1]["items"]
    assert {one["history"] for one in plain} == {None}
    status, found = world.request("GET", "/queues?history=true")
    assert status == 200
    assert [len(one["history"]["points"]) for one in found["items"]] == [1] * len(plain)
    assert found["items"][2] == queue(world, "low")


def test_the_history_ends_after_24_hours_and_the_usual_rate_remains(world: World) -> None:
    measure(world, 2)
    world.submit(priority="low")
    world.deliver_streams()
    world.deliver_streams()
    measure(world, 1)
    world.pass_time(86_400)
    history = queue(world, "low")["history"]
    assert history["points"] == []
    assert history["usual_arrival_per_minute"] == 0.5
    stored = [one for one in world.items("signals") if one["id"]["S"].startswith("history#")]
    assert [one["id"]["S"] for one in stored] == ["history#2026-11-16T12:00:00.000Z"]
    assert int(stored[0]["expires_at"]["N"]) == 1_794_830_400 + 8 * 86_400


def test_a_queue_has_a_history_before_the_first_tick_of_the_monitor(world: World) -> None:
    expected = {"points": [], "usual_arrival_per_minute": None, "usual_finished_per_minute": None}
    assert queue(world, "low")["history"] == expected


def test_an_unknown_queue_is_not_found(world: World) -> None:
    status, problem = world.request("GET", "/queues/lowest")
    assert (status, problem["errors"][0]["field"]) == (404, "queue")
