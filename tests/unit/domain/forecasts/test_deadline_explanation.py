"""The cause and the remedy of a deadline in danger."""

from __future__ import annotations

from dataclasses import replace

import pytest

from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.executions.execution import Execution, Failure, Outcome
from punctual.domain.executions.remedy import CauseCode, RemedyAction
from punctual.domain.forecasts.deadline_forecast import outlook_of
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import LaneOutlook, StartForecast
from punctual.domain.status import Status
from tests.unit.domain.forecasts.deadlines import (
    HOUR,
    IDLE,
    MINUTE,
    NOW,
    attempt,
    backlog,
    execution,
    job,
    regular_job,
    running,
)


def test_a_late_start_is_named_as_the_cause() -> None:
    late = running(30, 2.4 * HOUR, 4 * HOUR, scheduled_at=NOW - 9 * HOUR)
    outlook = outlook_of(late, regular_job(), IDLE, NOW)
    assert outlook.state is DeadlineState.WILL_MISS
    assert outlook.cause is not None
    assert outlook.cause.startswith("started 6.6 hours after its due instant: 30% done after 2.4 hours")


def test_a_backlog_is_the_cause_and_the_remedy_names_the_needed_concurrency() -> None:
    load = replace(IDLE, queues={"normal": backlog(600, 10)})
    minutes = tuple(180 + n % 30 for n in range(50))
    one = execution(deadline_at=NOW + 30 * MINUTE, timeout_seconds=600)
    outlook = outlook_of(one, job(run_times={"execution": minutes}, timeout_seconds=600), load, NOW)
    assert outlook.state is DeadlineState.WILL_MISS
    assert outlook.cause == "not started: waits in queue normal behind 600 messages for about 60 minutes more"
    assert outlook.remedy == "raise concurrency.normal to 23"
    assert outlook.cause_code is CauseCode.QUEUE_WAIT
    assert outlook.remedies == ((RemedyAction.RAISE_SETTING, "concurrency.normal", "to 23"),)


def test_a_container_that_aws_does_not_start_is_the_cause_although_it_fails_no_attempt() -> None:
    shortage = "the account's quota is used up: request more of Fargate On-Demand vCPU resource count (L-3032A538)"
    one = execution(
        deadline_at=NOW + MINUTE,
        lane=Lane.LONG,
        status=Status.RETRYING,
        reason=shortage,
        attempts=(attempt(Outcome.FAILED, 1), attempt(Outcome.NOT_STARTED, 0)),
    )
    outlook = outlook_of(one, regular_job(), IDLE, NOW)
    assert outlook.cause == f"not started: {shortage}"
    assert outlook.cause_code is CauseCode.CONTAINER_STARTING


def test_waiting_for_a_slot_names_the_limits_to_raise_and_the_execution_to_pause() -> None:
    lane = LaneOutlook(
        at=NOW,
        first_free=NOW + HOUR,
        taken_cpu=4096,
        taken_tasks=4,
        waiting=2,
        waiting_cpu=3072,
        starts=(StartForecast(NOW, NOW + 2 * HOUR),),
        laxest="other",
    )
    outlook = outlook_of(
        execution(Status.WAITING, lane=Lane.LONG, batch=Batch()), regular_job(), replace(IDLE, lane=lane), NOW
    )
    assert outlook.state is not DeadlineState.ON_TRACK
    assert outlook.cause == (
        "not started: waits for a slot of the long lane for about 2 hours more; tasks running: 4, waiting: 2"
    )
    assert outlook.remedy == (
        "raise long.vcpus to 7 and long.tasks to 6, "
        "or pause or cancel execution other, which has the most time to spare"
    )
    assert outlook.cause_code is CauseCode.SLOT_WAIT
    assert [one[:2] for one in outlook.remedies] == [
        (RemedyAction.RAISE_SETTING, "long.vcpus"),
        (RemedyAction.RAISE_SETTING, "long.tasks"),
        (RemedyAction.CANCEL_EXECUTION, "other"),
    ]


@pytest.mark.parametrize(
    ("one", "its_job", "code", "cause", "remedy"),
    [
        (
            execution(
                Status.RETRYING,
                attempt=1,
                attempts=(attempt(Outcome.FAILED),),
                error=Failure(type="Broken", message="disk full"),
                retry_at=NOW,
            ),
            regular_job(),
            CauseCode.RETRYING,
            "retrying: attempt 2 of 3: Broken: disk full",
            "fix the error",
        ),
        (
            execution(Status.STARTING, lane=Lane.LONG),
            regular_job(),
            CauseCode.CONTAINER_STARTING,
            "its container is still starting",
            "ECS",
        ),
        (
            execution(due=2 * MINUTE),
            regular_job(),
            CauseCode.NOT_CLAIMED,
            "starved: due 2 minutes ago, but no worker has claimed it",
            "check the alarms",
        ),
        (
            execution(),
            job(),
            CauseCode.RUN_TIME_UNKNOWN,
            "run time unknown: fewer than 5 recorded runs",
            "set expected_seconds",
        ),
        (
            execution(),
            job(expected_seconds=28_800),
            CauseCode.TOO_LITTLE_TIME,
            "it is expected to take 8 hours, and its deadline leaves less time than that",
            "schedule it earlier",
        ),
        (
            execution(),
            regular_job(),
            CauseCode.TOO_LITTLE_TIME,
            "it usually takes 8 hours, and its deadline leaves less time than that",
            "reduce its work",
        ),
        (
            execution(lane=Lane.LONG),
            regular_job(),
            CauseCode.TOO_LITTLE_TIME,
            "it usually takes 8 hours",
            "more partitions",
        ),
    ],
)
def test_each_danger_has_its_cause_and_remedy(
    one: Execution, its_job: Job, code: CauseCode, cause: str, remedy: str
) -> None:
    outlook = outlook_of(replace(one, deadline_at=NOW + 5 * HOUR), its_job, IDLE, NOW)
    assert outlook.state in (DeadlineState.AT_RISK, DeadlineState.WILL_MISS)
    assert cause in (outlook.cause or "")
    assert remedy in (outlook.remedy or "")
    assert outlook.cause_code is code
    assert outlook.remedies
    assert all(one.target and one.effect for one in outlook.remedies)
