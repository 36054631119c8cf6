"""The backlog of a queue job: rates, and the comparison with its limits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.jobs.backlog_rule import BacklogRule
from punctual.domain.jobs.job_backlog import BacklogReading, EndCount, JobBacklog, measured
from tests.unit.aws.jobs import JOB

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LIMITED = replace(JOB, backlog=BacklogRule(messages=100, minutes=10))


def reading(depth: int = 0, waited: timedelta = MINUTE, *, arrived: int = 0, ended_since: int = 0) -> BacklogReading:
    oldest_at = NOW - waited if depth else None
    return BacklogReading(depth=depth, oldest_at=oldest_at, arrived=arrived, ended=EndCount(), ended_since=ended_since)


def previous(ago: timedelta = MINUTE, **fields: Any) -> JobBacklog:
    return replace(measured(LIMITED, reading(), None, NOW - ago), **fields)


@pytest.mark.parametrize(
    ("depth", "waited", "was_exceeded", "is_exceeded"),
    [
        (100, 10 * MINUTE, False, False),
        (101, MINUTE, False, True),
        (1, 10.1 * MINUTE, False, True),
        (81, MINUTE, True, True),
        (80, 8 * MINUTE, True, False),
        (1, 8.1 * MINUTE, True, True),
        (0, MINUTE, True, False),
    ],
)
def test_a_job_recovers_at_a_lower_backlog_than_it_exceeds(
    depth: int, waited: timedelta, was_exceeded: bool, is_exceeded: bool
) -> None:
    earlier = previous(is_exceeded=was_exceeded, changed_at=NOW - MINUTE)
    found = measured(LIMITED, reading(depth, waited), earlier, NOW)
    has_changed = was_exceeded != is_exceeded
    assert (found.is_exceeded, found.is_unsent) == (is_exceeded, has_changed)
    assert found.changed_at == (NOW if has_changed else NOW - MINUTE)


def test_a_job_without_limits_exceeds_none() -> None:
    found = measured(JOB, reading(10_001), previous(is_exceeded=True), NOW)
    assert (found.is_exceeded, found.is_unsent, found.exceeded_since) == (False, False, None)


def test_rates_are_those_since_the_totals_were_read() -> None:
    found = measured(LIMITED, reading(arrived=25, ended_since=3), previous(2 * MINUTE, arrived=5), NOW)
    assert (found.arrival_per_minute, found.finished_per_minute) == (10, 1.5)


@pytest.mark.parametrize("ago", [timedelta(seconds=29), -MINUTE])
def test_a_repeated_measurement_keeps_the_rates(ago: timedelta) -> None:
    earlier = previous(ago, arrived=5, arrival_per_minute=7.0, finished_per_minute=6.0)
    found = measured(LIMITED, reading(arrived=25, ended_since=3), earlier, NOW)
    assert (found.arrival_per_minute, found.finished_per_minute) == (7, 6)
    assert (found.arrived, found.rated_at) == (5, NOW - ago)


def test_a_total_that_has_expired_counts_from_zero() -> None:
    found = measured(LIMITED, reading(arrived=4), previous(arrived=500), NOW)
    assert found.arrival_per_minute == 4
