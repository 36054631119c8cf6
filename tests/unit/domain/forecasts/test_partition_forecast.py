"""Deadline forecasts of partitioned executions: waves, slots, and what to do about a lack of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.executions.execution import Attempt, Execution, Failure, Outcome
from punctual.domain.forecasts.deadline_forecast import UpstreamEnd, outlook_of
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.partitions import Partitions, PartitionUnit
from punctual.domain.jobs.resources import Resources
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import HeldSlots, LaneOutlook, PlannedSlots, WaitingSlots
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import COLLECT, Part
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.data_window import DataWindow
from punctual.domain.status import Status
from tests.unit.domain.forecasts.deadlines import HOUR, IDLE, MINUTE, NOW, execution, job

WEEKLY = Cron("0 2 * * SUN", "America/New_York")


def divided(count: int = 7, at_once: int | None = None, **more: Any) -> Execution:
    batch = Batch(partitions=Partitions(count=count, at_once=at_once))
    return execution(**{"lane": Lane.LONG, "batch": batch, "timeout_seconds": 86_400 * 7} | more)


def hourly(**more: Any) -> Job:
    """A job whose partitions take an hour each."""
    return job(expected_seconds=3600, timeout_seconds=86_400 * 7, **more)


def lane(tasks: int, **more: Any) -> SystemLoad:
    outlook = LaneOutlook(**{"at": NOW, "first_free": NOW} | more)
    return replace(IDLE, limits=LaneLimits(tasks=tasks, cpu=tasks * 1024), lane=outlook)


def part(number: int, status: Status, **more: Any) -> Part:
    usual: dict[str, Any] = {
        "execution_id": "e",
        "name": f"{number:04d}",
        "job_id": "j",
        "owner": "team",
        "status": status,
        "cpu": 1024,
        "memory_mb": 2048,
        "latest_start": NOW + 5 * HOUR,
        "expected_seconds": 3600,
        "number": number,
        "count": 7,
    }
    return Part(**usual | more)


def running_part(number: int, elapsed: timedelta) -> Part:
    started = NOW - elapsed
    return part(number, Status.RUNNING, requested_at=started, granted_at=started, started_at=started, attempt=1)


def succeeded_part(number: int, took: timedelta, **more: Any) -> Part:
    attempt = Attempt(number=1, outcome=Outcome.SUCCEEDED, started_at=NOW - took, ended_at=NOW)
    return part(number, Status.SUCCEEDED, attempts=(attempt,), **more)


def median_hours(one: Execution, its_job: Job, load: SystemLoad, parts: Sequence[Part] = ()) -> float:
    return (outlook_of(one, its_job, load, NOW, parts=parts).median_end - NOW) / HOUR


@pytest.mark.parametrize(("at_once", "slots", "waves"), [(1, 9, 7), (2, 9, 4), (3, 9, 3), (7, 9, 1), (None, 4, 2)])
def test_partitions_run_in_waves_of_at_once_and_of_the_slots_of_the_lane(
    at_once: int | None, slots: int, waves: int
) -> None:
    steady = hourly(run_times={"partition": (3600,) * 50})
    assert median_hours(divided(7, at_once), steady, lane(slots)) == pytest.approx(waves, rel=0.05)


def test_84_hours_of_calendar_partitions_do_not_fit_into_70_hours() -> None:
    batch = Batch(partitions=Partitions(by=PartitionUnit.DAY, at_once=1))
    window = DataWindow(NOW - timedelta(days=7), NOW)
    one = divided(batch=batch, window=window, deadline_at=NOW + 70 * HOUR)
    outlook = outlook_of(one, job(expected_seconds=12 * 3600, schedule=WEEKLY), lane(9), NOW)
    assert outlook.state in (DeadlineState.AT_RISK, DeadlineState.WILL_MISS)
    assert outlook.median_end - NOW > 84 * HOUR
    assert outlook.cause is not None
    assert outlook.cause.startswith("8 partitions of about 12 hours remain and run 1 at a time (at_once)")
    assert outlook.remedy is not None
    assert outlook.remedy.startswith("raise partitions.at_once from 1 to 2, or ")


def test_too_few_slots_are_the_cause_and_the_remedy_names_how_many_are_enough() -> None:
    one = divided(7, deadline_at=NOW + 100 * MINUTE)
    outlook = outlook_of(one, hourly(schedule=WEEKLY), lane(4), NOW)
    assert outlook.cause == "its partitions need 7 slots at once: the lane has 4 slots"
    assert outlook.remedy is not None
    assert outlook.remedy.startswith(
        "raise the lane from 4 to 7 slots (long.vcpus to 7 and long.tasks to 7), or next time start by Monday "
    )
    assert outlook.remedy.endswith(" (America/New_York)")


def test_waiting_partitions_are_counted_while_others_run() -> None:
    parts = [running_part(n, 10 * MINUTE) for n in range(4)]
    parts += [part(n, Status.WAITING, requested_at=NOW - 10 * MINUTE) for n in range(4, 7)]
    one = divided(7, status=Status.RUNNING, started_at=NOW - 10 * MINUTE, deadline_at=NOW + 85 * MINUTE)
    outlook = outlook_of(one, hourly(), lane(4), NOW, parts=parts)
    assert outlook.state in (DeadlineState.AT_RISK, DeadlineState.WILL_MISS)
    assert outlook.cause == "3 partitions are waiting for slots: the lane has 4 slots"
    assert outlook.remedy is not None
    assert outlook.remedy.startswith("raise the lane from 4 to 7 slots")
    assert "more partitions" not in outlook.remedy


def test_a_future_start_that_is_early_enough_is_a_remedy() -> None:
    one = divided(7, status=Status.SCHEDULED, due=-5 * HOUR, deadline_at=NOW + 5 * HOUR + 100 * MINUTE)
    remedy = outlook_of(one, hourly(), lane(4), NOW).remedy
    assert remedy is not None
    assert ", or start by Monday 1" in remedy


def test_other_executions_with_less_laxity_take_slots_first_and_those_with_more_wait() -> None:
    one, steady = divided(4, deadline_at=NOW + 10 * HOUR), hourly(run_times={"partition": (3600,) * 50})

    def behind(latest: timedelta) -> float:
        waiting = WaitingSlots(NOW + latest, 4 * 3600, 4, 4096)
        held = HeldSlots(NOW + HOUR, 4, 4096)
        return median_hours(one, steady, lane(4, holding=(held,), demand=(waiting,)))

    assert behind(HOUR) == pytest.approx(6, rel=0.1)
    assert behind(20 * HOUR) == pytest.approx(2, rel=0.1)


def test_slots_that_others_hold_are_named_with_the_execution_to_pause() -> None:
    load = lane(4, holding=(HeldSlots(NOW + 9 * HOUR, 3, 3072),), laxest="other")
    outlook = outlook_of(divided(4, deadline_at=NOW + 3 * HOUR), hourly(), load, NOW)
    assert outlook.cause == (
        "its partitions need 4 slots at once: the lane has 4 slots, of which other executions hold 3"
    )
    assert "pause or cancel execution other, which has the most time to spare" in (outlook.remedy or "")


def test_planned_executions_with_less_laxity_take_slots_when_they_are_due() -> None:
    one, steady = divided(4, deadline_at=NOW + 30 * HOUR), hourly(run_times={"partition": (3600,) * 50})

    def behind(latest: timedelta, due: timedelta = HOUR / 2, execution_id: str = "other") -> float:
        planned = PlannedSlots(NOW + due, NOW + latest, 4 * 3600, 2, 2048, execution_id)
        return median_hours(one, steady, lane(2, planned=(planned,)))

    assert behind(HOUR) == pytest.approx(6, rel=0.1)
    assert behind(29 * HOUR) == pytest.approx(2, rel=0.1)
    assert behind(HOUR, due=3 * HOUR) == pytest.approx(2, rel=0.1)
    assert behind(HOUR, execution_id="e") == pytest.approx(2, rel=0.1), "they are its own slots"


def test_planned_executions_are_named_in_the_cause() -> None:
    planned = PlannedSlots(NOW + MINUTE, NOW + MINUTE, 9 * 3600, 3, 3072, "other")
    load = lane(4, planned=(planned, replace(planned, at=NOW + 4 * HOUR)))
    outlook = outlook_of(divided(8, deadline_at=NOW + 150 * MINUTE), hourly(), load, NOW)
    assert outlook.cause == (
        "its partitions need 8 slots at once: the lane has 4 slots, and other executions are due before the deadline"
    )
    assert "raise the lane from 4 to " in (outlook.remedy or "")


def test_the_slots_that_the_execution_holds_itself_do_not_count_as_those_of_others() -> None:
    steady = hourly(run_times={"partition": (3600,) * 50})
    parts = [running_part(n, HOUR / 2) for n in range(4)]
    parts += [part(n, Status.WAITING, requested_at=NOW - HOUR / 2) for n in range(4, 7)]
    one = divided(7, status=Status.RUNNING, started_at=NOW - HOUR / 2)
    own = lane(4, holding=(HeldSlots(NOW + HOUR / 2, 4, 4096),), demand=(WaitingSlots(NOW + 5 * HOUR, 3600, 3, 3072),))
    assert median_hours(one, steady, own, parts) == pytest.approx(1.5, rel=0.05)


def test_large_partitions_need_several_vcpus_each() -> None:
    batch = Batch(resources=Resources(cpu=4096, memory_mb=8192), partitions=Partitions(count=2))
    one = divided(batch=batch, deadline_at=NOW + 90 * MINUTE)
    outlook = outlook_of(one, hourly(), lane(4), NOW)
    assert "raise the lane from 1 to 2 slots (long.vcpus to 8)" in (outlook.remedy or "")


def test_a_lane_without_room_for_a_single_partition_never_runs_it() -> None:
    batch = Batch(resources=Resources(cpu=4096, memory_mb=8192), partitions=Partitions(count=2))
    outlook = outlook_of(divided(batch=batch), hourly(), lane(2), NOW)
    assert (outlook.state, outlook.probability) == (DeadlineState.WILL_MISS, 0)


def test_finished_partitions_show_that_the_rest_takes_longer_than_usual() -> None:
    usual = hourly(run_times={"partition": tuple(3600 + 60 * (n % 7) for n in range(70)), "partitions": (7,) * 10})
    slow = [succeeded_part(n, 2 * HOUR) for n in range(3)] + [part(n, Status.QUEUED) for n in range(3, 7)]
    one = divided(7, 1, status=Status.RUNNING, started_at=NOW - 6 * HOUR, deadline_at=NOW + 5 * HOUR)
    outlook = outlook_of(one, usual, lane(9), NOW, parts=slow)
    assert outlook.median_end - NOW > 7 * HOUR
    assert outlook.state is DeadlineState.WILL_MISS


def test_a_slow_partition_is_the_cause_if_more_slots_would_not_help() -> None:
    usual = hourly(run_times={"partition": tuple(3600 + 60 * (n % 7) for n in range(70)), "partitions": (7,) * 10})
    slow = [succeeded_part(n, HOUR) for n in range(6)] + [running_part(6, 3 * HOUR)]
    one = divided(7, status=Status.RUNNING, started_at=NOW - 3 * HOUR, deadline_at=NOW + MINUTE)
    cause = outlook_of(one, usual, lane(9), NOW, parts=slow).cause
    assert cause is not None
    assert cause.startswith("slower than usual: ")


def test_the_sizes_of_uneven_partitions_are_known_from_earlier_runs() -> None:
    sizes = (600, 1200, 7200)
    uneven_job = hourly(run_times={"partition": sizes * 10, "partitions": (3,) * 10})
    small = [succeeded_part(0, 10 * MINUTE, count=3), succeeded_part(1, 20 * MINUTE, count=3)]
    parts = [*small, part(2, Status.QUEUED, count=3)]
    one = divided(3, 1, status=Status.RUNNING, started_at=NOW - HOUR / 2)
    assert median_hours(one, uneven_job, lane(9), parts) == pytest.approx(2, rel=0.05)


def test_the_collector_runs_after_the_partitions() -> None:
    batch = Batch(partitions=Partitions(count=2), collects=True)
    collects = hourly(run_times={"partition": (3600,) * 50, "collect": (1800,) * 50})
    assert median_hours(divided(batch=batch), collects, lane(9)) == pytest.approx(1.5, rel=0.05)
    ended = [succeeded_part(n, HOUR, count=2) for n in range(2)]
    collector = part(0, Status.RUNNING, name=COLLECT, started_at=NOW - 10 * MINUTE, granted_at=NOW - 10 * MINUTE)
    one = divided(batch=batch, status=Status.RUNNING, started_at=NOW - HOUR)
    assert median_hours(one, collects, lane(9), [*ended, collector]) == pytest.approx(1 / 3, rel=0.1)


def test_a_partition_that_resumes_from_its_checkpoint_needs_only_the_remaining_time() -> None:
    steady = hourly(run_times={"partition": (3600,) * 50})
    stopped = Attempt(number=1, outcome=Outcome.PREEMPTED, started_at=NOW - 45 * MINUTE, ended_at=NOW)
    resumes = part(0, Status.WAITING, count=1, attempts=(stopped,), checkpoint="s3://state", requested_at=NOW)
    one = divided(1, status=Status.WAITING, started_at=NOW - 45 * MINUTE)
    assert median_hours(one, steady, lane(9), [resumes]) == pytest.approx(0.25, rel=0.1)
    assert median_hours(one, steady, lane(9), [replace(resumes, checkpoint=None)]) == pytest.approx(1, rel=0.1)


def test_an_execution_with_a_failed_partition_cannot_meet_its_deadline() -> None:
    error = Failure(type="Broken", message="disk full")
    parts = [part(0, Status.FAILED, count=2, error=error), running_part(1, MINUTE)]
    one = divided(2, status=Status.RUNNING, started_at=NOW - MINUTE)
    outlook = outlook_of(one, hourly(), lane(9), NOW, parts=parts)
    assert (outlook.state, outlook.probability) == (DeadlineState.WILL_MISS, 0)
    assert outlook.cause == "a partition has failed: 0000: Broken: disk full"


def test_partitions_wait_for_the_upstream_of_their_execution() -> None:
    steady = hourly(run_times={"partition": (3600,) * 50})
    upstream = UpstreamEnd("j", "load", NOW + 3 * HOUR, NOW + 3 * HOUR)
    one = divided(2, 1, status=Status.WAITING, deadline_at=NOW + 4 * HOUR)
    outlook = outlook_of(one, steady, lane(9), NOW, upstream)
    assert abs(outlook.median_end - NOW - 5 * HOUR) < 10 * MINUTE
    assert outlook.cause == "not started: waits for upstream load, which needs about 3 hours more"


def test_a_forecast_of_the_same_inputs_is_the_same() -> None:
    first, second = (outlook_of(divided(7, 2), hourly(), lane(4), NOW) for _ in range(2))
    assert first == second
