"""Misfire policies after an outage, also with upstream jobs and with edits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.world import World

HOURLY, MINUTELY = {"cron": "0 * * * *"}, {"cron": "* * * * *"}
OUTAGE = 5 * 3600 + 120


def statuses(world: World, job_id: str) -> list[str]:
    now = world.now.isoformat()
    return [one["status"] for one in world.executions(job_id) if one["scheduled_at"] <= now]


def depends_on(upstream: dict[str, Any]) -> list[dict[str, str]]:
    return [{"job": upstream["job_id"]}]


@pytest.mark.parametrize("depends", [False, True], ids=["independent", "dependant"])
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("skip", ["missed"] * 5),
        ("run_latest", ["skipped"] * 4 + ["succeeded"]),
        ("run_all", ["succeeded"] * 5),
    ],
)
def test_after_an_outage_the_misfire_policy_applies(
    world: World, policy: str, expected: list[str], depends: bool
) -> None:
    world.pass_time(60)
    first = world.submit(schedule=HOURLY, overlap="allow", misfire={"policy": "run_all"})
    misfire = {"policy": policy, "grace_seconds": 0}
    more = {"depends_on": depends_on(first)} if depends else {}
    job_id = world.submit(schedule=HOURLY, overlap="allow", misfire=misfire, **more)["job_id"]
    world.run_until_idle()
    world.tick()
    world.pass_time(OUTAGE)
    world.run_for(120, step=60)
    assert statuses(world, job_id) == expected
    assert statuses(world, first["job_id"]) == ["succeeded"] * 5


@pytest.mark.parametrize("depends", [False, True], ids=["independent", "dependant"])
def test_an_edit_in_an_outage_does_not_run_every_missed_instant(world: World, depends: bool) -> None:
    first = world.submit(schedule=MINUTELY, overlap="allow", misfire={"policy": "run_all"})
    more = {"depends_on": depends_on(first)} if depends else {}
    misfire = {"policy": "run_latest", "grace_seconds": 0}
    job_id = world.submit(schedule=MINUTELY, overlap="allow", misfire=misfire, **more)["job_id"]
    world.run_until_idle()
    world.run_for(60, step=30)
    world.pass_time(1800)
    assert world.request("PATCH", f"/jobs/{job_id}", {"parameters": {"new": True}})[0] == 200
    before = statuses(world, job_id)
    assert len(before) < 10  # executions beyond the horizon were not planned
    world.run_for(30, step=10)
    ran = statuses(world, job_id)
    assert len(ran) == 32
    assert ran[len(before) + 1 :] == ["skipped"] * (31 - len(before) - 1) + ["succeeded"]


def test_an_edit_does_not_turn_an_execution_that_waits_for_its_upstream_into_a_misfire(world: World) -> None:
    misfire = {"policy": "skip", "grace_seconds": 0}
    first = world.submit(schedule=HOURLY, overlap="allow")
    job_id = world.submit(schedule=HOURLY, overlap="allow", misfire=misfire, depends_on=depends_on(first))["job_id"]
    world.run_for(60, step=30)
    world.pass_time(3480)
    world.tick()
    assert world.request("POST", f"/jobs/{first['job_id']}/pause")[0] == 200
    world.run_for(300, step=60)
    assert statuses(world, job_id)[-1] == "waiting"
    assert world.request("PATCH", f"/jobs/{job_id}", {"parameters": {"new": True}})[0] == 200
    world.run_for(120, step=60)
    assert statuses(world, job_id)[-1] == "waiting"
    assert world.request("POST", f"/jobs/{first['job_id']}/resume")[0] == 200
    world.run_for(900, step=60)
    one = world.executions(job_id)[1]
    assert (one["status"], one["parameters"]) == ("succeeded", {"new": True})


def test_a_cancelled_execution_does_not_cover_missed_instants(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 60})["job_id"]
    world.run_until_idle()
    third = world.executions(job_id)[2]["execution_id"]
    assert world.request("PUT", f"/executions/{third}/cancel")[0] == 200
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.run_until_idle()
    world.pass_time(210)
    _, preview = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert world.request("POST", f"/jobs/{job_id}/resume")[0] == 200
    world.run_until_idle()
    first, second, cancelled = world.executions(job_id)[:3]
    assert (first["status"], first["covered_by"]) == ("skipped", second["execution_id"])
    assert second["status"] == "succeeded"
    assert (cancelled["execution_id"], cancelled["status"]) == (third, "cancelled")
    assert [(one["execution_id"], one["note"]) for one in preview["appear"][:2]] == [
        (first["execution_id"], f"skipped: {first['reason']}"),
        (second["execution_id"], None),
    ]
