"""Requests that need a situation of their own, in every second run: preemption, bounded schedules, slow rates,
collectors, long queue jobs, backfills with a key."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from punctual.domain.instant import to_text

if TYPE_CHECKING:
    from tests.simulator.operator import Operator

Choose = Callable[[str, Any], Any]
MIDNIGHT_AT_13 = "Pacific/Guadalcanal"
"""A time zone in which the date changes an hour after the beginning of a run."""
ON_ONE_DATE: tuple[dict[str, Any], ...] = tuple(
    {"cron": "*/5 * * * *", "timezone": MIDNIGHT_AT_13, "skip": [date], "on_skip": on_skip}
    for date in ("2026-11-16", "2026-11-17")
    for on_skip in ("skip", "next_business_day")
)
ONE_PER_MINUTE = {"key": "k", "rate": {"starts": 1, "per_seconds": 60}}
LONG_SCHEDULES = ({"queue": True}, {"every_seconds": 300, "jitter_seconds": 60})
PREEMPTIBLE_SECONDS = 900
NAMES = (None, None, "orders", "invoices")
"""So few that live jobs, renamed ones and ended ones compete for them."""


def vary(job: dict[str, Any], now: datetime, choose: Choose) -> dict[str, Any]:
    """Perhaps change a job that is about to be submitted."""
    job = {**job, "name": choose("name", NAMES)}
    if job.get("lane") == "long" and "partitions" in job and choose("collector", (False, True)):
        job |= {"task": "quality.weekly", "parameters": {"dataset": "orders"}}
    if job.get("lane") == "long" and (schedule := choose("long schedule", (None, None, *LONG_SCHEDULES))):
        job["schedule"] = schedule
    if job.get("lane") != "long" and choose("rate", (False, False, True)):
        job["concurrency"] = ONE_PER_MINUTE
    schedule = job.get("schedule") or {}
    if schedule.get("every_seconds") or schedule.get("cron"):
        starts, ends = (to_text((now + timedelta(seconds=after)).replace(microsecond=0)) for after in (90, 600))
        bounds = ({}, {}, {"starts_at": starts}, {"ends_at": ends}, {"starts_at": starts, "ends_at": ends})
        job["schedule"] = choose("date", (None, None, *ON_ONE_DATE)) or {**schedule, **choose("bounds", bounds)}
    if schedule.get("queue"):
        job.pop("misfire", None)
    return job


def rename(change: dict[str, Any], choose: Choose) -> dict[str, Any]:
    """Perhaps change the name, too, in an edit that is about to be sent."""
    return {**change, "name": choose("name", NAMES)} if choose("rename", (False, False, True)) else change


def preempt(operator: Operator, where: str) -> None:
    """A preemptible job fills the lane for a while. A minute later, a job is submitted that would miss its deadline."""
    runs_long = {
        "task": "echo",
        "lane": "long",
        "parameters": {"seconds": PREEMPTIBLE_SECONDS},
        "preemptible": True,
        "resources": {"vcpu": 4},
        "expected_seconds": 60,
        "deadline": {"within_seconds": 7200},
    }
    is_urgent = {"task": "echo", "lane": "long", "expected_seconds": 60, "deadline": {"within_seconds": 300}}
    delay = operator.choose(f"{where}/urgent", (90, 150, 30))
    operator.submit(runs_long)
    operator.invoker.kernel.after(delay, partial(operator.submit, is_urgent))


def collect(operator: Operator, where: str) -> None:
    """A partitioned job with a collector, now."""
    parts = operator.choose(f"{where}/partitions", ({"count": 2}, {"count": 2, "at_once": 1}))
    operator.submit(
        {"task": "quality.weekly", "lane": "long", "parameters": {"dataset": "orders"}, "partitions": parts}
    )


def backfill_with_key(operator: Operator, where: str) -> None:
    """A backfill that is repeated until it is answered."""
    jobs = list(operator.observer.jobs)
    if jobs:
        job_id = operator.choose(f"{where}/job", jobs)
        operator.keyed("POST", f"/jobs/{job_id}/backfill", operator.backfill_range(where))


RARE_REQUESTS = (None, None, None, None, None, None, preempt, collect, backfill_with_key)
