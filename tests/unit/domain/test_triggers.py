"""The table of triggers: filters for Lambda and routing for handlers come from the same rows."""

from __future__ import annotations

from typing import Any

import pytest

from punctual.domain.status import FINAL, Status
from punctual.domain.triggers import EXECUTIONS, JOBS, PARTS, TRIGGERS, Effect, effect_of, filters

QUEUED = {"status": "queued", "revision": 1, "attempt": 0}
RUNNING = {"status": "running", "revision": 1, "attempt": 1, "lane": "short"}


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (None, QUEUED, Effect.SEND_PLANNED),
        ({**QUEUED, "status": "scheduled"}, {**QUEUED, "revision": 2}, Effect.SEND_PLANNED),
        ({**QUEUED, "status": "scheduled"}, QUEUED, Effect.SEND_DUE),
        ({**QUEUED, "status": "waiting"}, QUEUED, Effect.SEND_AGAIN),
        (RUNNING, {**RUNNING, "status": "retrying", "retry_at": "later"}, Effect.SEND_AGAIN),
        (None, {"status": "missed", "is_leader": True, "revision": 1}, Effect.SEND_PLANNED),
        ({"status": "scheduled", "is_leader": True}, {"status": "cancelled", "is_leader": True}, Effect.SEND_DUE),
        (RUNNING, {**RUNNING, "cancel_at": "soon"}, Effect.SCHEDULE_REVOCATION),
    ],
)
def test_the_planner_distinguishes_the_ways_of_becoming_ready(
    old: dict[str, Any] | None, new: dict[str, Any], effect: Effect
) -> None:
    assert effect_of("planner", EXECUTIONS, old, new) is effect


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (QUEUED, {**QUEUED, "check_at": "later"}),
        ({**RUNNING, "cancel_at": "soon"}, {**RUNNING, "cancel_at": "soon", "lease_until": "later"}),
        (RUNNING, {**RUNNING, "lease_until": "later"}),
        (None, {"status": "missed", "is_leader": False, "revision": 1}),
    ],
)
def test_a_write_that_changes_no_progress_has_no_effect(old: dict[str, Any] | None, new: dict[str, Any]) -> None:
    assert effect_of("planner", EXECUTIONS, old, new) is None


def test_a_job_has_an_effect_only_when_its_revision_or_state_changed() -> None:
    job = {"state": "active", "revision": 1}
    assert effect_of("planner", JOBS, None, job) is Effect.PLAN_JOB
    assert effect_of("planner", JOBS, job, {**job, "state": "paused"}) is Effect.PLAN_JOB
    assert effect_of("planner", JOBS, job, {**job, "run_times": "…"}) is None
    assert effect_of("planner", JOBS, job, {**job, "state": "done"}) is None


def test_the_settler_stops_the_containers_of_a_long_execution_once() -> None:
    running = {**RUNNING, "lane": "long"}
    stopping = {**running, "cancel_at": "soon"}
    assert effect_of("settler", EXECUTIONS, running, stopping) is Effect.STOP_CONTAINERS
    assert effect_of("settler", EXECUTIONS, stopping, {**stopping, "progress": 1}) is None
    assert effect_of("settler", EXECUTIONS, RUNNING, {**RUNNING, "cancel_at": "soon"}) is None


@pytest.mark.parametrize("status", sorted(FINAL))
def test_the_settler_counts_every_end_and_follows_up_on_failures_and_where_needed(status: Status) -> None:
    assert (
        effect_of("settler", EXECUTIONS, RUNNING, {"status": str(status), "needs_follow_up": True}) is Effect.FOLLOW_UP
    )
    failed = status in (Status.FAILED, Status.TIMED_OUT)
    expected = Effect.FOLLOW_UP if failed else Effect.COUNT
    assert effect_of("settler", EXECUTIONS, RUNNING, {"status": str(status)}) is expected


@pytest.mark.parametrize("status", sorted(FINAL - {Status.FAILED, Status.TIMED_OUT}))
def test_the_settler_ignores_a_later_write_to_an_execution_that_it_only_counts(status: Status) -> None:
    ended = {"status": str(status)}
    assert effect_of("settler", EXECUTIONS, None, ended) is Effect.COUNT
    assert effect_of("settler", EXECUTIONS, ended, {**ended, "expires_at": 1}) is None


def test_admission_ignores_a_part_that_runs_and_the_occupancy_record() -> None:
    assert effect_of("admission", PARTS, {"status": "queued"}, {"status": "waiting"}) is Effect.ADMIT
    assert effect_of("admission", PARTS, {"status": "starting"}, {"status": "running"}) is None
    assert effect_of("admission", PARTS, None, {"tasks": 1}) is None


def test_no_source_has_more_filters_than_lambda_allows() -> None:
    assert all(len(filters(one.function, one.table)) <= 5 for one in TRIGGERS)
